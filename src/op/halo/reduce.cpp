// The adjoint: what an exchange brings to a ghost is brought back to where it came from, and added.
//
// Owners fetch the ghosts of others to their scratch, and fold each cell once, in the order that halo.h states. Cells
// with the same terms form boxes: the links into ghosts cut the own cells at where they begin and end, and every box
// between such cuts is one reduction. Terms are always fetched: several may be of one cell, so the owner must add them.
#include <algorithm>
#include <map>
#include <set>

#include "op/halo/edge.h"
#include "op/halo/operations.h"

namespace reshard::halo {
namespace {

bool changes_sign(const Domain& domain, const Link& link) { return link.crosses && pole_of(domain.halo)->edge.flips; }

// Whether its values go through scratch.
bool is_staged(const Domain& domain, const Link& link) {
  return link.holder != link.owner || changes_sign(domain, link);
}

// Before the terms in scratch.
Index head_bytes(const Domain& domain) {
  const HaloDim* pole = pole_of(domain.halo);
  return pole != nullptr && pole->edge.flips ? Minus::kBytes : 0;
}

// A ghost of every cell of a box of own cells.
struct Term {
  const Link* link = nullptr;
  std::vector<Run> dims;  // of the link, or one ghost of many that come from one cell: of step 1 or -1
  Place place;            // of its first cell
};

// Row-major position of the ghost of one own cell.
std::vector<Index> ghost_of(const Term& term, const std::vector<Index>& cell, const Piece& piece) {
  std::vector<Index> ghost;
  for (std::size_t dim = 0; dim < cell.size(); ++dim) {
    const Run& run = term.dims[dim];
    ghost.push_back(run.holder + (piece.before[dim] + cell[dim] - run.owner) * run.step);
  }
  return ghost;
}

class Reduce {
 public:
  // `in`: into this piece from others; `out`: from this piece, to itself too.
  Reduce(const Job& job, std::size_t piece, std::vector<Link> in, std::vector<Link> out)
      : job_(job), piece_(piece), in_(std::move(in)), out_(std::move(out)) {}

  std::vector<Operation> operations() {
    std::set<std::size_t> owners;
    for (const Link& link : in_) owners.insert(link.owner);
    for (const std::size_t owner : owners) add(tell(rank_of(owner), kReady, self(), 1, 1));
    if (!piece().is_empty()) {
      place_terms();
      add_sums();
    }
    for (const std::size_t owner : owners) add(await(kDone, rank_of(owner), 1, 1));
    return std::move(operations_);
  }

 private:
  const Domain& domain() const { return job_.domain; }
  const Piece& piece() const { return domain().pieces[piece_]; }
  RankId rank_of(std::size_t piece) const { return domain().pieces[piece].rank; }
  RankId self() const { return piece().rank; }
  Index bytes() const { return bytes_of(domain().dtype); }
  std::size_t dims() const { return domain().dims(); }
  void add(Operation operation) { operations_.push_back(std::move(operation)); }

  // Fetches what others hold, by holder; what is added up where it is stays there.
  void place_terms() {
    std::map<std::size_t, std::vector<const Link*>> by_holder;
    for (const Link& link : out_) by_holder[link.holder].push_back(&link);
    std::vector<std::pair<std::size_t, std::vector<const Link*>>> holders(by_holder.begin(), by_holder.end());
    std::rotate(holders.begin(), std::ranges::find_if(holders, [&](auto& entry) { return entry.first > piece_; }),
                holders.end());
    Index staged = head_bytes(domain()) / bytes();
    Operation change{.code = OpCode::reduce,
                     .peer = self(),
                     .source_window = job_.scratch(),
                     .target_window = job_.scratch(),
                     .reduce_op = ReduceOp::product,
                     .dtype = Minus(domain().dtype).real};
    for (const auto& [holder, links] : holders) {
      Operation fetch{.code = holder == piece_ ? OpCode::copy : OpCode::get,
                      .peer = rank_of(holder),
                      .source_window = 0,
                      .target_window = job_.scratch(),
                      .blocks = {}};
      for (const Link* link : links) {
        if (!is_staged(domain(), *link)) {
          add_terms(*link, {0, 0, {}});
          continue;
        }
        const Place place{job_.scratch(), staged, packed_strides(*link)};
        add_fetch(*link, place, fetch.blocks);
        if (changes_sign(domain(), *link))
          change.reductions.push_back(
              Minus(domain().dtype).change({link->elements()}, {place.window, staged, {1}}, job_.scratch()));
        staged += link->elements();
        add_terms(*link, place);
      }
      if (holder != piece_) add(await(kReady, rank_of(holder), 1, 1));
      if (!fetch.blocks.empty()) add(std::move(fetch));
      if (holder != piece_) add(tell(rank_of(holder), kDone, self(), 1, 1));
    }
    if (change.reductions.empty()) return;
    add(Minus(domain().dtype).write(job_.scratch()));
    add(std::move(change));
  }

  static std::vector<Index> packed_strides(const Link& link) {
    std::vector<Index> strides(link.dims.size());
    Index stride = 1;
    for (std::size_t dim = strides.size(); dim-- > 0;) {
      strides[dim] = stride;
      stride *= link.dims[dim].length;
    }
    return strides;
  }

  void add_fetch(const Link& link, const Place& place, std::vector<Block>& blocks) const {
    Link packed = link;
    LocalStorage storage{.extents = {}, .strides = place.strides, .offset = place.offset, .elements = 0};
    for (Run& run : packed.dims) {
      run = {.holder = 0, .owner = run.holder, .length = run.length};
      storage.extents.push_back(run.length);
    }
    add_blocks(packed, bytes(), domain().pieces[link.holder].widened, storage, blocks);
  }

  // Where many ghosts come from one cell, each is a term of its own. `place` has no strides for what stays where it is.
  void add_terms(const Link& link, const Place& place) {
    std::vector<Index> at(dims(), 0);
    do {
      Term term{.link = &link, .dims = link.dims, .place = place};
      const LocalStorage& widened = domain().pieces[link.holder].widened;
      if (place.strides.empty()) term.place = {0, widened.offset, widened.strides};
      for (std::size_t dim = 0; dim < dims(); ++dim) {
        Run& run = term.dims[dim];
        term.place.offset += (at[dim] + (place.strides.empty() ? run.holder : 0)) * term.place.strides[dim];
        if (run.step != 0) continue;
        run = {.holder = run.holder + at[dim], .owner = run.owner, .length = 1};
      }
      terms_.push_back(std::move(term));
    } while (to_next_ghost(at, link));
  }

  static bool to_next_ghost(std::vector<Index>& at, const Link& link) {
    for (std::size_t dim = at.size(); dim-- > 0;) {
      if (link.dims[dim].step == 0 && ++at[dim] < link.dims[dim].length) return true;
      at[dim] = 0;
    }
    return false;
  }

  // Own cells [begin, end) of a dimension that are the origins of a term.
  struct Range {
    Index begin = 0;
    Index end = 0;
  };
  Range range_of(const Term& term, std::size_t dim) const {
    const Run& run = term.dims[dim];
    const Index first = run.owner - piece().before[dim];
    if (run.step == 1) return {first, first + run.length};
    return {first - run.length + 1, first + 1};
  }

  void add_sums() {
    std::vector<std::vector<Index>> cuts(dims());
    for (std::size_t dim = 0; dim < dims(); ++dim) {
      std::set<Index> at{0, piece().length[dim]};
      for (const Term& term : terms_) {
        at.insert(range_of(term, dim).begin);
        at.insert(range_of(term, dim).end);
      }
      cuts[dim].assign(at.begin(), at.end());
    }
    Operation copy{
        .code = OpCode::copy, .peer = self(), .source_window = 0, .target_window = job_.target(), .blocks = {}};
    Operation sum{.code = OpCode::reduce,
                  .peer = self(),
                  .source_window = 0,
                  .target_window = job_.target(),
                  .reduce_op = ReduceOp::sum,
                  .dtype = domain().dtype};
    std::vector<std::size_t> at(dims(), 0);
    do add_box(cuts, at, copy, sum);
    while (to_next_box(at, cuts));
    if (!copy.blocks.empty()) add(std::move(copy));
    if (!sum.reductions.empty()) add(std::move(sum));
  }

  static bool to_next_box(std::vector<std::size_t>& at, const std::vector<std::vector<Index>>& cuts) {
    for (std::size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] + 1 < cuts[dim].size()) return true;
      at[dim] = 0;
    }
    return false;
  }

  // The own cells between two cuts of each dimension.
  void add_box(const std::vector<std::vector<Index>>& cuts, const std::vector<std::size_t>& at, Operation& copy,
               Operation& sum) const {
    std::vector<Index> first(dims()), counts(dims());
    for (std::size_t dim = 0; dim < dims(); ++dim) {
      first[dim] = cuts[dim][at[dim]];
      counts[dim] = cuts[dim][at[dim] + 1] - first[dim];
    }
    const std::vector<const Term*> terms = terms_of(first);
    if (!terms.empty()) {
      sum.reductions.push_back(sum_of(first, counts, terms));
    } else if (job_.form == HaloForm::apart) {
      Link own;
      for (std::size_t dim = 0; dim < dims(); ++dim)
        own.dims.push_back({.holder = first[dim], .owner = piece().before[dim] + first[dim], .length = counts[dim]});
      add_blocks(own, bytes(), piece().widened, piece().own, copy.blocks);
    }
  }

  // Those that an own cell is the origin of, in the order in which they are added.
  std::vector<const Term*> terms_of(const std::vector<Index>& cell) const {
    std::vector<const Term*> terms;
    for (const Term& term : terms_) {
      bool is_of_cell = true;
      for (std::size_t dim = 0; dim < dims() && is_of_cell; ++dim) {
        const Range range = range_of(term, dim);
        is_of_cell = range.begin <= cell[dim] && cell[dim] < range.end;
      }
      if (is_of_cell) terms.push_back(&term);
    }
    std::ranges::sort(terms, {},
                      [&](const Term* term) { return std::pair(term->link->holder, ghost_of(*term, cell, piece())); });
    return terms;
  }

  Reduction sum_of(const std::vector<Index>& first, const std::vector<Index>& counts,
                   const std::vector<const Term*>& terms) const {
    Reduction sum{.counts = counts, .result = {}, .terms = {own_operand(0, piece().widened, first, true)}};
    sum.result =
        job_.form == HaloForm::in_place ? sum.terms.front() : own_operand(job_.target(), piece().own, first, false);
    for (const Term* term : terms) {
      Operand operand{.window = term->place.window, .offset = term->place.offset, .strides = {}};
      for (std::size_t dim = 0; dim < dims(); ++dim) {
        const Run& run = term->dims[dim];
        const Index skipped = (piece().before[dim] + first[dim] - run.owner) * run.step;
        operand.offset += skipped * term->place.strides[dim];
        operand.strides.push_back(run.step * term->place.strides[dim] * bytes());
      }
      operand.offset *= bytes();
      sum.terms.push_back(std::move(operand));
    }
    return sum;
  }

  Operand own_operand(int window, const LocalStorage& storage, const std::vector<Index>& first, bool is_widened) const {
    Operand operand{.window = window, .offset = storage.offset, .strides = {}};
    for (std::size_t dim = 0; dim < dims(); ++dim) {
      operand.offset += (first[dim] + (is_widened ? piece().before[dim] : 0)) * storage.strides[dim];
      operand.strides.push_back(storage.strides[dim] * bytes());
    }
    operand.offset *= bytes();
    return operand;
  }

  const Job& job_;
  std::size_t piece_;
  std::vector<Link> in_, out_;
  std::vector<Term> terms_;
  std::vector<Operation> operations_;
};

}  // namespace

std::vector<std::vector<Operation>> reduce_steps(const Job& job, Index ranks, std::optional<RankId> only) {
  const auto& pieces = job.domain.pieces;
  std::vector<std::vector<Link>> in(pieces.size()), out(pieces.size());
  const auto is_wanted = [&](std::size_t piece) { return !only || pieces[piece].rank == *only; };
  for (std::size_t holder = 0; holder < pieces.size(); ++holder)
    for (Link& link : job.links.into(holder)) {
      if (link.owner != holder && is_wanted(holder)) in[holder].push_back(link);
      if (is_wanted(link.owner)) out[link.owner].push_back(std::move(link));
    }
  std::vector<std::vector<Operation>> steps(static_cast<std::size_t>(ranks));
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    if (is_wanted(piece))
      steps[number_of(pieces[piece].rank)] =
          Reduce(job, piece, std::move(in[piece]), std::move(out[piece])).operations();
  return steps;
}

std::vector<Index> reduce_scratch(const Job& job, Index ranks) {
  const auto& pieces = job.domain.pieces;
  std::vector<Index> bytes(static_cast<std::size_t>(ranks), 0);
  for (std::size_t holder = 0; holder < pieces.size(); ++holder)
    for (const Link& link : job.links.into(holder)) {
      if (!is_staged(job.domain, link)) continue;
      Index& scratch = bytes[number_of(pieces[link.owner].rank)];
      if (scratch == 0) scratch = head_bytes(job.domain);
      scratch += link.elements() * bytes_of(job.domain.dtype);
    }
  return bytes;
}

}  // namespace reshard::halo
