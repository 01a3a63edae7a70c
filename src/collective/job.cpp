#include "collective/job.h"

#include <algorithm>
#include <numeric>

namespace reshard::collective {

Index Job::hosts() const { return host_of.empty() ? 1 : 1 + *std::ranges::max_element(host_of); }

Index Job::bytes_per_rank() const {
  const auto sum = [](const std::vector<Index>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), 0.0);  // may pass 2^63
  };
  return static_cast<Index>(std::max(sum(input_bytes), sum(output_bytes)) / static_cast<double>(ranks));
}

Index Job::part_begin(RankId rank) const {
  const auto begin = folding->parts.begin();
  return std::accumulate(begin, begin + rank.value(), Index{0});
}

std::vector<RankId> peers_of(RankId me, Index ranks) {
  std::vector<RankId> peers;
  for (Index i = 1; i < ranks; ++i) peers.push_back(RankId((me.value() + i) % ranks));
  return peers;
}

}  // namespace reshard::collective
