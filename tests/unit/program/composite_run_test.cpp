// What composites do when they run: under seeded schedules, and under all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "composite_files.h"
#include "reshard/check.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

SimulateOptions on_ranks(Index ranks, std::uint64_t seed) {
  SimulateOptions options;
  options.devices.resize(static_cast<std::size_t>(ranks));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  options.calls = 3;
  options.seed = seed;
  return options;
}

TEST(Composites, are_right_under_seeded_schedules) {
  for (const CompositeFile& file : composite_files()) {
    const SymbolicProgram lowered = lower(program_in(file));
    for (const Index ranks : ranks_for(file))
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const SimulateReport report = simulate(lowered, on_ranks(ranks, seed));
        EXPECT_TRUE(report.finished && report.correct)
            << file.name << ", " << ranks << " ranks, seed " << seed << ": " << report.message;
      }
  }
}

TEST(Composites, are_right_under_every_schedule) {
  for (const CompositeFile& file : composite_files())
    for (const Index ranks : ranks_for(file)) {
      if (ranks == 1 || ranks > 4) continue;
      const CheckReport report = check(lower(program_in(file)), {.ranks = ranks, .calls = 3, .suggest = false});
      EXPECT_TRUE(report.passed && !report.bounded) << file.name << ", " << ranks << " ranks: " << report.message;
    }
}

// The contract of credits-1: the signal is free again, the window is not.
TEST(Composites, of_credits_1_leave_the_window_to_their_caller) {
  for (const CompositeFile& file : composite_files()) {
    if (!file.name.ends_with(".credits-1") || file.name.starts_with("barrier")) continue;
    std::string text = contents_of(file.path);
    const std::size_t barrier = text.find("barrier(signal = free)");
    ASSERT_NE(barrier, std::string::npos) << file.name;
    text.erase(barrier, text.find('\n', barrier) - barrier);
    const CheckReport report =
        check(lower(parse_program(text)), {.ranks = ranks_for(file).back(), .calls = 2, .suggest = false});
    EXPECT_FALSE(report.passed) << file.name;
    EXPECT_EQ(report.fault, CheckFault::race) << file.name << ": " << report.message;
  }
}

constexpr std::string_view kRefusing = R"(program refusing
size C = 2
size rows = 3
input x : i32[rows]
input counts : i32[P]
input index : i32[P, C]
output y : i32[P * C]
output received : i32[P]
window data : i32[P * C]
window sent : i32[P]
signal met[P, 2] : credits-2
init counts[d] = pick(call == 2 && me == 1 && d == 0, 1, BAD_COUNT)
init index[d, j] = pick(call == 2 && me == 1 && d == 0 && j == 0, d, BAD_INDEX)

copy sent <- counts
indexed_all_to_all_v(input = x, target = data, send_counts = sent, recv_counts = received, index = index, signal = met, workers = 2)
)";

std::string refusal(std::string count, std::string index) {
  std::string text(kRefusing);
  text.replace(text.find("BAD_COUNT"), 9, count);
  text.replace(text.find("BAD_INDEX"), 9, index);
  const CheckReport report = check(lower(parse_program(text)), {.ranks = 3, .calls = 3, .suggest = false});
  EXPECT_TRUE(report.passed) << report.message;  // on all ranks alike, and the signal is as it was
  return simulate(parse_program(text), on_ranks(3, 1)).message;
}

TEST(Composites, refuse_bad_counts_and_indices_on_all_ranks) {
  EXPECT_THAT(refusal("7", "0"), testing::HasSubstr("count 7 from rank 1 to rank 0 exceeds capacity C = 2"));
  EXPECT_THAT(refusal("-1", "0"), testing::HasSubstr("count -1 from rank 1 to rank 0 is negative"));
  EXPECT_THAT(refusal("1", "3"), testing::HasSubstr("index 3 from rank 1 to rank 0 is not below the 3 rows of input"));
  EXPECT_THAT(refusal("2", "-1"), testing::HasSubstr("index -1 from rank 1 to rank 0 is negative"));
  EXPECT_EQ(refusal("0", "-1"), "");  // what lies behind the count is not looked at
}

// Workers below, at and above the number of ranks; a hot destination, idle workers.
TEST(Composites, divide_indexed_rows_among_workers) {
  std::string text = contents_of(std::string(RESHARD_LOWERED) + "/indexed_one_worker.epoch.rp");
  text.replace(text.find("signal met[P]"), 13, "size B = 1\nsignal met[P, B]");
  text.replace(text.find("signal = met)"), 13, "signal = met, workers = B)");
  for (const std::string counts : {"(me + 2 * d) % (C + 1)", "pick(d == 0, 0, C)", "0", "C"}) {
    std::string with = text;
    for (std::size_t at = with.find("(me + 2 * d) % (C + 1)"); at != std::string::npos;
         at = with.find("(me + 2 * d) % (C + 1)", at + counts.size()))
      with.replace(at, 22, counts);
    const SymbolicProgram program = parse_program(with);
    for (Index ranks = 1; ranks <= 4; ++ranks)
      for (const Index workers : {1, 2, 3, 5, 8}) {
        SimulateOptions options = on_ranks(ranks, static_cast<std::uint64_t>(workers));
        options.sizes = {{"B", workers}};
        const SimulateReport report = simulate(program, options);
        EXPECT_TRUE(report.finished && report.correct)
            << counts << ", " << ranks << " ranks, " << workers << " workers: " << report.message;
      }
  }
}

}  // namespace
}  // namespace reshard
