#include "collective/write.h"

namespace reshard::collective {
namespace {

constexpr Index kCacheLine = 64;

Index whole_lines(Index bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

// Of a folding: what each peer puts into the mailbox of `rank`.
Index term_bytes(const Job& job, RankId rank) {
  const auto& at = job.folding->everywhere ? job.input_bytes : job.output_bytes;
  return at[static_cast<std::size_t>(rank.value())];
}

Index half_bytes(const Job& job, RankId rank) {
  return job.folding ? job.ranks * whole_lines(term_bytes(job, rank))
                     : whole_lines(job.output_bytes[static_cast<std::size_t>(rank.value())]);
}

Spot slot(const Job& job, RankId at, RankId from, Index half) {
  return {kMailbox, half * half_bytes(job, at) + from.value() * whole_lines(term_bytes(job, at))};
}

Spot parcel(const Job& job, RankId at, const Flow& flow, Index half) {
  return {kMailbox, half * half_bytes(job, at) + flow.target_offset};
}

// Both tell each other where anything goes in either direction: that is what makes two halves suffice.
bool are_partners(const Job& job, RankId a, RankId b) { return job.flow(a, b).bytes > 0 || job.flow(b, a).bytes > 0; }

void exchange_eagerly(const Job& job, RankId me, Index half, Draft& draft) {
  const std::vector<RankId> peers = peers_of(me, job.ranks);
  bool has_put = false;
  for (const RankId peer : peers) {
    const Flow flow = job.flow(me, peer);
    draft.put(peer, {kInput, flow.source_offset}, parcel(job, peer, flow, half), flow.bytes);
    has_put |= flow.bytes > 0;
  }
  if (has_put) draft.fence();
  for (const RankId peer : peers)
    if (are_partners(job, me, peer)) draft.tell(peer, 1);
  const Flow own = job.flow(me, me);
  if (!job.in_place) draft.copy({kInput, own.source_offset}, {kOutput, own.target_offset}, own.bytes);
  for (const RankId peer : peers)
    if (are_partners(job, me, peer)) draft.await(peer, 1);
  for (RankId from(0); from < RankId(job.ranks); ++from) {
    const Flow flow = job.flow(from, me);
    if (from != me) draft.copy(parcel(job, me, flow, half), {kOutput, flow.target_offset}, flow.bytes);
  }
}

void fold_eagerly(const Job& job, RankId me, Index half, Draft& draft) {
  const Folding& folding = *job.folding;
  const Index element = bytes_of(folding.dtype);
  const std::vector<RankId> peers = peers_of(me, job.ranks);
  const auto begin = [&](RankId rank) { return folding.everywhere ? 0 : job.part_begin(rank) * element; };
  for (const RankId peer : peers)
    draft.put(peer, {kInput, begin(peer)}, slot(job, peer, me, half), term_bytes(job, peer));
  draft.fence();
  for (const RankId peer : peers) draft.tell(peer, 1);
  for (const RankId peer : peers) draft.await(peer, 1);
  std::vector<Spot> terms;
  for (RankId from(0); from < RankId(job.ranks); ++from)
    terms.push_back(from == me ? Spot{kInput, begin(me)} : slot(job, me, from, half));
  draft.fold({kOutput, 0}, terms, term_bytes(job, me) / element, folding, job.ranks);
}

}  // namespace

Index Eager::mailbox(const Job& job, RankId rank) { return job.ranks > 1 ? 2 * half_bytes(job, rank) : 0; }

void Eager::write(const Job& job, RankId me, Index half, Draft& draft) {
  job.folding ? fold_eagerly(job, me, half, draft) : exchange_eagerly(job, me, half, draft);
}

}  // namespace reshard::collective
