#include "plan/packing.h"

namespace reshard {
namespace {

constexpr Index kAlignment = 16;  // of the widest dtype

}  // namespace

Packing::Packing(Index staging_limit, Index pack_below)
    : below_(pack_below), slot_(pack_below > 0 ? staging_limit / (1 + slots_out) / kAlignment * kAlignment : 0) {}

PackedMessages::Place PackedMessages::add(const Packing& packing, Index bytes, Index alignment) {
  const Index aligned = (used + alignment - 1) / alignment * alignment;
  if (messages == 0 || bytes > packing.message_bytes() - aligned) {
    ++messages;
    used = bytes;
    return {messages - 1, 0};
  }
  used = aligned + bytes;
  return {messages - 1, aligned};
}

}  // namespace reshard
