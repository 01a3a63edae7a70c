// What may be asked of an endpoint. All fabrics refuse the same with the same words: Error(invalid_argument) that names
// the rank that asks. Ranks are given as errors shall call them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "fabric/host/bounds.h"

namespace reshard::fabric {

[[noreturn]] void refuse_peer(Index self, RankId peer, Index ranks);
[[noreturn]] void refuse_slot(Index self, std::string_view signal, Index owner, Index slots, Index slot);

inline void check_peer(Index self, RankId peer, Index ranks) {
  if (peer.value() < 0 || peer.value() >= ranks) refuse_peer(self, peer, ranks);
}
inline void check_slot(Index self, std::string_view signal, Index owner, Index slots, Index slot) {
  if (slot < 0 || slot >= slots) refuse_slot(self, signal, owner, slots, slot);
}

// A window of one rank.
struct WindowEnd {
  std::string_view name;
  Index owner = 0;
  Index bytes = 0;
};
// `in_window` and `in_local` are the two ends of the copy; local memory has `local_bytes`.
void check_transfer(Index self, std::string_view call, const WindowEnd& window, const StridedCopy& copy,
                    ByteRange in_window, ByteRange in_local, std::size_t local_bytes);

// By id; null where destroyed, so that an old id is an error and never another entry.
template <class Entry>
using Table = std::vector<std::unique_ptr<Entry>>;

// `what` the table has: "window".
template <class Entry>
Entry& entry_of(const Table<Entry>& table, int id, std::string_view what, Index self) {
  if (id >= 0 && static_cast<std::size_t>(id) < table.size()) {
    if (const auto& entry = table[static_cast<std::size_t>(id)]) return *entry;
  }
  fail(Code::invalid_argument, "rank {}: {} id {} is unknown: never created, or destroyed", self, what, id);
}

}  // namespace reshard::fabric
