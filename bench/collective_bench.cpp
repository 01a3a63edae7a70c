// Collective operations by each algorithm, beside the least they can cost: one plain copy of every byte straight from
// the peers' windows (of reductions, one pass over all terms), between two barriers. Rounds are interleaved; times are
// of the slowest rank, the median over rounds.
//
// collective_bench [FABRICS [RANKS [OPERATIONS [BYTES [ROUNDS]]]]], lists with commas, bytes of input or output per
// rank, whichever is more; one JSON object a line:
//   {"op": "all_to_all", "fabric": "shm", "ranks": 2, "bytes": 1024, "algorithm": "eager", "chosen": true, "us": 0.8,
//    "least_us": 0.7, "most_us": 1.1, "GB/s": 2.5}
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "kernel/copy.h"
#include "reshard/collective_timing.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard {
namespace {

struct Question {
  std::vector<std::string> fabrics, ranks, operations, bytes;
  int rounds;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

// Each to a core of its own, where there are enough, as launchers do.
void bind_to_core(const Endpoint& endpoint) {
  if (endpoint.ranks() > ::sysconf(_SC_NPROCESSORS_ONLN)) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(endpoint.rank().value(), &cores);
  ::sched_setaffinity(0, sizeof(cores), &cores);  // a wish: times are taken either way
}

void report(World& world, const std::string& fabric, CollectiveKind kind, Index bytes, int rounds) {
  const std::vector<AlgorithmTime> times = time_algorithms(world, kind, bytes, {.rounds = rounds});
  if (world.rank() != RankId(0)) return;
  const Algorithm chosen = Tuning::of_environment().choose(kind, world.ranks(), 1, bytes);
  for (const AlgorithmTime& time : times) {
    const double rate = static_cast<double>(bytes * world.ranks()) / time.seconds / 1e9;
    fmt::print(
        R"({{"op": "{}", "fabric": "{}", "ranks": {}, "bytes": {}, "algorithm": "{}", "chosen": {}, "us": {:.2f}, )"
        R"("least_us": {:.2f}, "most_us": {:.2f}, "GB/s": {:.2f}}})"
        "\n",
        name_of(kind), fabric, world.ranks(), bytes, name_of(time.algorithm), time.algorithm == chosen,
        1e6 * time.seconds, 1e6 * time.least, 1e6 * time.most, rate);
  }
  std::fflush(stdout);  // a process of a world ends without flushing
}

void run(const Question& question) {
  for (const std::string& fabric : question.fabrics) {
    for (const std::string& ranks : question.ranks) {
      const auto body = [&](Endpoint& endpoint) {
        bind_to_core(endpoint);
        World world(endpoint, {.timeout = std::chrono::minutes(2)});
        for (const std::string& operation : question.operations)
          for (const std::string& bytes : question.bytes)
            report(world, fabric, collective_named(operation).value(), std::stoll(bytes), question.rounds);
      };
      (fabric == "shm" ? run_processes : run_threads)(std::stoll(ranks), body, {.copy = copy_strided});
    }
  }
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  const auto list = [&](int place, const char* standard) {
    return reshard::words_of(argc > place ? argv[place] : standard);
  };
  try {
    reshard::run({.fabrics = list(1, "thread,shm"),
                  .ranks = list(2, "2,4,8"),
                  .operations = list(3, "all_to_all,all_gather,broadcast,reduce_scatter,all_reduce"),
                  .bytes = list(4, "1024,8192,65536,1048576,16777216,67108864"),
                  .rounds = std::stoi(list(5, "9").front())});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "collective_bench: %s\n", error.what());
    return 1;
  }
}
