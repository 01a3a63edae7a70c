#include "program/simulate/contents.h"

#include <algorithm>

namespace reshard::simulation {
CallInputs::CallInputs(const Program& program) : bytes_(static_cast<std::size_t>(program.ranks)) {
  for (std::size_t window = 0; window < program.windows.size(); ++window) {
    const WindowSpec& spec = program.windows[window];
    if (spec.role != BufferRole::input) continue;
    for (std::size_t rank = 0; rank < bytes_.size(); ++rank)
      bytes_[rank][static_cast<int>(window)].resize(static_cast<std::size_t>(spec.bytes[rank]));
  }
}

CallInputs CallInputs::next(const CallInputs& before, Calls& calls, Index call) {
  CallInputs inputs = before;
  for (std::size_t rank = 0; rank < inputs.bytes_.size(); ++rank)
    for (auto& [window, bytes] : inputs.bytes_[rank]) calls.fill(call, RankId(static_cast<Index>(rank)), window, bytes);
  return inputs;
}

std::span<const std::byte> CallInputs::of(RankId rank, int window) const {
  const auto& windows = bytes_[static_cast<std::size_t>(rank.value())];
  const auto found = windows.find(window);
  return found == windows.end() ? std::span<const std::byte>{} : std::span<const std::byte>(found->second);
}

void Contents::begin(Index call, RankId rank, SimulatedMemory& memory) {
  if (!kept_.contains(call)) {
    last_ = CallInputs::next(last_, calls_, call);
    kept_.emplace(call, last_);
  }
  for (std::size_t w = 0; w < program_.windows.size(); ++w) {
    const auto window = static_cast<int>(w);
    const BufferRole role = program_.windows[w].role;
    const std::span<std::byte> bytes = memory.of(rank, window);
    if (role == BufferRole::input) {
      std::ranges::copy(kept_.at(call).of(rank, window), bytes.begin());
      continue;
    }
    if (role != BufferRole::window) std::ranges::fill(bytes, kPoison);
    calls_.fill(call, rank, window, bytes);
  }
}

}  // namespace reshard::simulation
