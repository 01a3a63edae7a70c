#include "program/simulate/memory.h"

#include "base/fail.h"
#include "reshard/unroll.h"

namespace reshard::simulation {

SimulatedMemory::SimulatedMemory(const Program& program) : bytes_(static_cast<std::size_t>(program.ranks)) {
  for (const WindowSpec& window : program.windows) {
    names_.push_back(window.name);
    for (std::size_t rank = 0; rank < bytes_.size(); ++rank)
      bytes_[rank].emplace_back(static_cast<std::size_t>(window.bytes.at(rank)));
  }
}

std::byte* SimulatedMemory::at(RankId rank, int window, Index offset, Index bytes) {
  if (window < 0 || static_cast<std::size_t>(window) >= names_.size())
    fail(Code::invalid_argument, "there is no window {}; the program has {}", window, names_.size());
  if (rank < RankId(0) || static_cast<std::size_t>(rank.value()) >= bytes_.size())
    fail(Code::invalid_argument, "peer {} is outside the {} ranks", rank.value(), bytes_.size());
  const std::span<std::byte> all = of(rank, window);
  const auto there = static_cast<Index>(all.size());
  if (offset < 0 || bytes < 0 || offset > there || bytes > there - offset)
    fail(Code::invalid_argument, "bytes [{}, {}) leave {} of rank {}, which has {}", offset, offset + bytes,
         names_[static_cast<std::size_t>(window)], rank.value(), there);
  return all.data() + offset;
}

Index RankReader::integer(int window, Index offset, Dtype dtype) {
  return read_element(dtype, memory_.at(rank_, window, offset, bytes_of(dtype)));
}

}  // namespace reshard::simulation
