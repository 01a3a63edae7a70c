// indexed_all_to_all_v beside what it costs at least: a memcpy of every row from where it lies to where it goes, by one
// loop without signals, counts or checks. Each round times both between barriers, in turn; the ratio is the median over
// rounds. The answer is checked; a wrong one ends with status 1.
//
// indexed_exchange_bench [ROUNDS], one JSON object a line:
//   {"ranks": 2, "row_bytes": 7168, "rows": 4096, "ms": 9.1, "limit_ms": 8.7, "us_per_row": 0.05, "ratio": 0.95}
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "reshard/program_run.h"
#include "reshard/program_text.h"
#include "reshard/world.h"

namespace reshard {
namespace {

constexpr char kExchange[] = R"(
program indexed_exchange
size rows = 4096
size C = 2048
size H = 1792
input x : f32[rows, H]
input counts : i32[P]
input index : i32[P, C]
output received : i32[P]
window target : f32[P * C, H]
window send_counts : i32[P]
signal ready[P]
copy send_counts <- counts
indexed_all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, index = index,
  signal = ready)
)";

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Job {
  Index ranks;
  Index hidden;  // f32 elements of a row
  Index rows;    // of each rank, all of which it sends
};
constexpr Job kJobs[] = {{2, 1792, 4096}, {2, 256, 16384}, {2, 16, 65536}, {4, 1792, 4096}};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// One rank's part: random rows to every rank, as many to each.
class Sender {
 public:
  Sender(World& world, const Job& job)
      : world_(world),
        job_(job),
        each_(job.rows / job.ranks),
        run_(world, parse_program(kExchange), {{"rows", job.rows}, {"C", each_}, {"H", job.hidden}}),
        target_(run_.span<float>("target").size()) {
    const auto x = run_.span<float>("x");
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(world.rank().value() * job.rows) +
             static_cast<float>(i / static_cast<std::size_t>(job.hidden));
    std::ranges::fill(run_.span<std::int32_t>("counts"), static_cast<std::int32_t>(each_));
    std::mt19937 random(static_cast<std::uint32_t>(world.rank().value()));
    for (std::int32_t& row : run_.span<std::int32_t>("index"))
      row = std::uniform_int_distribution<std::int32_t>(0, static_cast<std::int32_t>(job.rows - 1))(random);
  }

  double exchange() {
    return timed([&] { run_.call(); });
  }
  // The same bytes, all from this rank's rows to memory of its own.
  double copy() {
    return timed([&] {
      const auto x = run_.span<float>("x");
      const auto index = run_.span<std::int32_t>("index");
      const auto hidden = static_cast<std::size_t>(job_.hidden);
      for (std::size_t i = 0; i < index.size(); ++i)
        std::memcpy(target_.data() + i * hidden, x.data() + static_cast<std::size_t>(index[i]) * hidden,
                    hidden * sizeof(float));
    });
  }
  // Whether what came from this rank itself is what its list says, and each row is one row throughout.
  bool is_right() {
    const auto target = run_.span<float>("target");
    const auto hidden = static_cast<std::size_t>(job_.hidden);
    const Index me = world_.rank().value();
    for (std::size_t row = 0; row < target.size() / hidden; ++row)
      for (std::size_t h = 1; h < hidden; ++h)
        if (target[row * hidden + h] != target[row * hidden]) return false;
    for (Index j = 0; j < each_; ++j) {
      const float wanted = static_cast<float>(
          me * job_.rows + run_.span<std::int32_t>("index")[static_cast<std::size_t>(me * each_ + j)]);
      if (target[static_cast<std::size_t>(me * each_ + j) * hidden] != wanted) return false;
    }
    return true;
  }

 private:
  template <class Work>
  double timed(const Work& work) {
    world_.barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    world_.barrier();
    return Milliseconds(std::chrono::steady_clock::now() - start).count();
  }

  World& world_;
  Job job_;
  Index each_;
  ProgramRun run_;
  std::vector<float> target_;
};

bool measure(const Job& job, int rounds) {
  bool right = true;
  thread_ranks(job.ranks, [&](World& world) {
    Sender sender(world, job);
    std::vector<double> exchanges, copies, ratios;
    for (int round = -2; round < rounds; ++round) {  // two to warm up
      const double a = round % 2 == 0 ? sender.exchange() : 0, limit = sender.copy();
      const double ms = round % 2 == 0 ? a : sender.exchange();
      if (round < 0) continue;
      exchanges.push_back(ms);
      copies.push_back(limit);
      ratios.push_back(limit / ms);
    }
    const bool mine = sender.is_right();
    if (world.rank() != RankId(0)) return;
    right = mine;
    std::printf(
        "{\"ranks\": %lld, \"row_bytes\": %lld, \"rows\": %lld, \"ms\": %.2f, \"limit_ms\": %.2f, \"us_per_row\": "
        "%.3f, \"ratio\": %.2f}\n",
        static_cast<long long>(job.ranks), static_cast<long long>(job.hidden * 4), static_cast<long long>(job.rows),
        median(exchanges), median(copies), median(exchanges) * 1000 / static_cast<double>(job.rows), median(ratios));
  });
  return right;
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  for (const reshard::Job& job : reshard::kJobs)
    if (!reshard::measure(job, std::max(rounds, 1))) return 1;
}
