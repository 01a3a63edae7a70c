#include "job_b.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "raw_tcp.h"
#include "reshard/error.h"
#include "reshard/stamp.h"
#include "reshard/world.h"

namespace reshard::bench {
namespace {

constexpr int kWarmUp = 2;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double cpu_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

// One way, and how long it has taken.
struct Way {
  std::string name;
  std::function<void()> act;
  std::vector<double> wall = {}, cpu = {};  // in ms; of the processor, this rank's alone

  // From one barrier to the next: the slower rank counts.
  template <class Barrier>
  void time(const Barrier& barrier) {
    barrier();
    const double before = cpu_ms();
    const auto start = Clock::now();
    act();
    cpu.push_back(cpu_ms() - before);
    barrier();
    wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  void forget() {
    wall.clear();
    cpu.clear();
  }
};

// How many times faster `ours` was, round by round.
double ratio(const Way& other, const Way& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.wall.size(); ++i) ratios.push_back(other.wall[i] / ours.wall[i]);
  return median(ratios);
}

void print(const std::string& fabric, const std::vector<Way>& ways) {
  const Way &ours = ways[0], &raw = ways[1];
  const double bytes = static_cast<double>(kEdgeOfJobB) * kEdgeOfJobB * sizeof(float), ms = median(ours.wall);
  std::printf(
      "{\"job\": \"b\", \"fabric\": \"%s\", \"bytes\": %.0f, \"ms\": %.1f, \"raw_tcp_ms\": %.1f, \"cpu_ms\": %.1f, "
      "\"raw_tcp_cpu_ms\": %.1f, \"GB/s\": %.2f, \"ratio\": %.2f",
      fabric.c_str(), bytes, ms, median(raw.wall), median(ours.cpu), median(raw.cpu), bytes / ms / 1e6,
      ratio(raw, ours));
  for (std::size_t i = 2; i < ways.size(); ++i) {
    std::printf(", \"%s_ms\": %.1f, \"over_%s\": %.2f", ways[i].name.c_str(), median(ways[i].wall),
                ways[i].name.c_str(), ratio(ways[i], ours));
  }
  std::puts("}");
  std::fflush(stdout);
}

}  // namespace

// The tensors are the same for all, so that all find the same pages and caches.
void race_job_b(Endpoint& endpoint, const std::string& fabric, const std::string& address, int rounds,
                const MakeRivals& make_rivals) {
  RawTcp tcp(static_cast<int>(endpoint.rank().value()), address);
  World world(endpoint);
  Tensor rows = world.allocate(layout("f32[8192,8192] on (r=2) {0: r}"), "rows");
  Tensor columns = world.allocate(layout("f32[8192,8192] on (r=2) {1: r}"), "columns");
  std::vector<Way> ways{
      {fabric, [&] { redistribute(world, rows, columns); }},
      {"raw TCP", [&] { tcp.rows_to_columns(rows.bytes().data(), columns.bytes().data(), kEdgeOfJobB); }}};
  if (make_rivals) {
    for (const Rival& rival : make_rivals(rows.bytes().data(), columns.bytes().data()))
      ways.push_back({rival.name, rival.rows_to_columns});
  }
  std::uint64_t epoch = 0;
  for (int round = 0; round < kWarmUp + rounds; ++round) {
    for (Way& way : ways) {
      if (round == kWarmUp) way.forget();
      stamp(rows, ++epoch);
      way.time([&] { tcp.barrier(); });
      expect_stamped(columns, epoch);
    }
  }
  if (endpoint.rank() == RankId(0)) print(fabric, ways);
}

}  // namespace reshard::bench
