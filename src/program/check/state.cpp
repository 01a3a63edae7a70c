#include "program/check/state.h"

#include <cstring>

namespace reshard::explore {
namespace {

template <class T>
void add(StateHash& hash, const std::vector<T>& values) {
  static_assert(std::has_unique_object_representations_v<T> && sizeof(T) % 4 == 0);
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const std::size_t n_bytes = values.size() * sizeof(T);
  for (std::size_t i = 0; i < n_bytes; i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    hash.first = mixed(hash.first, word);
    hash.second = (hash.second ^ word) * 0xC2B2AE3D27D4EB4Full;
    hash.second ^= hash.second >> 32;
  }
}

}  // namespace

StateHash hash_of(const State& state) {
  StateHash hash{1, 2};
  add(hash, state.ranks);
  add(hash, state.signals);
  add(hash, state.cells);
  add(hash, state.puts);
  return hash;
}

}  // namespace reshard::explore
