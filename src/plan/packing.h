// How small transfers from one rank to another share messages, and where a message is staged.
//
// Both ends know the transfers between them and nothing of the other transfers of either, so all of this depends on the
// two ranks and their transfers alone.
#pragma once

#include <algorithm>

#include "reshard/index.h"

namespace reshard {

class Packing {
 public:
  static constexpr Index slots_out = 2;

  // Three slots of `staging_limit / 3` bytes, so that offsets are aligned for every dtype.
  Packing(Index staging_limit, Index pack_below);

  // Bytes of the largest message; 0 when nothing is packed.
  Index message_bytes() const { return slot_; }
  // Bytes of staging that a rank needs at most: no more than the limit.
  Index staging_bytes() const { return (1 + slots_out) * slot_; }
  bool packs(Index bytes) const { return bytes < below_ && bytes <= slot_; }

  // Where message number `message` from `source` to `target` waits to be fetched, and where it is taken apart.
  static Index slot_out(RankId source, RankId target, Index message) {
    return (source.value() + target.value() + message) % slots_out;
  }
  Index offset_out(Index slot_out) const { return (1 + slot_out) * slot_; }
  Index offset_in() const { return 0; }

 private:
  Index below_;
  Index slot_;
};

// The messages from one rank to another, as they fill up.
struct PackedMessages {
  Index messages = 0;
  Index used = 0;  // bytes of the last one

  // Where a transfer that packing.packs() goes: into the last message if it fits there, at a multiple of `alignment`.
  struct Place {
    Index message = 0;
    Index offset = 0;
  };
  Place add(const Packing& packing, Index bytes, Index alignment);
  // The same for `count` transfers of equal `bytes`, a multiple of `alignment`. Calls grown(message, used) so often
  // that the greatest `used` of the even and of the odd messages is among the calls. Cost: O(1).
  template <class Grown>
  void add(const Packing& packing, Index bytes, Index alignment, Index count, Grown&& grown);
};

template <class Grown>
void PackedMessages::add(const Packing& packing, Index bytes, Index alignment, Index count, Grown&& grown) {
  const auto more = [&](Index now) {
    used += (now - 1) * bytes;
    grown(messages - 1, used);
    count -= now;
  };
  if (count == 0) return;
  add(packing, bytes, alignment);
  more(std::min(count, 1 + (packing.message_bytes() - used) / bytes));
  const Index full = packing.message_bytes() / bytes;
  for (int turn = 0; turn < Packing::slots_out && count > 0; ++turn) {
    add(packing, bytes, alignment);
    more(std::min(count, full));
  }
  if (count == 0) return;
  messages += (count - 1) / full + 1;
  used = ((count - 1) % full + 1) * bytes;
}

}  // namespace reshard
