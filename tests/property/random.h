// Seeded randomness of the property tests. RESHARD_SEED repeats a failure.
#pragma once

#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "reshard/index.h"

namespace reshard {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  // 0 <= result < count. The same on every standard library.
  Index below(Index count) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(count)); }
  Index between(Index first, Index last) { return first + below(last - first + 1); }
  bool one_in(Index count) { return below(count) == 0; }
  template <class T>
  const T& among(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<Index>(choices.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t k = values.size(); k > 1; --k)
      std::swap(values[k - 1], values[static_cast<std::size_t>(below(static_cast<Index>(k)))]);
  }

 private:
  std::mt19937_64 engine_;
};

// Prints the seed, so that a failure can be repeated.
inline unsigned seed_from_environment() {
  const char* given = std::getenv("RESHARD_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20260829u;
  std::cout << "RESHARD_SEED=" << seed << "\n";
  return seed;
}

}  // namespace reshard
