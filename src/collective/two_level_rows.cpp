#include "collective/two_level.h"

namespace reshard::collective {
namespace {

constexpr Index kHere = 3;      // what others of this host may read at me
constexpr Index kRowsRead = 4;  // what I wanted to read at you

}  // namespace

RowsForAll::RowsForAll(const Job& job, RankId me)
    : job_(job), me_(me), hosts_(job), host_(hosts_.of(me)), neighbours_(hosts_.neighbours(me)) {}

void RowsForAll::write(Draft& draft) const {
  if (job_.kind != CollectiveKind::broadcast) return gather(draft);
  for (RankId rank(0); rank < RankId(job_.ranks); ++rank)
    if (job_.flow(rank, me_).bytes > 0) return pass_down_the_tree(rank, draft);
}

void RowsForAll::gather(Draft& draft) const {
  for (const RankId peer : neighbours_) draft.tell(peer, kBegin);
  std::vector<RankId> senders;  // whose rows I take for this host
  for (const Index host : hosts_.others(host_))
    for (const RankId rank : hosts_.members(host))
      if (hosts_.partner(rank, host_) == me_) senders.push_back(rank);
  for (const RankId sender : senders) draft.tell(sender, kBegin);
  const Flow own = row(me_);
  draft.copy({kInput, own.source_offset}, {kOutput, own.target_offset}, own.bytes);
  for (const Index host : hosts_.others(host_)) {
    const RankId partner = hosts_.partner(me_, host);
    draft.await(partner, kBegin);
    draft.put(partner, {kInput, own.source_offset}, {kOutput, own.target_offset}, own.bytes);
  }
  draft.fence();
  for (const Index host : hosts_.others(host_)) draft.tell(hosts_.partner(me_, host), kCame);
  for (const RankId peer : neighbours_) {
    draft.await(peer, kBegin);
    draft.get(peer, {kInput, row(peer).source_offset}, {kOutput, row(peer).target_offset}, row(peer).bytes);
  }
  for (const RankId sender : senders) draft.await(sender, kCame);
  for (const RankId peer : neighbours_) draft.tell(peer, kHere);
  for (const RankId peer : neighbours_) {
    draft.await(peer, kHere);
    for (const Index host : hosts_.others(host_))
      for (const RankId rank : hosts_.members(host))
        if (hosts_.partner(rank, host_) == peer)
          draft.get(peer, {kOutput, row(rank).target_offset}, {kOutput, row(rank).target_offset}, row(rank).bytes);
  }
  finish(draft);
}

void RowsForAll::finish(Draft& draft) const {
  for (const RankId peer : neighbours_) draft.tell(peer, kRowsRead);
  for (const RankId peer : neighbours_) draft.await(peer, kRowsRead);
}

// Hosts are numbered from the root's on. That of number k has it from k without its lowest bit, and passes it to k with
// one more bit below that, the farthest first.
void RowsForAll::pass_down_the_tree(RankId root, Draft& draft) const {
  const Index hosts = hosts_.count(), first = hosts_.of(root), number = (host_ - first + hosts) % hosts;
  const auto relay = [&](Index n) {
    const Index host = (first + n) % hosts;
    return n == 0 ? root : hosts_.partner(root, host);
  };
  const Flow flow = row(root);
  const Spot source = me_ == root ? Spot{kInput, flow.source_offset} : Spot{kOutput, flow.target_offset};
  const Spot target{kOutput, flow.target_offset};
  if (me_ == root && !job_.in_place) draft.copy(source, target, flow.bytes);
  if (me_ != relay(number)) {
    draft.await(relay(number), kHere);
    draft.get(relay(number), host_ == first ? Spot{kInput, flow.source_offset} : target, target, flow.bytes);
    return finish(draft);
  }
  if (number > 0) {
    const RankId parent = relay(number & (number - 1));
    draft.tell(parent, kBegin);
    draft.await(parent, kCame);
  }
  for (const RankId peer : neighbours_) draft.tell(peer, kHere);
  Index bit = 1;
  while (bit < hosts && (number & bit) == 0) bit *= 2;
  for (bit /= 2; bit > 0; bit /= 2) {
    if (number + bit >= hosts) continue;
    draft.await(relay(number + bit), kBegin);
    draft.put(relay(number + bit), source, target, flow.bytes);
    draft.fence();
    draft.tell(relay(number + bit), kCame);
  }
  finish(draft);
}

RowsInBundles::RowsInBundles(const Job& job, RankId me)
    : job_(job), me_(me), hosts_(job), host_(hosts_.of(me)), neighbours_(hosts_.neighbours(me)) {}

Index RowsInBundles::bundle_bytes(Index from, Index to) const {
  Index bytes = 0;
  for (const RankId target : hosts_.members(to))
    for (const RankId source : hosts_.members(from)) bytes += job_.flow(source, target).bytes;
  return bytes;
}

// First the bundles that a rank sends, then those it receives, in the order of the other hosts.
Spot RowsInBundles::bundle_sent(Index from, Index to) const {
  Index offset = 0;
  for (Index host = 0; host < to; ++host)
    if (host != from && sender(from, host) == sender(from, to)) offset += bundle_bytes(from, host);
  return {kMailbox, offset};
}

Spot RowsInBundles::bundle_received(Index from, Index to) const {
  const RankId rank = receiver(from, to);
  Index offset = 0;
  for (Index host = 0; host < hosts_.count(); ++host) {
    if (host == to) continue;
    if (sender(to, host) == rank) offset += bundle_bytes(to, host);
    if (host < from && receiver(host, to) == rank) offset += bundle_bytes(host, to);
  }
  return {kMailbox, offset};
}

Index RowsInBundles::mailbox() const {
  Index bytes = 0;
  for (const Index host : hosts_.others(host_)) {
    if (sender(host_, host) == me_) bytes += bundle_bytes(host_, host);
    if (receiver(host, host_) == me_) bytes += bundle_bytes(host, host_);
  }
  return bytes;
}

// A bundle has the rows of one target together, in the order of the ranks they come from.
void RowsInBundles::collect(Index to, Draft& draft) const {
  std::vector<Index> offsets(static_cast<std::size_t>(job_.ranks), 0);
  Index offset = bundle_sent(host_, to).offset;
  for (const RankId source : hosts_.members(host_)) {
    Index place = offset;
    for (const RankId target : hosts_.members(to)) {
      const Flow flow = job_.flow(source, target);
      Index before = 0;  // of the same target, from ranks before
      for (const RankId other : hosts_.members(host_))
        if (other < source) before += job_.flow(other, target).bytes;
      const Spot from{kInput, flow.source_offset}, spot{kMailbox, place + before};
      source == me_ ? draft.copy(from, spot, flow.bytes) : draft.get(source, from, spot, flow.bytes);
      for (const RankId other : hosts_.members(host_)) place += job_.flow(other, target).bytes;
    }
  }
}

void RowsInBundles::hand_out(Index from, Draft& draft) const {
  const RankId holder = receiver(from, host_);
  Index offset = bundle_received(from, host_).offset;
  for (const RankId target : hosts_.members(host_)) {
    for (const RankId source : hosts_.members(from)) {
      const Flow flow = job_.flow(source, target);
      const Spot spot{kMailbox, offset}, to{kOutput, flow.target_offset};
      offset += flow.bytes;
      if (target != me_) continue;
      holder == me_ ? draft.copy(spot, to, flow.bytes) : draft.get(holder, spot, to, flow.bytes);
    }
  }
}

void RowsInBundles::write(Draft& draft) const {
  for (const RankId peer : neighbours_) draft.tell(peer, kBegin);
  for (const Index host : hosts_.others(host_))
    if (receiver(host, host_) == me_) draft.tell(sender(host, host_), kBegin);
  for (const RankId peer : neighbours_) draft.await(peer, kBegin);
  for (const Index host : hosts_.others(host_)) {
    if (sender(host_, host) != me_) continue;
    collect(host, draft);
    draft.await(receiver(host_, host), kBegin);
    draft.put(receiver(host_, host), bundle_sent(host_, host), bundle_received(host_, host), bundle_bytes(host_, host));
    draft.fence();
    draft.tell(receiver(host_, host), kCame);
  }
  const Flow own = job_.flow(me_, me_);
  draft.copy({kInput, own.source_offset}, {kOutput, own.target_offset}, own.bytes);
  for (const RankId peer : neighbours_) {
    const Flow flow = job_.flow(peer, me_);
    draft.get(peer, {kInput, flow.source_offset}, {kOutput, flow.target_offset}, flow.bytes);
  }
  for (const Index host : hosts_.others(host_))
    if (receiver(host, host_) == me_) draft.await(sender(host, host_), kCame);
  for (const RankId peer : neighbours_) draft.tell(peer, kHere);
  for (const RankId peer : neighbours_) draft.await(peer, kHere);
  for (const Index host : hosts_.others(host_)) hand_out(host, draft);
  for (const RankId peer : neighbours_) draft.tell(peer, kRowsRead);
  for (const RankId peer : neighbours_) draft.await(peer, kRowsRead);
}

}  // namespace reshard::collective
