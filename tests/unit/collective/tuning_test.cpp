#include "reshard/tuning.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>

#include "reshard/collective_timing.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

constexpr Index kMore = std::numeric_limits<Index>::max();

TEST(Tuning, GoesByTheNearestGroupBelow) {
  const Tuning tuning = Tuning::parse(
      "# as measured\n"
      "all_reduce 2 1 100 eager\n"
      "all_reduce 2 1 more direct  # from 101 on\n"
      "\n"
      "all_reduce 4 1 10 eager\n"
      "all_reduce 4 1 more direct\n"
      "all_reduce 8 2 more two_level\n"
      "all_reduce 8 4 more direct\n");
  const auto chosen = [&](Index ranks, Index hosts, Index bytes) {
    return tuning.choose(CollectiveKind::all_reduce, ranks, hosts, bytes);
  };
  EXPECT_EQ(chosen(2, 1, 100), Algorithm::eager);
  EXPECT_EQ(chosen(2, 1, 101), Algorithm::direct);
  EXPECT_EQ(chosen(3, 1, 100), Algorithm::eager);
  EXPECT_EQ(chosen(7, 1, 100), Algorithm::direct);
  EXPECT_EQ(chosen(1, 1, 0), Algorithm::eager);
  EXPECT_EQ(chosen(4, 2, 5), Algorithm::two_level);
  EXPECT_EQ(chosen(9, 3, 5), Algorithm::two_level);
  EXPECT_EQ(chosen(9, 5, 5), Algorithm::direct);
  EXPECT_EQ(tuning.choose(CollectiveKind::all_gather, 2, 1, 5), Algorithm::direct);
}

TEST(Tuning, GoesByRuleWhereNothingWasMeasured) {
  const Tuning tuning({{CollectiveKind::all_reduce, 8, 1, kMore, Algorithm::direct}});
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    EXPECT_EQ(tuning.choose(kind, 8, 2, 1000), Algorithm::eager);
    EXPECT_EQ(tuning.choose(kind, 8, 2, 5000), Algorithm::two_level);
    EXPECT_EQ(tuning.choose(kind, 8, 2, 1 << 20), Algorithm::two_level);
    EXPECT_EQ(tuning.choose(kind, 4, 4, 5000), Algorithm::eager);
    EXPECT_EQ(tuning.choose(kind, 4, 4, 1 << 20), Algorithm::direct);
  }
  EXPECT_EQ(tuning.choose(CollectiveKind::all_to_all, 8, 2, 5000), Algorithm::two_level);
  EXPECT_EQ(tuning.choose(CollectiveKind::all_to_all, 8, 2, 1 << 20), Algorithm::direct);
  EXPECT_EQ(tuning.choose(CollectiveKind::all_to_all, 8, 1, 5), Algorithm::direct);
}

TEST(Tuning, AnAlgorithmIsLeftOnlyForAFasterOne) {
  const auto at = [](double eager, double direct) {
    return std::vector<AlgorithmTime>{{Algorithm::eager, eager}, {Algorithm::direct, direct}};
  };
  const std::vector<std::pair<Index, std::vector<AlgorithmTime>>> times = {
      {100, at(1.0, 2.0)}, {400, at(2.0, 1.95)}, {1600, at(4.0, 3.0)}, {6400, at(6.0, 6.1)}, {25600, at(9.0, 20.0)}};
  const std::vector<TuningRow> rows = rows_of(CollectiveKind::broadcast, 4, 1, times);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (TuningRow{CollectiveKind::broadcast, 4, 1, 800, Algorithm::eager}));
  EXPECT_EQ(rows[1], (TuningRow{CollectiveKind::broadcast, 4, 1, 12800, Algorithm::direct}));
  EXPECT_EQ(rows[2], (TuningRow{CollectiveKind::broadcast, 4, 1, kMore, Algorithm::eager}));
}

TEST(Tuning, TextIsReadAsWritten) {
  const Tuning tuning({{CollectiveKind::broadcast, 4, 2, kMore, Algorithm::two_level},
                       {CollectiveKind::all_to_all, 4, 1, 0, Algorithm::eager}});
  EXPECT_EQ(Tuning::parse(tuning.text()).rows(), tuning.rows());
  EXPECT_EQ(tuning.rows().front().kind, CollectiveKind::all_to_all);
  EXPECT_FALSE(Tuning::shipped().rows().empty());
}

TEST(Tuning, WhatIsNoTableIsRefused) {
  const auto message = [](const char* text) -> std::string {
    try {
      Tuning::parse(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* line :
       {"all_reduce 2 1 100", "reduce 2 1 100 eager", "all_reduce 0 1 1 eager", "all_reduce 2 1 -1 eager",
        "all_reduce 2 1 1 fast", "all_reduce 2 1 1 eager now", "all_reduce 2 1 1k eager"})
    EXPECT_THAT(message(("\n" + std::string(line)).c_str()),
                HasSubstr("line 2 of a tuning table, \"" + std::string(line)));
  EXPECT_THAT(message("all_reduce 2 1 5 eager\nall_reduce 2 1 5 direct\n"),
              HasSubstr("says twice what all_reduce of 2 ranks on 1 hosts does with up to 5 bytes"));
}

TEST(Tuning, OfTheEnvironment) {
  ::setenv("RESHARD_TUNING", "/nowhere/table.txt", 1);
  EXPECT_THROW(Tuning::of_environment(), Error);
  ::unsetenv("RESHARD_TUNING");
  EXPECT_EQ(Tuning::of_environment().rows(), Tuning::shipped().rows());
}

}  // namespace
}  // namespace reshard
