// What planning costs on one core: time of one rank's own part of a plan, and size of a layout's description. Each
// figure is checked as it is made: transfers that do not add up to what the rank holds end the program with status 1.
//
// plan_bench [WHAT..], without WHAT all of it, one JSON object a line; the last one is {"measured": .., "note": ".."}:
//   own       microseconds per rank, mean over many ranks, between two meshes of 131,072 ranks
//   message   microseconds per transfer that one rank's part lists, on grids of 2 to 1024 ranks: the worst grids
//   layout    bytes that describe a tensor on 1,048,576 ranks: its text, or the object and what it owns, the greater
//   growth    microseconds per rank, by number of ranks, of two moves
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "reshard/plan.h"

namespace {
std::size_t bytes_requested = 0;  // of the allocator, so far
}

void* operator new(std::size_t bytes) {
  bytes_requested += bytes;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace reshard {
namespace {

constexpr int rounds = 7;  // the fastest counts: what other work does to the caches is none of planning's cost

// Of this thread: other work on the machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// One rank's part: what it receives and what it sends.
struct Part {
  std::vector<Transfer> receives;
  std::vector<Transfer> sends;
  Part(const Layout& source, const Layout& target, RankId rank)
      : receives(plan_receives(source, target, rank)), sends(plan_sends(source, target, rank)) {}
  // Both lists; a local copy stands in each.
  Index transfers() const { return std::ssize(receives) + std::ssize(sends); }
};

Index elements_of(const std::vector<Transfer>& transfers) {
  Index elements = 0;
  for (const Transfer& transfer : transfers) elements += transfer.elements();
  return elements;
}

// Only for layouts without copies, where a rank sends all that it holds.
void check(const Part& part, const Layout& source, const Layout& target, RankId rank) {
  if (elements_of(part.receives) != target.region(rank).elements())
    throw std::runtime_error(fmt::format("rank {} receives something else than it holds", rank.value()));
  if (elements_of(part.sends) != source.region(rank).elements())
    throw std::runtime_error(fmt::format("rank {} sends something else than it holds", rank.value()));
}

struct Cost {
  double microseconds = 0;  // per rank
  double transfers = 0;     // per rank
};

// `count` ranks, spread over the world.
Cost cost_of(const Layout& source, const Layout& target, Index count) {
  const Index world = std::max(source.mesh().end_rank().value(), target.mesh().end_rank().value());
  std::vector<RankId> ranks;
  for (Index k = 0; k < count; ++k) ranks.emplace_back(k * world / count);
  Index transfers = 0;
  for (const RankId rank : ranks) {
    const Part part(source, target, rank);
    check(part, source, target, rank);
    transfers += part.transfers();
  }
  // Small plans are repeated until the clock's own cost does not show.
  const Index repeats = 1 + 20'000 / (transfers + 1);
  double fastest = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    std::size_t listed = 0;  // used below, so that no plan is optimised away
    const double start = processor_seconds();
    for (Index repeat = 0; repeat < repeats; ++repeat)
      for (const RankId rank : ranks) {
        const Part part(source, target, rank);
        listed += part.receives.size() + part.sends.size();
      }
    const double spent = processor_seconds() - start;
    if (listed == 0) throw std::runtime_error("nothing was planned");
    fastest = std::min(fastest, spent / static_cast<double>(repeats * count));
  }
  return {1e6 * fastest, static_cast<double>(transfers) / static_cast<double>(count)};
}

void print(double measured, const std::string& note) {
  fmt::print("{{\"measured\": {:.3g}, \"note\": \"{}\"}}\n", measured, note);
}

void measure_own() {
  const Layout source = layout("bf16[16384,53248] on (a=64, b=16, c=128) {0: a b, 1: c}");
  const Layout target = layout("bf16[16384,53248] on (a=256, b=8, c=64) {0: a b, 1: c}");
  const Cost cost = cost_of(source, target, 10'000);
  print(cost.microseconds, fmt::format("{} of 131,072 ranks, {:.3g} transfers each", 10'000, cost.transfers));
}

std::string on_grid(Index rows, Index columns) {
  return fmt::format("f32[8192,8192] on (y={}, x={}) {{0: y, 1: x}}", rows, columns);
}

struct Grids {
  Index source_rows, source_columns, target_rows, target_columns;
};

constexpr Grids grids[] = {{4, 1, 2, 2},     {2, 1, 1, 2},     {8, 1, 1, 8},       {64, 1, 1, 64},   {64, 1, 8, 8},
                           {256, 1, 1, 256}, {256, 1, 16, 16}, {1024, 1, 1, 1024}, {1024, 1, 32, 32}};

std::string name_of(const Grids& g) {
  return fmt::format("{}x{} -> {}x{}", g.source_rows, g.source_columns, g.target_rows, g.target_columns);
}

Cost cost_on(const Grids& g) {
  const Layout source = layout(on_grid(g.source_rows, g.source_columns));
  const Layout target = layout(on_grid(g.target_rows, g.target_columns));
  return cost_of(source, target, std::min<Index>(source.mesh().size(), 64));
}

// The grids take turns: a slow moment of the machine then costs each of them one turn, not one of them all its rounds.
void measure_message() {
  constexpr int turns = 5;
  std::vector<Cost> costs;
  for (const Grids& g : grids) costs.push_back(cost_on(g));
  for (int turn = 1; turn < turns; ++turn)
    for (std::size_t k = 0; k < costs.size(); ++k)
      costs[k].microseconds = std::min(costs[k].microseconds, cost_on(grids[k]).microseconds);
  std::size_t worst = 0;
  const auto each = [&](std::size_t k) { return costs[k].microseconds / costs[k].transfers; };
  for (std::size_t k = 0; k < costs.size(); ++k) {
    fmt::print(R"({{"grids": "{}", "us_per_rank": {:.3g}, "transfers": {:.4g}, "us_per_transfer": {:.3g}}})"
               "\n",
               name_of(grids[k]), costs[k].microseconds, costs[k].transfers, each(k));
    if (each(k) > each(worst)) worst = k;
  }
  print(each(worst), name_of(grids[worst]));
}

// Bytes that a layout asks the allocator for, beside the object itself: those that a copy asks for.
std::size_t owned_by(const Layout& layout) {
  const std::size_t before = bytes_requested;
  const Layout copy = layout;
  return bytes_requested - before;
}

void measure_layout() {
  const Layout l = layout("bf16[16384,53248] on trainer(pp=32, dp=256, tp=128) {0: tp dp, pp: at(31)}");
  const std::size_t owned = owned_by(l), text = l.text().size();
  if (l.mesh().size() != 1'048'576 || layout(l.text()) != l) throw std::runtime_error("the text is another layout");
  fmt::print(R"({{"layout": "{}", "text": {}, "object": {}, "owned": {}}})"
             "\n",
             l.text(), text, sizeof l, owned);
  print(static_cast<double>(std::max(sizeof l + owned, text)),
        fmt::format("text {}, object {}, owned by it {}", text, sizeof l, owned));
}

// One rank's part of one move, by number of ranks; bench/replay sets another way of planning beside it.
void print_growth(const char* move, Index ranks, const std::string& from, const std::string& to) {
  const Layout source = layout(from), target = layout(to);
  const RankId rank(ranks / 2);
  const Cost cost = cost_of(source, target, std::min<Index>(ranks, 64));
  fmt::print(R"({{"move": "{}", "ranks": {}, "us": {:.3g}, "rank": {}, "transfers": {}}})"
             "\n",
             move, ranks, cost.microseconds, rank.value(), Part(source, target, rank).transfers());
}

void measure_growth() {
  for (Index n = 4; n <= 1024; n *= 4)
    print_growth("rows to columns", n, fmt::format("f32[8192,8192] on (r={}) {{0: r}}", n),
                 fmt::format("f32[8192,8192] on (r={}) {{1: r}}", n));
  for (Index n = 4; n <= 1024; n *= 4)
    print_growth("rows to fewer rows", n, fmt::format("f32[12288,64] on (r={}) {{0: r}}", n),
                 fmt::format("f32[12288,64] on (r={})@{} {{0: r}}", n * 3 / 4, n));
}

using Measurement = void (*)();
const std::map<std::string, Measurement> measurements = {
    {"own", measure_own}, {"message", measure_message}, {"layout", measure_layout}, {"growth", measure_growth}};

int run(const std::vector<std::string>& wanted) {
  if (wanted.empty())
    for (const auto& [unused, measurement] : measurements) measurement();
  for (const std::string& name : wanted) measurements.at(name)();
  return 0;
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  try {
    return reshard::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plan_bench: %s\n", error.what());
    return 1;
  }
}
