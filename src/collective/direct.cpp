#include <algorithm>

#include "collective/write.h"

namespace reshard::collective {
namespace {

constexpr Index kBegun = 1;
// Terms and result of a tile stay in the second cache, and a tile is long enough that a step more costs nothing.
constexpr Index kTilesBytes = Index{1} << 19;
constexpr Index kLeastTile = Index{1} << 13;

// What two ranks do for each other in an exchange.
struct Between {
  Flow out, in;
  bool pulls = false;
  bool i_pull() const { return in.bytes > 0 && pulls; }
  bool i_push() const { return out.bytes > 0 && !pulls; }
  bool it_pulls() const { return out.bytes > 0 && pulls; }
  bool it_pushes() const { return in.bytes > 0 && !pulls; }
};

Between between(const Job& job, RankId me, RankId peer) {
  return {job.flow(me, peer), job.flow(peer, me), job.is_pulled(peer, me)};
}

void exchange_directly(const Job& job, RankId me, Draft& draft) {
  constexpr Index done = 2;
  const std::vector<RankId> peers = peers_of(me, job.ranks);
  for (const RankId peer : peers) {
    const Between b = between(job, me, peer);
    if (b.it_pulls() || b.it_pushes()) draft.tell(peer, kBegun);
  }
  const Flow own = job.flow(me, me);
  if (!job.in_place) draft.copy({kInput, own.source_offset}, {kOutput, own.target_offset}, own.bytes);
  bool has_put = false;
  for (const RankId peer : peers) {
    const Between b = between(job, me, peer);
    if (b.i_pull() || b.i_push()) draft.await(peer, kBegun);
    if (b.i_push()) draft.put(peer, {kInput, b.out.source_offset}, {kOutput, b.out.target_offset}, b.out.bytes);
    if (b.i_pull()) draft.get(peer, {kInput, b.in.source_offset}, {kOutput, b.in.target_offset}, b.in.bytes);
    if (b.i_pull()) draft.tell(peer, done);
    has_put |= b.i_push();
  }
  if (has_put) draft.fence();
  for (const RankId peer : peers)
    if (between(job, me, peer).i_push()) draft.tell(peer, done);
  for (const RankId peer : peers) {
    const Between b = between(job, me, peer);
    if (b.it_pulls() || b.it_pushes()) draft.await(peer, done);
  }
}

// Where the terms of one rank's part come from.
class DirectFold {
 public:
  DirectFold(const Job& job, RankId me) : job_(job), me_(me), element_(bytes_of(job.folding->dtype)) {
    for (const RankId peer : peers_of(me, job.ranks)) (job.is_pulled(peer, me) ? near_ : far_).push_back(peer);
  }

  Index mailbox() const { return static_cast<Index>(far_.size()) * part_bytes(me_); }
  Index staging() const { return static_cast<Index>(near_.size()) * std::min(part_bytes(me_), tile_bytes()); }

  void write(Draft& draft) const {
    const Index done = Direct::rounds(job_);
    for (const RankId peer : near_) draft.tell(peer, kBegun);
    for (const RankId peer : far_) draft.tell(peer, kBegun);
    send_terms(draft);
    for (const RankId peer : near_) draft.await(peer, kBegun);
    for (const RankId peer : far_) draft.await(peer, kArrived);
    for (Index first = 0; first < part_bytes(me_); first += tile_bytes())
      fold_tile(first, std::min(tile_bytes(), part_bytes(me_) - first), draft);
    if (job_.folding->everywhere)
      for (const RankId peer : far_) draft.put(peer, result(0), result(0), part_bytes(me_));
    draft.fence();
    for (const RankId peer : near_) draft.tell(peer, done);
    for (const RankId peer : far_) draft.tell(peer, done);
    for (const RankId peer : near_) draft.await(peer, done);
    for (const RankId peer : far_) draft.await(peer, done);
  }

 private:
  static constexpr Index kArrived = 2;  // what a rank of another host has put into my mailbox

  void send_terms(Draft& draft) const {
    for (const RankId peer : far_) {
      draft.await(peer, kBegun);
      draft.put(peer, {kInput, begin_of(peer)}, DirectFold(job_, peer).slot(me_), part_bytes(peer));
    }
    if (!far_.empty()) draft.fence();
    for (const RankId peer : far_) draft.tell(peer, kArrived);
  }

  void fold_tile(Index first, Index bytes, Draft& draft) const {
    std::vector<Spot> terms(static_cast<std::size_t>(job_.ranks));
    const auto term = [&](RankId rank) -> Spot& { return terms[static_cast<std::size_t>(rank.value())]; };
    term(me_) = {kInput, begin_of(me_) + first};
    Index place = 0;
    for (const RankId peer : near_) {
      term(peer) = {kStaging, place};
      draft.get(peer, {kInput, begin_of(me_) + first}, term(peer), bytes);
      place += std::min(part_bytes(me_), tile_bytes());
    }
    for (const RankId peer : far_) term(peer) = {kMailbox, slot(peer).offset + first};
    draft.fold(result(first), terms, bytes / element_, *job_.folding, job_.ranks);
    if (!job_.folding->everywhere) return;
    for (const RankId peer : near_) draft.put(peer, result(first), result(first), bytes);
  }

  Index part_bytes(RankId rank) const { return job_.part(rank) * element_; }
  Index begin_of(RankId rank) const { return job_.part_begin(rank) * element_; }
  Spot result(Index first) const { return {kOutput, (job_.folding->everywhere ? begin_of(me_) : 0) + first}; }
  // Of one term, in whole elements.
  Index tile_bytes() const {
    return std::max(kLeastTile, kTilesBytes / static_cast<Index>(near_.size() + 1)) / element_ * element_;
  }
  Spot slot(RankId from) const {
    const auto place = std::ranges::find(far_, from) - far_.begin();
    return {kMailbox, static_cast<Index>(place) * part_bytes(me_)};
  }

  const Job& job_;
  RankId me_;
  Index element_;
  std::vector<RankId> near_, far_;  // whose terms I read; who put them here
};

}  // namespace

// Terms that are put, not read, need a round of their own.
Index Direct::rounds(const Job& job) { return job.folding && (job.hosts() > 1 || !job.pulls) ? 3 : 2; }

Index Direct::mailbox(const Job& job, RankId rank) { return job.folding ? DirectFold(job, rank).mailbox() : 0; }

Index Direct::staging(const Job& job, RankId rank) { return job.folding ? DirectFold(job, rank).staging() : 0; }

void Direct::write(const Job& job, RankId me, Index, Draft& draft) {
  job.folding ? DirectFold(job, me).write(draft) : exchange_directly(job, me, draft);
}

}  // namespace reshard::collective
