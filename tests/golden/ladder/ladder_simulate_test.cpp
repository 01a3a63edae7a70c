// Every step gives the right values under every schedule that is tried, call after call.
#include <gtest/gtest.h>

#include <numeric>

#include "ladder/ladder.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

SimulateOptions schedule(Index ranks, std::uint64_t seed) {
  SimulateOptions options{.calls = 3, .seed = seed};
  options.devices.resize(static_cast<std::size_t>(ranks));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  if (seed % 2 == 1) options.slow = RankId(static_cast<Index>(seed) % ranks);
  return options;
}

TEST(LadderSimulate, RightUnderEverySchedule) {
  each_right_program([](const LadderFile&, const SymbolicProgram& program) {
    for (const Index ranks : {1, 2, 3, 4, 7})
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const SimulateReport report = simulate(program, schedule(ranks, seed));
        EXPECT_TRUE(report.correct) << ranks << " ranks, seed " << seed << ": " << report.message;
      }
  });
}

// Sizes that P divides, that it does not, and fewer elements than ranks.
TEST(LadderSimulate, RightAtEverySize) {
  each_right_program([](const LadderFile&, const SymbolicProgram& program) {
    for (const Index n : {1, 2, 6, 13}) {
      SimulateOptions options = schedule(3, static_cast<std::uint64_t>(n));
      options.sizes = {{"n", n}};
      const SimulateReport report = simulate(program, options);
      EXPECT_TRUE(report.correct) << "n = " << n << ": " << report.message;
    }
  });
}

}  // namespace
}  // namespace reshard
