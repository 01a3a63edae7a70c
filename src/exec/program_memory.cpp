#include "exec/program_memory.h"

#include <algorithm>
#include <cstring>

namespace reshard {

void ProgramMemory::create(const Program& program, Endpoint& endpoint, Clock::time_point deadline) {
  for (const WindowSpec& window : program.windows) {
    if (window.role != BufferRole::window) continue;
    windows_.resize(static_cast<std::size_t>(&window - program.windows.data()));  // the others have no id
    const Index bytes = window.bytes[static_cast<std::size_t>(endpoint.rank().value())];
    windows_.push_back(endpoint.create_window(window.name, bytes, deadline));
    memory_.resize(windows_.size());
    memory_.back() = endpoint.memory(windows_.back());
  }
  for (const SignalSpec& signal : program.signals)
    signals_.push_back(endpoint.create_signal(signal.name, signal.slots, deadline));
}

void ProgramMemory::make_room(const Program& program, RankId rank) {
  const std::size_t count = std::max(program.windows.size(), memory_.size());
  windows_.resize(count);
  owned_.resize(count);
  memory_.resize(count);
  for (std::size_t w = 0; w < program.windows.size(); ++w) {
    const auto bytes = static_cast<std::size_t>(program.windows[w].bytes[static_cast<std::size_t>(rank.value())]);
    if (windows_[w].value >= 0 || bytes <= memory_[w].size()) continue;
    owned_[w].reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment))));
    std::memset(owned_[w].get(), 0, bytes);
    memory_[w] = {owned_[w].get(), bytes};
  }
}

void ProgramMemory::start_signals(const Program& program, Endpoint& endpoint) const {
  const RankId self = endpoint.rank();
  for (std::size_t s = 0; s < program.signals.size(); ++s) {
    const SignalSpec& signal = program.signals[s];
    for (Index slot = 0; slot < signal.slots; ++slot) {
      const std::uint64_t start =
          signal.starts.empty() ? 0
                                : signal.starts[static_cast<std::size_t>(self.value())][static_cast<std::size_t>(slot)];
      endpoint.notify(self, signals_[s], slot, start, Endpoint::Update::set);
    }
  }
}

Binding ProgramMemory::binding(const Program& program) const {
  Binding binding{.windows = windows_, .signals = signals_, .memory = memory_};
  binding.windows.resize(program.windows.size());
  binding.memory.resize(program.windows.size());
  return binding;
}

}  // namespace reshard
