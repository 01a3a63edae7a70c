// Every pair of small layouts as an m2m map, equal to marking and recapturing where both divide evenly, refused where
// they do not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "property/all_layouts.h"
#include "property/marked.h"

namespace reshard {
namespace {

constexpr int parts = 4;

bool divides(const Layout& layout) {
  const std::vector<Index> counts = oracle::shard_counts(layout);
  for (std::size_t d = 0; d < counts.size(); ++d)
    if (layout.shape()[d] == 0 || layout.shape()[d] % counts[d] != 0) return false;
  return true;
}

void expect_refused(const Layout& source, const Layout& target) {
  try {
    m2m_map(source, target);
    ADD_FAILURE() << "not refused: " << source.text() << "  ->  " << target.text();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_NE(std::string(error.what()).find("plan()"), std::string::npos) << error.what();
  }
}

class M2MExhaustive : public testing::TestWithParam<int> {
 protected:
  Index equal_ = 0;
  Index refused_ = 0;

  void check(const SmallLayout& a, const SmallLayout& b, const std::vector<Index>& shape, RankId base) {
    const Layout source = layout_of(a, shape, RankId(0)), target = layout_of(b, shape, base);
    if (divides(source) && divides(target)) {
      expect_as_marked(source, target);
      ++equal_;
    } else {
      expect_refused(source, target);
      ++refused_;
    }
  }

  // This part's share of all ordered pairs, with shapes of which some divide.
  void check_pairs(int dims, Index spread) {
    const std::vector<SmallLayout> all = all_small_layouts(dims);
    int number = 0;
    for (const SmallLayout& a : all)
      for (const SmallLayout& b : all) {
        if (number++ % parts != GetParam() || HasFailure()) continue;
        const Index even = std::lcm(a.ranks(), b.ranks());
        // Equal rank sets, overlapping ones and disjoint ones.
        const RankId base(number / parts % 3 * spread);
        std::vector<std::vector<Index>> shapes = {{even}, {13}, {12}, {0}};
        if (dims == 2) shapes = {{even, 2 * even}, {12, 8}, {7, 4}, {0, 8}};
        for (const std::vector<Index>& shape : shapes) check(a, b, shape, base);
      }
    fmt::print("m2m maps: {} equal, {} refused ({}-D, part {} of {})\n", equal_, refused_, dims, GetParam() + 1, parts);
    EXPECT_GT(equal_, 0);
    EXPECT_GT(refused_, 0);
  }
};

TEST_P(M2MExhaustive, EveryPairOfOneDimensionalLayouts) { check_pairs(1, 4); }
TEST_P(M2MExhaustive, EveryPairOfTwoDimensionalLayouts) { check_pairs(2, 4); }

// Every choice of the axes that do not cut, pending.
std::vector<Layout> pending(const Layout& layout) {
  std::vector<std::size_t> free;
  for (std::size_t axis = 0; axis < layout.spec().kinds.size(); ++axis)
    if (layout.spec().kinds[axis].kind == AxisKind::Kind::replicate) free.push_back(axis);
  std::vector<Layout> all;
  for (unsigned choice = 1; choice < 1u << free.size(); ++choice) {
    LayoutSpec spec = layout.spec();
    for (std::size_t k = 0; k < free.size(); ++k)
      if (choice >> k & 1) spec.kinds[free[k]].kind = AxisKind::Kind::partial;
    all.emplace_back(spec);
  }
  return all;
}

TEST(M2MPending, EveryPendingSourceOfOneDimension) {
  const std::vector<SmallLayout> all = all_small_layouts(1);
  Index equal = 0;
  for (const SmallLayout& a : all)
    for (const SmallLayout& b : all) {
      const std::vector<Index> shape = {std::lcm(a.ranks(), b.ranks())};
      for (const Layout& source : pending(layout_of(a, shape, RankId(0)))) {
        if (HasFailure()) return;
        expect_as_marked(source, layout_of(b, shape, RankId(equal++ % 3 * 4)));
      }
    }
  fmt::print("m2m maps: {} equal, with pending sources\n", equal);
  EXPECT_GT(equal, 1000);
}

INSTANTIATE_TEST_SUITE_P(Parts, M2MExhaustive, testing::Range(0, parts));

}  // namespace
}  // namespace reshard
