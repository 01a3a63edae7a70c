// Every step is right under all interleavings of three calls; every trap is caught.
#include <gtest/gtest.h>

#include <algorithm>

#include "ladder/ladder.h"
#include "reshard/check.h"
#include "reshard/program_verify.h"

namespace reshard {
namespace {

CheckReport checked(const SymbolicProgram& program, Index ranks) {
  return check(program, {.ranks = ranks, .calls = 3, .suggest = false});
}

TEST(LadderCheck, EveryStepPasses) {
  each_right_program([](const LadderFile&, const SymbolicProgram& program) {
    for (const Index ranks : {2, 3, 4}) {
      const CheckReport report = checked(program, ranks);
      EXPECT_TRUE(report.passed) << ranks << " ranks: " << report.text();
      EXPECT_FALSE(report.bounded) << ranks << " ranks, " << report.states << " states";
    }
  });
}

// Some are right at P = 2: that is the trap.
TEST(LadderCheck, EveryTrapIsCaught) {
  each_trap([](const LadderFile&, const SymbolicProgram& program) {
    const CheckReport report = checked(program, 3);
    EXPECT_FALSE(report.passed);
    EXPECT_FALSE(report.trace.empty());
  });
}

TEST(LadderCheck, SomeTrapsHideAtTwoRanks) {
  std::vector<std::string> hidden;
  each_trap([&](const LadderFile& file, const SymbolicProgram& program) {
    if (checked(program, 2).passed) hidden.push_back(file.step);
  });
  EXPECT_EQ(hidden,
            (std::vector<std::string>{"04_barrier", "06_put_get", "07_dynamic_rank_count", "10_all_reduce_ring"}));
}

TEST(LadderCheck, NothingIsWrongToTheEye) {
  each_right_program([](const LadderFile&, const SymbolicProgram& program) {
    for (const ProgramFault& fault : verify(program)) ADD_FAILURE() << fault.rule << ": " << fault.message;
  });
}

}  // namespace
}  // namespace reshard
