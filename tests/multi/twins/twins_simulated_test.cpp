// Builtins and what is written by hand give the same under every schedule that is tried.
#include <gtest/gtest.h>

#include "twins/simulated.h"
#include "twins/twin_files.h"

namespace reshard::multi {
namespace {

// What an output holds, by call, rank and name.
using Outputs = std::map<std::tuple<Index, Index, std::string>, std::vector<std::byte>>;

// Allocations are numbered as they are declared, and lowering adds its own behind them.
std::map<int, std::string> outputs_by_window(const SymbolicProgram& program) {
  std::map<int, std::string> names;
  int window = 0;
  for (const BufferDeclaration& buffer : program.buffers) {
    if (!buffer.viewed.empty()) continue;
    if (buffer.role == BufferRole::output) names[window] = buffer.name;
    ++window;
  }
  return names;
}

Outputs simulated_outputs(const TwinFile& file, SimulateOptions options) {
  const std::map<int, std::string> names = outputs_by_window(file.program);
  Outputs outputs;
  options.observe = [&](Index call, RankId rank, int window, std::span<const std::byte> bytes) {
    if (const auto name = names.find(window); name != names.end())
      outputs[{call, rank.value(), name->second}].assign(bytes.begin(), bytes.end());
  };
  const SimulateReport report = simulate(file.program, options);
  EXPECT_TRUE(report.correct) << file.name << " on " << options.devices.size() << " ranks, seed " << options.seed
                              << ": " << report.message;
  return outputs;
}

class SimulatedTwins : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SimulatedTwins, ::testing::Values(1, 2, 3, 4, 7, 8));

TEST_P(SimulatedTwins, HandAndBuiltinGiveTheSame) {
  std::map<std::pair<std::string, Index>, Outputs> of_hand;
  for (const TwinPair& pair : twin_pairs()) {
    if (GetParam() < least_ranks(pair) || is_of_ladder(pair)) continue;  // the ladder has a test of its own
    for (std::uint64_t seed = 0; seed < (GetParam() > 7 ? 10u : 20u); ++seed) {
      const Index n = seed % 4 < 2 ? 3 : 5;
      const SimulateOptions options = schedule_of(GetParam(), seed, sizes_of(pair, n));
      const auto [hand, first] = of_hand.try_emplace({pair.hand.name, n});
      if (first) hand->second = simulated_outputs(pair.hand, options);
      EXPECT_EQ(simulated_outputs(pair.builtin, options), hand->second) << pair.builtin.name << ", seed " << seed;
    }
  }
}

// The hand-written ones under every schedule.
TEST_P(SimulatedTwins, HandIsRightUnderEverySchedule) {
  std::string last;
  for (const TwinPair& pair : twin_pairs()) {
    if (GetParam() < least_ranks(pair) || is_of_ladder(pair) || pair.hand.name == last) continue;
    last = pair.hand.name;
    for (std::uint64_t seed = 20; seed < (GetParam() > 4 ? 25u : 40u); ++seed)
      simulated_outputs(pair.hand, schedule_of(GetParam(), seed, sizes_of(pair, seed % 4 < 2 ? 3 : 5)));
  }
}

TEST_P(SimulatedTwins, IndexedRowsInEveryPattern) {
  const Index ranks = GetParam();
  for (const char* const name :
       {"indexed_patterns.hand.rp", "indexed_patterns.epoch.rp", "indexed_patterns.credits-2.rp"})
    for (const Index pattern : {0, 1, 2, 3, 4})
      for (const Index workers : {Index{1}, ranks, ranks + 2}) {
        const auto seed = static_cast<std::uint64_t>(pattern * 10 + workers);
        simulated_outputs({name, twin_program(name)},
                          schedule_of(ranks, seed, {{"pattern", pattern}, {"order", seed % 4}, {"workers", workers}}));
      }
}

TEST(SimulatedTwinFiles, EveryBuiltinHasATwin) {
  EXPECT_EQ(builtins_without_twin(), std::vector<std::string>{});
  EXPECT_GE(twin_pairs().size(), 40u);
}

}  // namespace
}  // namespace reshard::multi
