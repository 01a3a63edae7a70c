// RESHARD_UPDATE_GOLDEN=1 writes the lowered texts anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "composite_files.h"
#include "reshard/builder.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

TEST(Lowering, is_as_committed) {
  for (const CompositeFile& file : composite_files()) {
    SCOPED_TRACE(file.name);
    const std::string text = text_of(lower(program_in(file)));
    if (std::getenv("RESHARD_UPDATE_GOLDEN") != nullptr) std::ofstream(file.lowered) << text;
    EXPECT_EQ(text, contents_of(file.lowered));
  }
}

TEST(Lowering, parses_back_and_is_lowered_once) {
  for (const CompositeFile& file : composite_files()) {
    SCOPED_TRACE(file.name);
    const SymbolicProgram once = lower(program_in(file));
    EXPECT_EQ(text_of(parse_program(text_of(once))), text_of(once));
    EXPECT_EQ(text_of(lower(once)), text_of(once));
  }
}

TEST(Lowering, leaves_a_program_without_composites_alone) {
  const SymbolicProgram plain = program("plain", [](Kernel& k) {
    const auto x = k.input("x", Dtype::f32, {4}), y = k.output("y", Dtype::f32, {4});
    k.comment("as it is");
    k.copy(y, x);
  });
  EXPECT_EQ(text_of(lower(plain)), text_of(plain));
}

TEST(Lowering, names_do_not_meet) {
  // Everything that composites would like to call their own is taken, before and after.
  const SymbolicProgram lowered = lower(parse_program(R"(program names
window data : i32[6]
local terms : i32[1]
signal met[P]

for p in 0..2 { all_reduce(target = data, signal = met, mode = two_phase) }
let first = 1
for s in 0..first { fill terms <- s }
)"));
  const std::string text = text_of(lowered);
  EXPECT_THAT(text, testing::HasSubstr("local terms2 : i32[P, (6 + P - 1) / P]"));
  EXPECT_THAT(text, testing::HasSubstr("let first2 = "));
  EXPECT_THAT(text, testing::HasSubstr("for p2 in peers { notify met@p2[me] += 1 }"));
  EXPECT_THAT(text, testing::HasSubstr("let first = 1"));
  EXPECT_EQ(text_of(parse_program(text)), text);
}

std::vector<std::string> waits_of(const std::string& text) {
  std::vector<std::string> waits;
  for (std::size_t at = text.find("wait "); at != std::string::npos; at = text.find("wait ", at + 1))
    waits.push_back(text.substr(at, text.find_first_of("}\n", at) - at));
  return waits;
}

TEST(Lowering, numbers_the_rounds_of_a_whole_program) {
  const std::string text = text_of(lower(parse_program(R"(program rounds
size n = 2
signal met[P]

barrier(signal = met)
for t in 1..n {
  for k in 0..P { barrier(signal = met) }
  barrier(signal = met)
}
barrier(signal = met)
)")));
  // In a call: 1, then P + 1 for each t, then 1.
  EXPECT_THAT(
      waits_of(text),
      testing::ElementsAre(
          "wait met[s] >= (call - 1) * (1 + max(n - 1, 0) * (P + 1) + 1) + 1 ",
          "wait met[s] >= (call - 1) * (1 + max(n - 1, 0) * (P + 1) + 1) + (1 + (t - 1) * (P + 1) + k + 1) ",
          "wait met[s] >= (call - 1) * (1 + max(n - 1, 0) * (P + 1) + 1) + (1 + (t - 1) * (P + 1) + P + 1) ",
          "wait met[s] >= (call - 1) * (1 + max(n - 1, 0) * (P + 1) + 1) + (1 + max(n - 1, 0) * (P + 1) + 1) "));
}

TEST(Lowering, starts_are_counted_in) {
  const std::string text = text_of(lower(parse_program(R"(program starts
signal met[P] : 16 bits, credits-2, starts i0 * 100 + me

barrier(signal = met)
)")));
  EXPECT_THAT(waits_of(text), testing::ElementsAre("wait met[s] >= 1 + (s * 100 + me) "));
}

TEST(Lowering, lists_its_composites) {
  EXPECT_THAT(composite_names(),
              testing::ElementsAre("all_gather", "all_reduce", "all_to_all", "all_to_all_v", "barrier", "broadcast",
                                   "indexed_all_to_all_v", "redistribute", "reduce_scatter"));
}

}  // namespace
}  // namespace reshard
