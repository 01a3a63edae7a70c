#include "tune/measured.h"

#include <algorithm>

#include "program/shared_array.h"
#include "reshard/world.h"

namespace reshard::cli {
namespace {

// What rank 0 found, in memory that it shares with this process.
constexpr std::size_t kMostAlgorithms = 3;
struct Found {
  AlgorithmTime times[kMostAlgorithms] = {};
  std::size_t count = 0;
};

std::vector<MeasuredCase> measure_on(const TuneRequest& request, Index ranks) {
  const std::size_t sizes = request.bytes.size();
  const SharedArray<Found> found(request.kinds.size() * sizes);
  const auto body = [&](World& world) {
    for (std::size_t i = 0; i < found.values().size(); ++i) {
      const std::vector<AlgorithmTime> times = time_algorithms(
          world, request.kinds[i / sizes], request.bytes[i % sizes], {.rounds = static_cast<int>(request.rounds)});
      if (world.rank() != RankId(0)) continue;
      std::ranges::copy(times, found.values()[i].times);
      found.values()[i].count = times.size();
    }
  };
  const WorldOptions options{.timeout = std::chrono::minutes(2)};
  request.fabric == "shm" ? process_ranks(ranks, body, options) : thread_ranks(ranks, body, options);
  std::vector<MeasuredCase> cases;
  for (std::size_t k = 0; k < request.kinds.size(); ++k) {
    MeasuredCase& measured = cases.emplace_back(MeasuredCase{request.kinds[k], ranks, {}});
    for (std::size_t b = 0; b < sizes; ++b) {
      const Found& f = found.values()[k * sizes + b];
      measured.times.push_back({request.bytes[b], {f.times, f.times + f.count}});
    }
  }
  return cases;
}

}  // namespace

std::vector<MeasuredCase> measure(const TuneRequest& request) {
  std::vector<MeasuredCase> cases;
  for (const Index ranks : request.ranks)
    for (MeasuredCase& measured : measure_on(request, ranks)) cases.push_back(std::move(measured));
  return cases;
}

Tuning tuning_of(const std::vector<MeasuredCase>& cases) {
  std::vector<TuningRow> rows;
  for (const MeasuredCase& measured : cases)
    for (const TuningRow& row : rows_of(measured.kind, measured.ranks, 1, measured.times)) rows.push_back(row);
  return Tuning(std::move(rows));
}

}  // namespace reshard::cli
