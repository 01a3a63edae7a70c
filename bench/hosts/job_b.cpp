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

constexpr Index kEdge = 8192;
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

struct Times {
  std::vector<double> wall, cpu;  // in ms; of the processor, this rank's alone

  // From one barrier to the next: the slower rank counts.
  template <class Barrier, class Act>
  void time(const Barrier& barrier, const Act& act) {
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

}  // namespace

void race_job_b(Endpoint& endpoint, const std::string& fabric, const std::string& address, int rounds) {
  RawTcp tcp(static_cast<int>(endpoint.rank().value()), address);
  World world(endpoint);
  Tensor rows = world.allocate(layout("f32[8192,8192] on (r=2) {0: r}"), "rows");
  Tensor columns = world.allocate(layout("f32[8192,8192] on (r=2) {1: r}"), "columns");
  Times ours, raw;
  // The tensors of the reference are the same, so that both find the same pages and caches.
  const auto run_raw = [&] { tcp.rows_to_columns(rows.bytes().data(), columns.bytes().data(), kEdge); };
  const auto run_ours = [&] { redistribute(world, rows, columns); };
  const auto barrier = [&] { tcp.barrier(); };
  for (int round = 0; round < kWarmUp + rounds; ++round) {
    if (round == kWarmUp) {
      ours.forget();
      raw.forget();
    }
    const auto epoch = static_cast<std::uint64_t>(round);
    stamp(rows, 2 * epoch);
    raw.time(barrier, run_raw);
    expect_stamped(columns, 2 * epoch);
    stamp(rows, 2 * epoch + 1);
    ours.time(barrier, run_ours);
    expect_stamped(columns, 2 * epoch + 1);
  }
  if (endpoint.rank() != RankId(0)) return;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.wall.size(); ++i) ratios.push_back(raw.wall[i] / ours.wall[i]);
  const double bytes = static_cast<double>(kEdge) * kEdge * sizeof(float), ms = median(ours.wall);
  std::printf(
      "{\"job\": \"b\", \"fabric\": \"%s\", \"bytes\": %.0f, \"ms\": %.1f, \"raw_tcp_ms\": %.1f, \"cpu_ms\": %.1f, "
      "\"raw_tcp_cpu_ms\": %.1f, \"GB/s\": %.2f, \"ratio\": %.2f}\n",
      fabric.c_str(), bytes, ms, median(raw.wall), median(ours.cpu), median(raw.cpu), bytes / ms / 1e6, median(ratios));
  std::fflush(stdout);
}

}  // namespace reshard::bench
