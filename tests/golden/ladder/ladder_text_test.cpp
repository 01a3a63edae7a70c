// The ladder as text: sixteen steps in two modes, each the text that the printer writes, each unrolled at any number of
// ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ladder/ladder.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

TEST(LadderText, SixteenStepsInTwoModes) {
  std::map<std::string, std::set<std::string>> modes;
  for (const LadderFile& file : ladder_files()) modes[file.step].insert(file.mode);
  EXPECT_EQ(modes.size(), 16u);
  for (const auto& [step, of_step] : modes) EXPECT_THAT(of_step, testing::IsSupersetOf({"hand", "builtin"})) << step;
}

TEST(LadderText, PrintsAsWritten) {
  for (const LadderFile& file : ladder_files())
    EXPECT_EQ(text_of(ladder_program(file)), ladder_text(file)) << file.name();
}

TEST(LadderText, LoweringTwiceIsLoweringOnce) {
  for (const LadderFile& file : ladder_files()) {
    SCOPED_TRACE(file.name());
    const SymbolicProgram lowered = lower(ladder_program(file));
    EXPECT_EQ(text_of(lower(lowered)), text_of(lowered));
    EXPECT_EQ(text_of(parse_program(text_of(lowered))), text_of(lowered));
  }
}

// What the pages of these steps say.
TEST(LadderText, SomeBuiltinsAreTheProgramByHand) {
  for (const std::string step : {"04_barrier", "11_all_reduce_reveal", "15_all_to_all"}) {
    const ProgramDifference difference = diff(ladder_program({step, "hand"}), ladder_program({step, "builtin"}));
    EXPECT_TRUE(difference.same) << step << ": " << difference.summary << "\n" << difference.text;
  }
  EXPECT_TRUE(
      diff(ladder_program({"13_all_gather", "hand"}), ladder_program({"13_all_gather", "builtin"})).same_phases);
}

TEST(LadderText, UnrollsAtAnyNumberOfRanks) {
  each_right_program([](const LadderFile&, const SymbolicProgram& program) {
    for (Index ranks = 1; ranks <= 9; ++ranks)
      for (const Index call : {1, 2})
        EXPECT_EQ(unroll(lower(program), {.ranks = ranks, .call = call}).operations.size(),
                  static_cast<std::size_t>(ranks));
  });
}

}  // namespace
}  // namespace reshard
