// The bytes of all windows of all ranks, in one process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reshard/program.h"

namespace reshard::simulation {

class SimulatedMemory {
 public:
  // Zeroed, as windows are at first.
  explicit SimulatedMemory(const Program& program);

  std::span<std::byte> of(RankId rank, int window) {
    return bytes_[static_cast<std::size_t>(rank.value())][static_cast<std::size_t>(window)];
  }
  // `bytes` bytes from `offset` on. Throws Error(invalid_argument) that names window, rank and bytes where they leave
  // it.
  std::byte* at(RankId rank, int window, Index offset, Index bytes);

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::vector<std::byte>>> bytes_;  // per rank, per window
};

// What deferred operations see: the memory of one rank.
class RankReader : public MemoryReader {
 public:
  RankReader(SimulatedMemory& memory, RankId rank) : memory_(memory), rank_(rank) {}
  Index integer(int window, Index offset, Dtype dtype) override;

 private:
  SimulatedMemory& memory_;
  RankId rank_;
};

}  // namespace reshard::simulation
