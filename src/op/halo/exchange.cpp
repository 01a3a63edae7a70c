// The exchange of ghosts as one-sided reads, and writes between hosts, with the protocol of
// src/program/redistribute.cpp in one round or in one per dimension.
//
// Why it is safe. Ghosts lie at places of their own, which only their holder writes, or, from another host, only the
// one owner that they come from: there is no order among messages to get wrong, also where both neighbours are one and
// the same. In round j a rank reads what its owners said is complete in round j: own cells in the first, in later ones
// those with the ghosts of the rounds before, whose places nobody writes any more in this run. "ready" of an owner says
// that; where the owner writes it says, once for the run, that the reader's ghosts may be written, and "done" of an
// owner that those of a round are there. A rank leaves a run only after all who read its cells said "done", of the last
// round.
#include <algorithm>
#include <map>
#include <set>

#include "op/halo/constant.h"
#include "op/halo/edge.h"
#include "op/halo/operations.h"

namespace reshard::halo {
namespace {

// What one rank has to do in one round.
struct Round {
  std::vector<Link> in;   // from itself too
  std::vector<Link> out;  // to others
};

class Exchange {
 public:
  Exchange(const Job& job, std::size_t piece, std::vector<Round> rounds)
      : job_(job), piece_(piece), rounds_(std::move(rounds)) {}

  Halves halves() {
    for (std::size_t k = 0; k < rounds_.size(); ++k) add_round(k);
    for (const std::size_t owner : owners_) end(tell(rank_of(owner), kDone, self(), last(), last()));
    for (const std::size_t reader : readers_) end(await(kDone, rank_of(reader), last(), last()));
    return std::move(halves_);
  }

 private:
  const Domain& domain() const { return job_.domain; }
  const Piece& piece() const { return domain().pieces[piece_]; }
  RankId rank_of(std::size_t piece) const { return domain().pieces[piece].rank; }
  RankId self() const { return piece().rank; }
  Index bytes() const { return bytes_of(domain().dtype); }
  Index last() const { return static_cast<Index>(rounds_.size()); }
  bool is_put(std::size_t other) const { return job_.hosts.are_apart(self(), rank_of(other)); }
  void begin(Operation operation) { halves_.begin.push_back(std::move(operation)); }
  void end(Operation operation) { halves_.end.push_back(std::move(operation)); }

  // The window that a round reads, and how an owner stores what is read.
  int from(std::size_t round) const { return round == 0 ? 0 : job_.target(); }
  LocalStorage read_storage(std::size_t owner, std::size_t round) const {
    const Piece& from = domain().pieces[owner];
    return round == 0 && job_.form == HaloForm::apart ? from.own_by_widened() : from.widened;
  }

  void add_round(std::size_t k) {
    std::vector<Operation>& first = k == 0 ? halves_.begin : halves_.end;
    const Index round = static_cast<Index>(k) + 1;
    const Round& r = rounds_[k];
    const auto outs = by_peer(r.out, &Link::holder), ins = by_peer(r.in, &Link::owner);
    for (const auto& [holder, links] : outs)
      if (!is_put(holder)) {
        first.push_back(tell(rank_of(holder), kReady, self(), round, last()));
        readers_.insert(holder);
      }
    if (k == 0) add_ready_to_be_written();
    add_constants(k, first);
    if (k == 0) add_own_cells(first);
    add_puts(k, outs, first);
    add_gets(k, ins);
    finish_puts(round, outs);
    for (const auto& [owner, links] : ins)
      if (owner != piece_ && is_put(owner)) end(await(kDone, rank_of(owner), round, last()));
    add_signs(r.in);
  }

  using Peers = std::vector<std::pair<std::size_t, std::vector<const Link*>>>;
  // In the order of the pieces after this one, so that no owner is read by all at once.
  Peers by_peer(const std::vector<Link>& links, std::size_t Link::*peer) const {
    std::map<std::size_t, std::vector<const Link*>> found;
    for (const Link& link : links) found[link.*peer].push_back(&link);
    Peers peers(found.begin(), found.end());
    const auto after = std::ranges::find_if(peers, [&](const auto& entry) { return entry.first > piece_; });
    std::rotate(peers.begin(), after, peers.end());
    return peers;
  }

  void add_ready_to_be_written() {
    std::set<std::size_t> writers;
    for (const Round& round : rounds_)
      for (const Link& link : round.in)
        if (link.owner != piece_ && is_put(link.owner)) writers.insert(link.owner);
    for (const std::size_t writer : writers) begin(tell(rank_of(writer), kReady, self(), 1, last()));
  }

  // All cells beyond the ends of a dimension with a constant. Of a direct exchange all dimensions at once, the later
  // ones over the earlier; else those of this round's dimension, and what lies in later ones is copied with them.
  void add_constants(std::size_t k, std::vector<Operation>& operations) {
    const std::vector<std::size_t> order = order_of(domain().halo);
    if (job_.scheme == HaloScheme::direct) {
      for (const std::size_t d : order) add_constant(domain().halo.dims[d], {}, operations);
    } else {
      std::vector<int> later;
      for (std::size_t j = k + 1; j < order.size(); ++j) later.push_back(domain().halo.dims[order[j]].dim);
      if (k < order.size()) add_constant(domain().halo.dims[order[k]], later, operations);
    }
  }

  void add_constant(const HaloDim& d, const std::vector<int>& later, std::vector<Operation>& operations) {
    if (d.edge.kind != HaloEdge::Kind::constant && d.edge.kind != HaloEdge::Kind::zero) return;
    for (const Strip& strip : strips_of(domain(), piece(), static_cast<std::size_t>(d.dim))) {
      if (!strip.is_constant || piece().is_empty()) continue;
      Link box;
      for (std::size_t dim = 0; dim < domain().dims(); ++dim) {
        const bool is_own = std::ranges::find(later, static_cast<int>(dim)) != later.end();
        box.dims.push_back(is_own ? Run{.holder = piece().before[dim], .length = piece().length[dim]}
                                  : Run{.length = piece().width(dim)});
      }
      box.dims[static_cast<std::size_t>(d.dim)] = {.holder = strip.first, .length = strip.length};
      add_fill(box, d.edge.value, operations);
    }
  }

  // Word by word of an element.
  void add_fill(const Link& box, double value, std::vector<Operation>& operations) {
    const ConstantWords words = constant_words(value, domain().dtype, domain().where);
    const auto parts = std::ssize(words.numbers);
    const LocalStorage nothing{.extents = piece().widened.extents,
                               .strides = std::vector<Index>(domain().dims(), 0),
                               .offset = 0,
                               .elements = 1};
    for (Index word = 0; word < parts; ++word) {
      LocalStorage storage = piece().widened;
      storage.offset = storage.offset * parts + word;
      for (Index& stride : storage.strides) stride *= parts;
      Operation fill{.code = OpCode::fill,
                     .peer = self(),
                     .target_window = job_.target(),
                     .dtype = words.word,
                     .number = words.numbers[static_cast<std::size_t>(word)]};
      add_blocks(box, bytes_of(words.word), nothing, storage, fill.blocks);
      operations.push_back(std::move(fill));
    }
  }

  void add_own_cells(std::vector<Operation>& operations) {
    if (job_.form == HaloForm::in_place || piece().is_empty()) return;
    Link own;
    for (std::size_t dim = 0; dim < domain().dims(); ++dim)
      own.dims.push_back({.holder = piece().before[dim], .owner = piece().before[dim], .length = piece().length[dim]});
    Operation copy = transfer(OpCode::copy, piece_, 0);
    add_blocks(own, bytes(), piece().own_by_widened(), piece().widened, copy.blocks);
    operations.push_back(std::move(copy));
  }

  Operation transfer(OpCode code, std::size_t peer, std::size_t round) const {
    return {.code = code,
            .peer = rank_of(peer),
            .source_window = from(round),
            .target_window = job_.target(),
            .blocks = {}};
  }

  void add_puts(std::size_t k, const Peers& outs, std::vector<Operation>& operations) {
    for (const auto& [holder, links] : outs) {
      if (!is_put(holder)) continue;
      operations.push_back(await(kReady, rank_of(holder), 1, last()));
      Operation put = transfer(OpCode::put, holder, k);
      for (const Link* link : links)
        add_blocks(*link, bytes(), read_storage(piece_, k), domain().pieces[holder].widened, put.blocks);
      operations.push_back(std::move(put));
    }
  }

  void finish_puts(Index round, const Peers& outs) {
    const auto is_written = [&](const auto& entry) { return is_put(entry.first); };
    if (std::ranges::none_of(outs, is_written)) return;
    end({.code = OpCode::fence});
    for (const auto& entry : outs)
      if (is_written(entry)) end(tell(rank_of(entry.first), kDone, self(), round, last()));
  }

  void add_gets(std::size_t k, const Peers& ins) {
    for (const auto& [owner, links] : ins) {
      const bool is_local = owner == piece_;
      if (!is_local && is_put(owner)) continue;
      Operation get = transfer(is_local ? OpCode::copy : OpCode::get, owner, k);
      for (const Link* link : links) add_blocks(*link, bytes(), read_storage(owner, k), piece().widened, get.blocks);
      if (!is_local) {
        end(await(kReady, rank_of(owner), static_cast<Index>(k) + 1, last()));
        owners_.insert(owner);
      }
      end(std::move(get));
    }
  }

  // Of what has crossed a pole.
  void add_signs(const std::vector<Link>& in) {
    const HaloDim* pole = pole_of(domain().halo);
    if (pole == nullptr || !pole->edge.flips) return;
    const Minus minus(domain().dtype);
    Operation change{.code = OpCode::reduce,
                     .peer = self(),
                     .source_window = job_.scratch(),
                     .target_window = job_.target(),
                     .reduce_op = ReduceOp::product,
                     .dtype = minus.real};
    for (const Link& link : in) {
      if (!link.crosses) continue;
      Place place{job_.target(), piece().widened.offset, piece().widened.strides};
      std::vector<Index> counts;
      for (std::size_t dim = 0; dim < link.dims.size(); ++dim) {
        place.offset += link.dims[dim].holder * place.strides[dim];
        counts.push_back(link.dims[dim].length);
      }
      change.reductions.push_back(minus.change(counts, place, job_.scratch()));
    }
    if (change.reductions.empty()) return;
    end(minus.write(job_.scratch()));
    end(std::move(change));
  }

  const Job& job_;
  std::size_t piece_;
  std::vector<Round> rounds_;
  Halves halves_;
  std::set<std::size_t> owners_, readers_;  // whom it reads, and who reads it
};

}  // namespace

Index Job::rounds() const {
  return scheme == HaloScheme::direct ? 1 : std::max<Index>(1, std::ssize(domain.halo.dims));
}

std::vector<Halves> exchange_halves(const Job& job, Index ranks, std::optional<RankId> only) {
  const auto& pieces = job.domain.pieces;
  const auto rounds = static_cast<std::size_t>(job.rounds());
  std::vector<std::vector<Round>> parts(pieces.size(), std::vector<Round>(rounds));
  const auto is_wanted = [&](std::size_t piece) { return !only || pieces[piece].rank == *only; };
  for (std::size_t holder = 0; holder < pieces.size(); ++holder)
    for (std::size_t k = 0; k < rounds; ++k)
      for (Link& link : job.scheme == HaloScheme::direct ? job.links.into(holder) : job.links.into(holder, k)) {
        if (link.owner != holder && is_wanted(link.owner)) parts[link.owner][k].out.push_back(link);
        if (is_wanted(holder)) parts[holder][k].in.push_back(std::move(link));
      }
  std::vector<Halves> halves(static_cast<std::size_t>(ranks));
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    if (is_wanted(piece))
      halves[number_of(pieces[piece].rank)] = Exchange(job, piece, std::move(parts[piece])).halves();
  return halves;
}

std::vector<Index> exchange_scratch(const Job& job, Index ranks) {
  const HaloDim* pole = pole_of(job.domain.halo);
  std::vector<Index> bytes(static_cast<std::size_t>(ranks), 0);
  if (pole == nullptr || !pole->edge.flips) return bytes;
  for (const Piece& piece : job.domain.pieces) bytes[number_of(piece.rank)] = Minus::kBytes;
  return bytes;
}

}  // namespace reshard::halo
