#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/fail.h"
#include "reshard/collective.h"
#include "reshard/collective_timing.h"

namespace reshard {
namespace {

constexpr Algorithm kAllAlgorithms[] = {Algorithm::eager, Algorithm::direct, Algorithm::two_level};
constexpr Index kFloat = 4;
constexpr int kMostRuns = 100'000;

std::unique_ptr<Collective> make(World& world, CollectiveKind kind, Index bytes, Algorithm algorithm) {
  const CollectiveOptions options{.algorithm = algorithm};
  const Index ranks = world.ranks();
  switch (kind) {
    case CollectiveKind::all_to_all: return std::make_unique<AllToAll>(world, bytes / ranks, options);
    case CollectiveKind::all_gather: return std::make_unique<AllGather>(world, bytes / ranks, options);
    case CollectiveKind::broadcast: return std::make_unique<Broadcast>(world, bytes, RankId(0), options);
    case CollectiveKind::reduce_scatter:
      return std::make_unique<ReduceScatter>(world, bytes / ranks / kFloat, Dtype::f32, ReduceOp::sum, options);
    case CollectiveKind::all_reduce: break;
  }
  return std::make_unique<AllReduce>(world, bytes / kFloat, Dtype::f32, ReduceOp::sum, options);
}

// Of numbers that ranks took themselves.
class Greatest {
 public:
  explicit Greatest(World& world) : reduce_(world, 1, Dtype::f64, ReduceOp::max, {.algorithm = Algorithm::direct}) {}
  double of(double mine) {
    reduce_.input<double>()[0] = mine;
    reduce_.run();
    return reduce_.output<double>()[0];
  }

 private:
  AllReduce reduce_;
};

// Hosts count from 0, in the order of their lowest ranks.
bool has_hosts(World& world) {
  for (RankId rank(0); rank < RankId(world.ranks()); ++rank)
    if (world.endpoint().host_of(rank) > 0) return true;
  return false;
}

double seconds_of(Barrier& barrier, Greatest& greatest, Collective& operation, int runs) {
  barrier.run();
  const auto start = Clock::now();
  for (int i = 0; i < runs; ++i) operation.run();
  const double mine = std::chrono::duration<double>(Clock::now() - start).count();
  return greatest.of(mine) / runs;
}

struct Contestant {
  Algorithm algorithm;
  std::unique_ptr<Collective> operation;
  int runs = 1;
  std::vector<double> seconds = {};
};

AlgorithmTime time_of(Contestant& contestant) {
  std::vector<double>& seconds = contestant.seconds;
  std::ranges::sort(seconds);
  return {contestant.algorithm, seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

const AlgorithmTime* find_time(const std::vector<AlgorithmTime>& times, Algorithm algorithm) {
  const auto found = std::ranges::find(times, algorithm, &AlgorithmTime::algorithm);
  return found == times.end() ? nullptr : &*found;
}

}  // namespace

std::vector<AlgorithmTime> time_algorithms(World& world, CollectiveKind kind, Index bytes,
                                           const TimingOptions& options) {
  Barrier barrier(world);
  Greatest greatest(world);
  std::vector<Contestant> contestants;
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (algorithm == Algorithm::two_level && !has_hosts(world)) continue;
    Contestant& c = contestants.emplace_back(Contestant{algorithm, make(world, kind, bytes, algorithm)});
    seconds_of(barrier, greatest, *c.operation, 2);  // first touches
    const double once = seconds_of(barrier, greatest, *c.operation, 3);
    c.runs = static_cast<int>(std::clamp(std::ceil(options.seconds / once), 1.0, double{kMostRuns}));
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      Contestant& c = contestants[(turn + static_cast<std::size_t>(round)) % contestants.size()];
      c.seconds.push_back(seconds_of(barrier, greatest, *c.operation, c.runs));
    }
  }
  std::vector<AlgorithmTime> times;
  for (Contestant& c : contestants) times.push_back(time_of(c));
  return times;
}

std::vector<TuningRow> rows_of(CollectiveKind kind, Index ranks, Index hosts,
                               const std::vector<std::pair<Index, std::vector<AlgorithmTime>>>& times, double margin) {
  std::vector<TuningRow> rows;
  Index before = 0;
  for (const auto& [bytes, at_size] : times) {
    const AlgorithmTime& best = *std::ranges::min_element(at_size, {}, &AlgorithmTime::seconds);
    const AlgorithmTime* const kept = rows.empty() ? nullptr : find_time(at_size, rows.back().algorithm);
    const bool stays = kept != nullptr && kept->seconds <= best.seconds * margin;
    if (!rows.empty() && !stays && rows.back().algorithm != best.algorithm)
      rows.back().most_bytes = static_cast<Index>(std::sqrt(static_cast<double>(before) * static_cast<double>(bytes)));
    if (rows.empty() || (!stays && rows.back().algorithm != best.algorithm))
      rows.push_back({kind, ranks, hosts, std::numeric_limits<Index>::max(), best.algorithm});
    before = bytes;
  }
  return rows;
}

}  // namespace reshard
