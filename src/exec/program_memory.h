// What a program holds on one rank: windows and signals of the fabric, and memory of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "reshard/executor.h"
#include "reshard/program.h"

namespace reshard {

class ProgramMemory {
 public:
  // Collective. Windows that peers reach, and signals; returns before the signals hold what they start with.
  void create(const Program& program, Endpoint& endpoint, Clock::time_point deadline);
  // Room for the windows of `program` that belong to the rank alone: unrolled for another call it may need more.
  void make_room(const Program& program, RankId rank);
  // Sets this rank's slots to what they start with. No rank may be running.
  void start_signals(const Program& program, Endpoint& endpoint) const;

  // This rank's part of a window.
  std::span<std::byte> of(int window) const { return memory_[static_cast<std::size_t>(window)]; }
  const std::vector<std::span<std::byte>>& all() const { return memory_; }
  Binding binding(const Program& program) const;

 private:
  struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(kAlignment)); }
  };
  static constexpr std::size_t kAlignment = 64;  // as that of windows

  std::vector<WindowId> windows_;
  std::vector<SignalId> signals_;
  std::vector<std::unique_ptr<std::byte, AlignedDelete>> owned_;
  std::vector<std::span<std::byte>> memory_;
};

}  // namespace reshard
