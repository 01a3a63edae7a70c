#include "oracle/cutting.h"

#include <cstddef>
#include <stdexcept>

namespace reshard::oracle {
namespace {

using Hands = std::vector<Line>;

void require(bool met, const char* what) {
  if (!met) throw std::logic_error(what);
}

// Takes elements off the front of a line; padding follows its end.
class Dealer {
 public:
  explicit Dealer(const Line& line) : line_(line) {}
  bool done() const { return next_ >= line_.size(); }
  void give(Index count, Line& hand) {
    for (Index k = 0; k < count; ++k) hand.push_back(done() ? hole : line_[next_++]);
  }
  Index left() const { return static_cast<Index>(line_.size() - next_); }

 private:
  const Line& line_;
  std::size_t next_ = 0;
};

// How many units each coordinate takes when one at a time goes round, from `first` on in steps of `step`.
std::vector<Index> counts_by_rounds(Index units, Index parts, bool from_the_last) {
  std::vector<Index> counts(static_cast<std::size_t>(parts), 0);
  for (Index u = 0; u < units; ++u) {
    const Index turn = u % parts;
    ++counts[static_cast<std::size_t>(from_the_last ? parts - 1 - turn : turn)];
  }
  return counts;
}

std::vector<Index> counts_by_ceiling(Index units, Index parts) {
  Index each = 0;
  while (each * parts < units) ++each;
  std::vector<Index> counts;
  Index left = units;
  for (Index i = 0; i < parts; ++i) {
    counts.push_back(left < each ? left : each);
    left -= counts.back();
  }
  return counts;
}

std::vector<Index> counts_by_floor(Index units, Index parts) {
  std::vector<Index> counts(static_cast<std::size_t>(parts), 0);
  for (Index i = 0; i < parts; ++i)
    for (Index u = 0; u < units; ++u)
      if (units * i / parts <= u && u < units * (i + 1) / parts) ++counts[static_cast<std::size_t>(i)];
  return counts;
}

Hands deal_counts(const Line& line, const std::vector<Index>& counts, Index unit) {
  Dealer dealer(line);
  Hands hands(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    require(counts[i] * unit <= dealer.left(), "more was listed than there is");
    dealer.give(counts[i] * unit, hands[i]);
  }
  require(dealer.done(), "something was left over");
  return hands;
}

Hands deal_cyclic(const Line& line, Index parts, Index block) {
  Dealer dealer(line);
  Hands hands(static_cast<std::size_t>(parts));
  for (Index turn = 0; !dealer.done(); ++turn) {
    const Index count = dealer.left() < block ? dealer.left() : block;
    dealer.give(count, hands[static_cast<std::size_t>(turn % parts)]);
  }
  return hands;
}

Hands deal_window(const Line& line, Index parts, Index pad) {
  const Index stored = static_cast<Index>(line.size()) + pad;
  require(stored % parts == 0, "the padded axis must divide");
  Dealer dealer(line);
  Hands hands(static_cast<std::size_t>(parts));
  for (Line& hand : hands) dealer.give(stored / parts, hand);
  return hands;
}

Hands deal_piece(const Line& piece, const Cut& cut, Index parts, Index unit) {
  const Index n = static_cast<Index>(piece.size());
  require(n % unit == 0, "the unit must divide");
  const Index units = n / unit;
  switch (cut.rule) {
    case Rule::chunk: return deal_counts(piece, counts_by_ceiling(units, parts), unit);
    case Rule::balanced: return deal_counts(piece, counts_by_rounds(units, parts, false), unit);
    case Rule::balanced_last: return deal_counts(piece, counts_by_rounds(units, parts, true), unit);
    case Rule::floor: return deal_counts(piece, counts_by_floor(units, parts), unit);
    case Rule::even:
      require(units % parts == 0, "must divide");
      return deal_counts(piece, counts_by_rounds(units, parts, false), unit);
    case Rule::sizes: return deal_counts(piece, cut.sizes, 1);
    case Rule::cyclic: return deal_cyclic(piece, parts, cut.block * unit);
    case Rule::window: return deal_window(piece, parts, cut.block);
  }
  throw std::logic_error("unknown rule");
}

struct Piece {
  Line line;
  Index unit = 1;
};

std::vector<Piece> pieces_of(const Line& line, const Cut& cut, Index parts) {
  const Index n = static_cast<Index>(line.size());
  std::vector<Index> sizes;
  switch (cut.pieces) {
    case Pieces::whole: sizes = {n}; break;
    case Pieces::strided:
      require(n % cut.piece_count == 0, "equal pieces");
      sizes.assign(static_cast<std::size_t>(cut.piece_count), n / cut.piece_count);
      break;
    case Pieces::packed:
      for (const Index each : cut.piece_sizes) sizes.push_back(each * parts);
      break;
    case Pieces::parts: sizes = cut.piece_sizes; break;
    case Pieces::strided_shard:
      require(n % cut.unit == 0, "the unit must divide");
      for (const Index units : counts_by_ceiling(n / cut.unit, cut.piece_count)) sizes.push_back(units * cut.unit);
      break;
  }
  const Hands lines = deal_counts(line, sizes, 1);
  std::vector<Piece> pieces;
  for (std::size_t j = 0; j < lines.size(); ++j)
    pieces.push_back({lines[j], cut.piece_units.empty() ? cut.unit : cut.piece_units[j]});
  return pieces;
}

}  // namespace

Line whole_line(Index n) {
  Line line;
  for (Index k = 0; k < n; ++k) line.push_back(k);
  return line;
}

std::vector<Line> deal(const Line& line, const Cut& cut, Index parts) {
  Hands hands(static_cast<std::size_t>(parts));
  for (const Piece& piece : pieces_of(line, cut, parts)) {
    const Hands share = deal_piece(piece.line, cut, parts, piece.unit);
    for (std::size_t i = 0; i < hands.size(); ++i) hands[i].insert(hands[i].end(), share[i].begin(), share[i].end());
  }
  return hands;
}

}  // namespace reshard::oracle
