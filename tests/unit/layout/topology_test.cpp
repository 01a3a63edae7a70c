#include "reshard/topology.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

TopologyLevel level(std::string name, double alpha, double rate, Index holds = 0) {
  return {.name = std::move(name), .link = {alpha, rate}, .holds = holds};
}

// 12 ranks, 4 per host, hosts 0 and 2 in the west.
TopologySpec two_sites() {
  TopologySpec spec{.ranks = 12, .levels = {level("rank", 1e-6, 1e9), level("host", 2e-6, 5e8, 4)}};
  spec.levels.push_back(level("site", 1e-3, 1e8));
  spec.levels.back().nodes = {{"west", {{0, 1}, {2, 1}}}, {"east", {{1, 1}}}};
  return spec;
}

std::string error_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "no error";
}

std::string error_of(TopologySpec spec) {
  return error_of([&] { Topology topology(std::move(spec)); });
}

TEST(Topology, KnowsWhoSharesWhat) {
  const Topology t(two_sites());
  EXPECT_EQ(t.levels(), 3);
  EXPECT_EQ(t.nodes(0), 12);
  EXPECT_EQ(t.nodes(1), 3);
  EXPECT_EQ(t.nodes(2), 2);
  EXPECT_EQ(t.node_of(1, RankId(9)), 2);
  EXPECT_EQ(t.node_of(2, RankId(9)), 0);
  EXPECT_EQ(t.node_of(2, RankId(5)), 1);
  EXPECT_EQ(t.meeting_level(RankId(3), RankId(3)), 0);
  EXPECT_EQ(t.meeting_level(RankId(0), RankId(3)), 1);
  EXPECT_EQ(t.meeting_level(RankId(0), RankId(8)), 2);
  EXPECT_EQ(t.meeting_level(RankId(0), RankId(4)), 3);
}

// Against the definition, for every pair: the links whose node has one end and not the other.
TEST(Topology, PathsHaveExactlyTheLinksThatSeparateTheEnds) {
  const Topology t(two_sites());
  for (Index a = 0; a < 12; ++a)
    for (Index b = 0; b < 12; ++b) {
      Topology::Path expected;
      for (int k = 0; k < 3; ++k) {
        if (t.node_of(k, RankId(a)) == t.node_of(k, RankId(b))) continue;
        expected.out.push_back({k, t.node_of(k, RankId(a))});
        expected.in.insert(expected.in.begin(), {k, t.node_of(k, RankId(b))});
      }
      EXPECT_EQ(t.path(RankId(a), RankId(b)), expected) << a << " -> " << b;
    }
}

TEST(Topology, PlacesKeepTheRanksOfEveryNodeTogether) {
  const Topology t(two_sites());
  for (int k = 0; k < t.levels(); ++k)
    for (Index node = 0; node < t.nodes(k); ++node) {
      std::set<Index> places;
      for (Index r = 0; r < t.ranks(); ++r)
        if (t.node_of(k, RankId(r)) == node) places.insert(t.place_of(RankId(r)));
      EXPECT_EQ(*places.rbegin() - *places.begin() + 1, std::ssize(places)) << t.node_name({k, node});
    }
}

TEST(Topology, NamesNodesAndFindsThem) {
  const Topology t(two_sites());
  for (int k = 0; k < t.levels(); ++k)
    for (Index node = 0; node < t.nodes(k); ++node) {
      const TopologyNode asked{k, node};
      EXPECT_EQ(t.find(t.node_name(asked)), asked);
    }
  EXPECT_EQ(t.node_name({2, 1}), "site east");
  for (const char* unknown : {"", "host", "host 3", "host -1", "host 1x", "site 1", "rack 0", "host 99999999999"})
    EXPECT_EQ(t.find(unknown), std::nullopt) << unknown;
}

TEST(Topology, ALinkMayBeUnlikeItsLevel) {
  TopologySpec spec = two_sites();
  spec.links = {{.node = "host 1", .rate = 2.5e8}, {.node = "site west", .alpha = 0.5}};
  const Topology t(spec);
  EXPECT_EQ(t.link({1, 0}), (LinkCost{2e-6, 5e8}));
  EXPECT_EQ(t.link({1, 1}), (LinkCost{2e-6, 2.5e8}));
  EXPECT_EQ(t.link({2, 0}), (LinkCost{0.5, 1e8}));
  EXPECT_DOUBLE_EQ(t.link({1, 1}).seconds(500'000'000, 3), 2 + 6e-6);
}

TEST(Topology, RegularLevelsSayHowManyRanksANodeHas) {
  const Topology t(two_sites());
  EXPECT_EQ(t.regular(0), 1);
  EXPECT_EQ(t.regular(1), 4);
  EXPECT_EQ(t.regular(2), 0);
  const Topology uneven({.ranks = 7, .levels = {level("rank", 0, 1), level("host", 0, 1, 3)}});
  EXPECT_EQ(uneven.nodes(1), 3);
  EXPECT_EQ(uneven.regular(1), 3);
}

TEST(Topology, RefusesWhatMakesNoSense) {
  const auto with = [](const std::function<void(TopologySpec&)>& change) {
    TopologySpec spec = two_sites();
    change(spec);
    return error_of(std::move(spec));
  };
  EXPECT_THAT(with([](auto& s) { s.ranks = 0; }), HasSubstr("0 ranks"));
  EXPECT_THAT(with([](auto& s) { s.levels.clear(); }), HasSubstr("no levels"));
  EXPECT_THAT(with([](auto& s) { s.levels[0].holds = 2; }), HasSubstr("hold nothing"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].holds = 0; }), HasSubstr("say how many nodes of level 'rank'"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].name = "rank"; }), HasSubstr("'rank' is there twice"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].name = "2nd"; }), HasSubstr("no digit first"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].link.rate = 0; }), HasSubstr("level 'host': rate is 0"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].link.alpha = -1; }), HasSubstr("alpha is -1"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].link.alpha = 1e308; }), HasSubstr("alpha is 1e+308"));
  EXPECT_THAT(with([](auto& s) { s.levels[1].link.rate = 1e-308; }), HasSubstr("rate is 1e-308"));
  EXPECT_THAT(with([](auto& s) {
                s.levels[2].nodes[1].members = {{0, 2}};
              }),
              HasSubstr("host 0 is in site 0 and in site 1"));
  EXPECT_THAT(with([](auto& s) { s.levels[2].nodes[1].members = {{3, 1}}; }), HasSubstr("there are 3 of them"));
  EXPECT_THAT(with([](auto& s) { s.levels[2].nodes.pop_back(); }), HasSubstr("host 1 is in no site"));
  EXPECT_THAT(with([](auto& s) { s.levels[2].nodes[1].name = "west"; }),
              HasSubstr("'west' is no name, or there twice"));
  EXPECT_THAT(with([](auto& s) { s.links = {{.node = "host 9", .where = "f.yaml:12"}}; }),
              testing::AllOf(testing::StartsWith("f.yaml:12: "), HasSubstr("no 'host 9'"), HasSubstr("host 0-2")));
}

TEST(Topology, RanksThatItLacksAreNamed) {
  const Topology t(two_sites());
  t.check(RankId(12), "the source");
  EXPECT_THAT(error_of([&] { t.check(RankId(14), "the source"); }),
              testing::AllOf(HasSubstr("the source needs rank 13"), HasSubstr("0-11")));
}

}  // namespace
}  // namespace reshard
