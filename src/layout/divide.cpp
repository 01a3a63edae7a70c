#include "layout/divide.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

__extension__ using Wide = __int128;

// floor(a * b / c) without overflow for 0 <= a, b and c > 0, when the result fits.
Index mul_div(Index a, Index b, Index c) { return static_cast<Index>(static_cast<Wide>(a) * b / c); }

}  // namespace

Division::Division(const Cut& cut, Index n, Index p)
    : cut_(&cut),
      rule_(cut.rule),
      n_(n),
      p_(p),
      block_(cut.rule == Rule::cyclic ? std::min(cut.block, std::max<Index>(n, 1)) : cut.block) {
  switch (cut.pieces) {
    case Pieces::whole: piece_length_ = n; break;
    case Pieces::strided:
      pieces_ = n == 0 ? 1 : cut.piece_count;
      piece_length_ = n / pieces_;
      break;
    case Pieces::strided_shard:
      piece_length_ = ceil_div(n / cut.unit, cut.piece_count) * cut.unit;
      pieces_ = n == 0 ? 1 : ceil_div(n, piece_length_);
      break;
    case Pieces::packed:
    case Pieces::parts: {
      Index end = 0;
      for (const Index size : cut.piece_sizes)
        piece_ends_.push_back(end += cut.pieces == Pieces::packed ? size * p : size);
      pieces_ = static_cast<Index>(piece_ends_.size());
      break;
    }
  }
  if (rule_ == Rule::sizes) {
    Index end = 0;
    for (const Index size : cut.sizes) size_ends_.push_back(end += size);
  }
}

Division::Piece Division::piece(Index k) const {
  if (piece_ends_.empty()) {
    const Index begin = k * piece_length_;
    return {begin, std::min(piece_length_, n_ - begin), cut_->unit};
  }
  const std::size_t at = static_cast<std::size_t>(k);
  const Index begin = k == 0 ? 0 : piece_ends_[at - 1];
  return {begin, piece_ends_[at] - begin, cut_->piece_units.empty() ? cut_->unit : cut_->piece_units[at]};
}

Index Division::piece_of(Index position) const {
  if (piece_ends_.empty()) return position / piece_length_;
  return std::ranges::upper_bound(piece_ends_, position) - piece_ends_.begin();
}

Index Division::begin_unit(Index m, Index i) const {
  switch (rule_) {
    case Rule::even:
    case Rule::chunk: {
      const Index c = ceil_div(m, p_);
      return c == 0 ? 0 : i >= ceil_div(m, c) ? m : i * c;
    }
    case Rule::balanced: return i * (m / p_) + std::min(i, m % p_);
    case Rule::balanced_last: return i * (m / p_) + std::max<Index>(0, i - (p_ - m % p_));
    case Rule::floor: return mul_div(m, i, p_);
    case Rule::sizes: return i == 0 ? 0 : size_ends_[static_cast<std::size_t>(i - 1)];
    case Rule::window: {
      const Index stored = (m + block_) / p_;
      return stored == 0 ? 0 : i >= ceil_div(m, stored) ? m : i * stored;
    }
    case Rule::cyclic: break;
  }
  fail(Code::internal, "a cyclic cut has no contiguous parts");
}

Index Division::owner_of_unit(Index m, Index x) const {
  switch (rule_) {
    case Rule::even:
    case Rule::chunk: return x / ceil_div(m, p_);
    case Rule::balanced: {
      const Index q = m / p_, longer = m % p_;
      return x < longer * (q + 1) ? x / (q + 1) : longer + (x - longer * (q + 1)) / q;
    }
    case Rule::balanced_last: {
      const Index q = m / p_, shorter = p_ - m % p_;
      return x < shorter * q ? x / q : shorter + (x - shorter * q) / (q + 1);
    }
    case Rule::floor: {
      // The last i with floor(m i / p) <= x, that is m i < (x + 1) p.
      const auto bound = static_cast<Wide>(x + 1) * p_ - 1;
      return static_cast<Index>(bound / m);
    }
    case Rule::sizes: return std::ranges::upper_bound(size_ends_, x) - size_ends_.begin();
    case Rule::window: return x / ((m + block_) / p_);
    case Rule::cyclic: return x / block_ % p_;
  }
  fail(Code::internal, "unknown rule");
}

Index Division::held_units(Index m, Index i) const {
  if (rule_ != Rule::cyclic) return begin_unit(m, i + 1) - begin_unit(m, i);
  const Index b = block_;
  const Index full = m / b;  // whole blocks; one shorter block may follow
  Index units = (full / p_ + (i < full % p_ ? 1 : 0)) * b;
  if (i == full % p_) units += m % b;
  return units;
}

Index Division::held_in(const Piece& in, Index i) const { return held_units(in.length / in.unit, i) * in.unit; }

Index Division::held_before(Index k, Index i) const {
  if (k == 0) return 0;
  if (piece_ends_.empty()) return k * held_in(piece(0), i);
  Index held = 0;
  for (Index j = 0; j < k; ++j) held += held_in(piece(j), i);
  return held;
}

Index Division::held(Index i) const { return held_before(pieces_ - 1, i) + held_in(piece(pieces_ - 1), i); }

Index Division::stored(Index i) const { return rule_ == Rule::window ? (n_ + block_) / p_ : held(i); }

Index Division::runs(Index i) const {
  if (p_ == 1) return 1;
  Index runs = pieces_;
  if (rule_ == Rule::cyclic && __builtin_mul_overflow(runs, held(i) / (cut_->unit * block_) / pieces_ + 1, &runs))
    return n_;
  return runs;
}

void Division::select(Index i, std::vector<Interval>& out) const {
  out.clear();
  if (p_ == 1) {
    if (n_ > 0) out.push_back({0, n_});
    return;
  }
  const auto add = [&](Index begin, Index length) {
    if (length == 0) return;
    if (!out.empty() && out.back().begin + out.back().length == begin) {
      out.back().length += length;
    } else {
      out.push_back({begin, length});
    }
  };
  for (Index k = 0; k < pieces_; ++k) {
    const Piece in = piece(k);
    const Index units = in.length / in.unit;
    if (rule_ == Rule::cyclic) {
      const Index blocks = ceil_div(units, block_);
      for (Index block = i; block < blocks; block += p_) {
        const Index begin = block * block_;
        add(in.begin + begin * in.unit, std::min(block_, units - begin) * in.unit);
      }
    } else {
      const Index begin = begin_unit(units, i);
      add(in.begin + begin * in.unit, (begin_unit(units, i + 1) - begin) * in.unit);
    }
  }
}

std::vector<Index> Division::representatives() const {
  constexpr Index kFew = 4096;
  std::vector<Index> at;
  if (p_ <= kFew || (rule_ == Rule::floor && piece_ends_.size() > 1)) {
    for (Index i = 0; i < p_; ++i) at.push_back(i);
    return at;
  }
  const auto around = [&](Index i) {
    for (Index j = i - 1; j <= i + 1; ++j) at.push_back(std::clamp<Index>(j, 0, p_ - 1));
  };
  around(0);
  around(p_ - 1);
  // Equal pieces behave equally: the first and the last stand for all.
  for (Index k = 0; k < pieces_; k = piece_ends_.empty() && k == 0 && pieces_ > 2 ? pieces_ - 1 : k + 1) {
    const Piece in = piece(k);
    const Index m = in.length / in.unit;
    switch (rule_) {
      case Rule::chunk:
      case Rule::even: around(m == 0 ? 0 : m / ceil_div(m, p_)); break;
      case Rule::balanced: around(m % p_); break;
      case Rule::balanced_last: around(p_ - m % p_); break;
      case Rule::floor: around(m % p_ == 0 ? 0 : ceil_div(p_, m % p_) - 1); break;
      case Rule::cyclic: around(m / block_ % p_); break;
      case Rule::window: break;
      case Rule::sizes:
        for (Index i = 0; i < p_; ++i) at.push_back(i);
        break;
    }
  }
  std::ranges::sort(at);
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

namespace {

constexpr Index kMostScattered = Index{1} << 20;

Index total_of(const std::vector<Index>& sizes, const std::string& where, std::string_view what) {
  Index total = 0;
  for (const Index size : sizes) {
    if (size < 0) fail(Code::invalid_argument, "{}: {} has the negative size {}", where, what, size);
    total = checked_add(total, size, where);
  }
  return total;
}

void check_pieces(const Cut& cut, Index n, Index p, const std::string& where) {
  switch (cut.pieces) {
    case Pieces::whole: return;
    case Pieces::strided:
      if (n % cut.piece_count != 0)
        fail(Code::invalid_argument,
             "{}: {} elements are not {} equal pieces; give the pieces as parts[..], or the right number", where, n,
             cut.piece_count);
      return;
    case Pieces::strided_shard: return;
    case Pieces::packed: {
      const Index per_rank = total_of(cut.piece_sizes, where, "packed");
      if (checked_mul(per_rank, p, where) != n)
        fail(Code::invalid_argument,
             "{}: packed sizes add up to {} per rank, {} over {} ranks, but there are {} elements", where, per_rank,
             per_rank * p, p, n);
      return;
    }
    case Pieces::parts: {
      const Index total = total_of(cut.piece_sizes, where, "parts");
      if (total != n)
        fail(Code::invalid_argument, "{}: parts add up to {}, but there are {} elements", where, total, n);
      return;
    }
  }
}

void check_rule(const Cut& cut, Index length, Index unit, Index p, const std::string& where) {
  if (length % unit != 0)
    fail(Code::invalid_argument, "{}: {} elements are no multiple of the unit {}; use a unit that divides, or none",
         where, length, unit);
  const Index units = length / unit;
  switch (cut.rule) {
    case Rule::even:
      if (units % p != 0)
        fail(Code::invalid_argument,
             "{}: {} {} cannot be cut evenly in {} (remainder {}); pad the dimension, or use balanced or chunk", where,
             units, unit == 1 ? "elements" : "units", p, units % p);
      return;
    case Rule::sizes: {
      if (static_cast<Index>(cut.sizes.size()) != p)
        fail(Code::invalid_argument, "{}: {} sizes for {} coordinates", where, cut.sizes.size(), p);
      const Index total = total_of(cut.sizes, where, "sizes");
      if (total != units)
        fail(Code::invalid_argument, "{}: sizes add up to {}, but there are {} elements", where, total, units);
      return;
    }
    case Rule::window:
      if (checked_add(units, cut.block, where) % p != 0)
        fail(Code::invalid_argument, "{}: {} elements and {} of padding are no multiple of {}", where, units, cut.block,
             p);
      return;
    default: return;
  }
}

}  // namespace

void check_division(const Cut& cut, Index n, Index p, const std::string& where) {
  if (cut.unit < 1) fail(Code::invalid_argument, "{}: unit {} must be at least 1", where, cut.unit);
  if ((cut.pieces == Pieces::strided || cut.pieces == Pieces::strided_shard) && cut.piece_count < 1)
    fail(Code::invalid_argument, "{}: {} pieces; there must be at least 1", where, cut.piece_count);
  if (cut.rule == Rule::cyclic && cut.block < 1)
    fail(Code::invalid_argument, "{}: cyclic block {} must be at least 1", where, cut.block);
  if (cut.rule == Rule::window && cut.block < 0)
    fail(Code::invalid_argument, "{}: window padding {} must not be negative", where, cut.block);
  if (cut.pieces == Pieces::packed && cut.rule != Rule::even)
    fail(Code::invalid_argument, "{}: packed pieces are divided evenly; give another rule to parts[..]", where);
  if (cut.pieces == Pieces::strided_shard && cut.rule != Rule::chunk)
    fail(Code::invalid_argument, "{}: the pieces of a strided shard are divided by chunk only", where);
  const bool listed = cut.pieces == Pieces::packed || cut.pieces == Pieces::parts;
  if (listed && cut.piece_sizes.empty()) fail(Code::invalid_argument, "{}: no piece sizes given", where);
  if ((cut.rule == Rule::window || cut.rule == Rule::sizes) && (cut.pieces != Pieces::whole || cut.unit != 1))
    fail(Code::invalid_argument, "{}: a window or a list of sizes takes neither pieces nor a unit", where);
  if (!cut.piece_units.empty() && (cut.pieces != Pieces::parts || cut.piece_units.size() != cut.piece_sizes.size()))
    fail(Code::invalid_argument, "{}: {} units for {} parts", where, cut.piece_units.size(), cut.piece_sizes.size());
  // Listed pieces give their longer shares to different coordinates then, and each has to be asked.
  if (listed && cut.rule == Rule::floor && p > kMostScattered)
    fail(Code::invalid_argument, "{}: parts divided by floor among {} coordinates, more than {}; use balanced", where,
         p, kMostScattered);
  check_pieces(cut, n, p, where);
  if (listed) {
    for (std::size_t k = 0; k < cut.piece_sizes.size(); ++k) {
      const Index unit = cut.piece_units.empty() ? cut.unit : cut.piece_units[k];
      if (unit < 1) fail(Code::invalid_argument, "{}: unit {} must be at least 1", where, unit);
      const Index length = cut.pieces == Pieces::packed ? cut.piece_sizes[k] * p : cut.piece_sizes[k];
      check_rule(cut, length, unit, p, where);
    }
    return;
  }
  check_rule(cut, cut.pieces == Pieces::strided ? n / cut.piece_count : n, cut.unit, p, where);
}

}  // namespace reshard
