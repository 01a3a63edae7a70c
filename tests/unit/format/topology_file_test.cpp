#include "reshard/topology_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "reshard/error.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSites = R"(ranks: 64
levels:
  rank: {alpha: 2 us, rate: 450 GB/s}
  host: {holds: 8, alpha: 5us, rate: 400 Gb/s}
  site:
    holds: {west: 0-2 7, east: 3-6}
    rate: 2GB/s
links:
  host 3: {rate: 25 GB/s}
  site east: {alpha: 0.5}
)";

std::string error_of(std::string_view yaml) {
  try {
    topology_from_yaml(yaml, "t.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(TopologyFile, ReadsLevelsRangesUnitsAndLinks) {
  const Topology t = topology_from_yaml(kSites, "t.yaml");
  EXPECT_EQ(t.ranks(), 64);
  EXPECT_EQ(t.link({0, 5}), (LinkCost{2 * 1e-6, 450 * 1e9}));
  EXPECT_EQ(t.link({1, 0}), (LinkCost{5 * 1e-6, 5e10}));
  EXPECT_EQ(t.link({1, 3}), (LinkCost{5 * 1e-6, 25 * 1e9}));
  EXPECT_EQ(t.link({2, 0}), (LinkCost{0, 2 * 1e9}));
  EXPECT_EQ(t.link({2, 1}), (LinkCost{0.5, 2 * 1e9}));
  EXPECT_EQ(t.node_of(2, RankId(63)), 0);
  EXPECT_EQ(t.node_of(2, RankId(24)), 1);
}

TEST(TopologyFile, JsonReadsAsWell) {
  const Topology t = topology_from_yaml(
      R"({"ranks": 4, "levels": {"rank": {"rate": 1e9}, "host": {"holds": ["0 3", "1-2"], "rate": 5e8, "alpha": 1e-6}}})",
      "t.json");
  EXPECT_EQ(t.node_of(1, RankId(3)), 0);
  EXPECT_EQ(t.node_of(1, RankId(2)), 1);
  EXPECT_EQ(t.link({1, 0}), (LinkCost{1e-6, 5e8}));
}

TEST(TopologyFile, TextReadsBackAsTheSame) {
  const Topology t = topology_from_yaml(kSites, "t.yaml");
  EXPECT_EQ(topology_from_yaml(t.text(), "text"), t) << t.text();
  const Topology lists =
      topology_from_yaml("ranks: 5\nlevels:\n  rank: {rate: 1}\n  host: {rate: 1, holds: [1-2, 0 3-4]}\n", "t");
  EXPECT_EQ(topology_from_yaml(lists.text(), "text"), lists) << lists.text();
}

TEST(TopologyFile, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("ranks: 8\n"), HasSubstr("needs 'levels'"));
  EXPECT_THAT(error_of("levels:\n  rank: {rate: 1}\n"), HasSubstr("needs 'ranks'"));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {alpha: 1 us}\n"),
              AllOf(StartsWith("t.yaml:3: "), HasSubstr("'rate'")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: 5 GB}\n"),
              AllOf(StartsWith("t.yaml:3: "), HasSubstr("rate is '5 GB'; write '50 GB/s'")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rates: 5}\n"), AllOf(StartsWith("t.yaml:3: "), HasSubstr("rates")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: 5}\n  host: {rate: 5, holds: [0-3, 4-9]}\n"),
              AllOf(StartsWith("t.yaml:4: "), HasSubstr("there are 8 of them")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: 5}\n  host: {rate: 5, holds: [0-3, 7-5]}\n"),
              AllOf(StartsWith("t.yaml:4: "), HasSubstr("'7-5' is no range")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: 5}\n  host: {rate: 5, holds: 0}\n"), HasSubstr("holds is 0"));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: -1}\n"),
              AllOf(StartsWith("t.yaml:3: "), HasSubstr("rate is -1")));
  EXPECT_THAT(error_of("ranks: 8\nlevels:\n  rank: {rate: 5}\nlinks:\n  rank 8: {rate: 1}\n"),
              AllOf(StartsWith("t.yaml:5: "), HasSubstr("no 'rank 8'"), HasSubstr("rank 0-7")));
}

TEST(TopologyFile, TheExamplesRead) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(RESHARD_TOPOLOGIES)) {
    const Topology t = load_topology(file.path().string());
    EXPECT_EQ(topology_from_yaml(t.text(), "text"), t) << file.path();
    ++files;
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace reshard
