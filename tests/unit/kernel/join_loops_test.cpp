#include "kernel/join_loops.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace reshard::kernel {
namespace {

// Where each step of the walk goes from and to, in order.
std::vector<std::pair<Index, Index>> steps(std::span<const Stride> loops) {
  if (loops.empty()) return {{0, 0}};
  std::vector<std::pair<Index, Index>> all;
  for (Index i = 0; i < loops.front().count; ++i)
    for (const auto& [source, target] : steps(loops.subspan(1)))
      all.emplace_back(i * loops.front().source_bytes + source, i * loops.front().target_bytes + target);
  return all;
}

std::map<Index, Index> places(std::span<const Stride> loops) {
  std::map<Index, Index> places;
  for (const auto& [source, target] : steps(loops)) places.emplace(source, target);
  return places;
}

// By way of each element between the two.
std::map<Index, Index> by_way(std::span<const Stride> first, std::span<const Stride> second) {
  const std::map<Index, Index> on = places(second);
  std::map<Index, Index> whole;
  for (const auto& [source, between] : steps(first)) whole.emplace(source, on.at(between));
  return whole;
}

// A dense side for the counts, and for the other one strides that do not collide.
std::vector<Stride> walk_of(const std::vector<Index>& counts, Index Stride::*dense, Index Stride::*other, Index element,
                            std::mt19937_64& random) {
  std::vector<Stride> loops(counts.size());
  Index near = element, far = element;
  std::vector<std::size_t> order(counts.size());
  for (std::size_t l = 0; l < order.size(); ++l) order[l] = l;
  std::ranges::shuffle(order, random);
  for (std::size_t l = counts.size(); l-- > 0; near *= counts[l]) {
    loops[l].count = counts[l];
    loops[l].*dense = near;
  }
  for (const std::size_t l : order) {
    loops[l].*other = far;
    far *= counts[l] + static_cast<Index>(random() % 3);
  }
  return loops;
}

TEST(JoinLoops, GoWhereBothGoOneAfterTheOther) {
  const std::vector<std::vector<Index>> splits{{24},      {4, 6},     {2, 12}, {2, 3, 4},
                                               {4, 3, 2}, {1, 24, 1}, {6, 4},  {24, 1}};
  std::mt19937_64 random(7);
  int joined = 0;
  for (const Index element : {1, 4})
    for (const auto& a : splits)
      for (const auto& b : splits) {
        const auto first = walk_of(a, &Stride::target_bytes, &Stride::source_bytes, element, random);
        const auto second = walk_of(b, &Stride::source_bytes, &Stride::target_bytes, element, random);
        const auto loops = joined_loops(first, second, element);
        if (!loops) continue;
        ++joined;
        EXPECT_EQ(places(*loops), by_way(first, second)) << a.size() << " loops and " << b.size();
      }
  EXPECT_EQ(joined, 2 * 56) << "of " << 2 * splits.size() * splits.size();
}

TEST(JoinLoops, AreNoneWhereOneSideIsNotDense) {
  const Stride packed[] = {{3, 40, 8}, {2, 4, 4}}, gaps[] = {{3, 8, 12}, {2, 4, 4}}, out[] = {{6, 4, 100}};
  EXPECT_TRUE(joined_loops(packed, out, 4));
  EXPECT_FALSE(joined_loops(gaps, out, 4));
  const Stride every_other[] = {{3, 8, 4}};
  EXPECT_FALSE(joined_loops(packed, every_other, 4));
  const Stride fewer[] = {{3, 4, 4}};
  EXPECT_FALSE(joined_loops(packed, fewer, 4));
}

}  // namespace
}  // namespace reshard::kernel
