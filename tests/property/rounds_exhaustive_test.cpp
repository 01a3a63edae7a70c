// Rounds of the plans between all pairs of small layouts: as many as the greatest degree, none wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "property/all_layouts.h"
#include "property/rounds_check.h"

namespace reshard {
namespace {

using testing::IsEmpty;

constexpr int parts = 4;

// Even, uneven, and smaller than the mesh.
std::vector<std::vector<Index>> shapes_for(const SmallLayout& a, const SmallLayout& b, int dims) {
  const Index even = std::lcm(a.ranks(), b.ranks()), few = std::max<Index>(1, std::max(a.ranks(), b.ranks()) - 1);
  std::vector<std::vector<Index>> shapes = {{even, 2 * even, even}, {13, 11, 7}, {few, 2, 3}};
  for (std::vector<Index>& shape : shapes) shape.resize(static_cast<std::size_t>(dims));
  return shapes;
}

class RoundsOfAllPairs : public testing::TestWithParam<int> {
 protected:
  void check(const Layout& source, const Layout& target) {
    const std::vector<RankMessage> messages = messages_of(plan(source, target));
    ASSERT_THAT(oracle::rounds_faults(rank_rounds(messages), messages, false, [](RankId rank) { return rank; }),
                IsEmpty())
        << source.text() << "  ->  " << target.text();
    ASSERT_THAT(oracle::rounds_faults(host_rounds(messages, 2), messages, true,
                                      [](RankId rank) { return HostId(rank.value() / 2); }),
                IsEmpty())
        << source.text() << "  ->  " << target.text();
    if (plans_++ % 8 == 0) check_chunks(messages, source.text() + "  ->  " + target.text());
  }
  // Cut at every element, the rounds take the least time there is.
  void check_chunks(const std::vector<RankMessage>& messages, const std::string& where) {
    const ChunkRounds rounds = weighted_rounds(messages, {.least = 4});
    ASSERT_THAT(oracle::chunk_faults(rounds, messages), IsEmpty()) << where;
    ASSERT_EQ(rounds.length(), rounds.greatest_bytes) << where;
  }
  // This part's share of all ordered pairs, on the same ranks, half the same, and none the same.
  void check_pairs(int dims, int every) {
    const std::vector<SmallLayout> all = all_small_layouts(dims);
    int number = 0;
    for (const SmallLayout& a : all)
      for (const SmallLayout& b : all) {
        if (number++ % (parts * every) != GetParam()) continue;
        for (const std::vector<Index>& shape : shapes_for(a, b, dims))
          for (const Index base : {Index{0}, (a.ranks() + 1) / 2, a.ranks()}) {
            check(layout_of(a, shape, RankId(0)), layout_of(b, shape, RankId(base)));
            if (HasFailure()) return;
          }
      }
  }
  Index plans_ = 0;
};

TEST_P(RoundsOfAllPairs, AreAsManyAsTheGreatestDegree) {
  for (int dims = 1; dims <= 3; ++dims) check_pairs(dims, 1);
  fmt::print("plans with rounds: {} (part {} of {})\n", plans_, GetParam() + 1, parts);
}

INSTANTIATE_TEST_SUITE_P(Parts, RoundsOfAllPairs, testing::Range(0, parts));

}  // namespace
}  // namespace reshard
