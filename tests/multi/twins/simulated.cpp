#include "twins/simulated.h"

#include <numeric>

namespace reshard::multi {

SimulateOptions schedule_of(Index ranks, std::uint64_t seed, const std::map<std::string, Index>& sizes) {
  SimulateOptions options{.sizes = sizes, .calls = 3, .seed = seed};
  options.devices.resize(static_cast<std::size_t>(ranks));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  if (seed % 2 == 1) options.slow = RankId(static_cast<Index>(seed / 2) % ranks);
  return options;
}

}  // namespace reshard::multi
