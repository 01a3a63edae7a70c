#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using testing::ElementsAre;

constexpr std::string_view kHand = R"(program hand
size n = 64
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]

for d in 0..P { put data@d[me] <- x[d] }
fence
for p in peers { notify ready@p[me] = 1 }
for s in peers { wait ready[s] >= 1 }
for s in 0..P { copy y[s] <- data[s] }
)";

SymbolicProgram builtin(const std::string& protocol) {
  return parse_program(R"(program builtin
size width = 64
input mine : f32[P, width]
window inbox : f32[P, width]
signal met[P]

all_to_all(input = mine, target = inbox, signal = met, protocol = )" +
                       protocol + ")\n");
}

TEST(Diff, of_the_hand_written_exchange_and_the_builtin) {
  const ProgramDifference difference = diff(parse_program(kHand), builtin("credits-1"));
  EXPECT_FALSE(difference.same);
  EXPECT_TRUE(difference.same_phases);
  EXPECT_EQ(difference.text, R"(  size n = 64
  window data : f32[P, n]
  input x : f32[P, n]
- output y : f32[P, n]
  signal ready[P]
  for r in 0..P { put data@r[me] <- x[r] }
  fence
- for p in peers { notify ready@p[me] = 1 }
+ for p in peers { notify ready@p[me] += 1 }
  for p in peers { wait ready[p] >= 1 }
- for r in 0..P { copy y[r] <- data[r] }
+ for p in peers { notify ready@me[p] += -1 }
)");
  EXPECT_THAT(difference.left_phases,
              ElementsAre("put each rank", "fence", "notify each peer", "wait each peer", "copy each rank"));
  EXPECT_THAT(difference.right_phases,
              ElementsAre("put each rank", "fence", "notify each peer", "wait each peer", "notify oneself each peer"));
  EXPECT_EQ(difference.summary,
            "the same phases; left ends with: copy each rank; right ends with: notify oneself each peer");
}

TEST(Diff, shows_the_round_that_is_missing_by_hand) {
  const ProgramDifference difference = diff(parse_program(kHand), builtin("epoch"));
  EXPECT_FALSE(difference.same_phases);
  EXPECT_EQ(
      difference.summary,
      "other phases; right has before put each rank: notify each peer, wait each peer; left ends with: copy each rank");
}

TEST(Diff, sees_past_names_comments_rules_and_unused_declarations) {
  const ProgramDifference difference = diff(parse_program(kHand), parse_program(R"(program other
size unused = 3
size width = 64
output result : f32[P, width]
input mine : f32[P, width]
window inbox : f32[P, width]
window nothing : f32[P]
signal met[P]
init mine[d, j] = me * 100 + d

# every destination
for to in 0..P { put inbox@to[me] <- mine[to] }
fence
for p in 0..P { if p != me { notify met@p[me] = 1 } }
for from in 0..P { if me != from { wait met[from] >= 1 } }
for k in 0..P { copy result[k] <- inbox[k] }
)"));
  EXPECT_TRUE(difference.same) << difference.text;
  EXPECT_EQ(difference.summary, "the same but for names");
}

TEST(Diff, knows_one_statement_from_another) {
  std::string changed(kHand);
  changed.replace(changed.find("data@d[me] <- x[d]"), 18, "data@d[d] <- x[me]");
  const ProgramDifference difference = diff(parse_program(kHand), parse_program(changed));
  EXPECT_FALSE(difference.same);
  EXPECT_TRUE(difference.same_phases);
  EXPECT_EQ(difference.summary, "the same phases; statements differ");
  EXPECT_THAT(difference.text, testing::HasSubstr("- for r in 0..P { put data@r[me] <- x[r] }\n"
                                                  "+ for r in 0..P { put data@r[r] <- x[me] }\n"));
}

TEST(Diff, does_not_mix_up_names_that_only_one_side_has) {
  const ProgramDifference difference =
      diff(parse_program("program one\nwindow a : f32[2]\n\nfill a <- 0\n"),
           parse_program("program two\nwindow b : f32[2]\nwindow a : f32[2]\n\nfill b <- 0\nfill a <- 0\n"));
  EXPECT_EQ(difference.text, R"(  window a : f32[2]
+ window a2 : f32[2]
  fill a <- 0
+ fill a2 <- 0
)");
}

}  // namespace
}  // namespace reshard
