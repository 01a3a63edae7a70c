// Chooses what happens next.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "reshard/index.h"

namespace reshard::simulation {

// Which ranks can go on. Both changes and queries take constant time.
class ReadyRanks {
 public:
  ReadyRanks(Index ranks, std::optional<RankId> slow);
  void set(RankId rank, bool can_go);
  const std::vector<RankId>& quick() const { return quick_; }  // in no order
  bool slow_can_go() const { return slow_can_go_; }
  std::optional<RankId> slow() const { return slow_; }

 private:
  std::vector<RankId> quick_;
  std::vector<std::optional<std::size_t>> place_;  // of each rank in quick_
  std::optional<RankId> slow_;
  bool slow_can_go_ = false;
};

struct Choice {
  std::optional<RankId> rank = {};
  std::size_t arrival = 0;  // number of a piece in flight, if no rank is chosen
};

// Evenly among the ranks that can go on and the pieces in flight; the slow rank when there is nothing else. Nothing if
// nothing can happen.
class RandomSchedule {
 public:
  explicit RandomSchedule(std::uint64_t seed) : random_(seed) {}
  std::optional<Choice> choose(const ReadyRanks& ready, std::size_t in_flight);

 private:
  std::mt19937_64 random_;
};

// The rank that is in the earliest round, the lowest of several: all run in step.
std::optional<Choice> choose_in_step(const ReadyRanks& ready, const std::vector<double>& round);

}  // namespace reshard::simulation
