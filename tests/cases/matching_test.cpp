// Class H: matching, order and deadlock between ranks. Counts that ranks must agree on are in counts_test.cpp.
#include <gtest/gtest.h>

#include "cases/program_cases.h"
#include "reshard/batch_move.h"
#include "reshard/error.h"
#include "reshard/stamp.h"

namespace reshard {
namespace {

void expect_moved(World& world, std::string_view source, std::string_view target, int times) {
  Tensor from = world.allocate(layout(source), "from"), to = world.allocate(layout(target), "to");
  for (std::uint64_t epoch = 1; epoch <= static_cast<std::uint64_t>(times); ++epoch) {
    stamp(from, epoch);
    redistribute(world, from, to);
    expect_stamped(to, epoch);
  }
}

// 64 MiB each.
TEST(CaseH, H1_TwoRanksSwapLargeShards) {
  on_every_fabric(2, [](World& world) {
    expect_moved(world, "i32[33554432] on (r=2) {0: r}", "i32[33554432] on (r=2)@[1,0] {0: r}", 1);
  });
}

// A cell for each side. What goes left arrives on the right.
constexpr std::string_view kHalo = R"(
program halo
size n = 4
input x : i64[n]
output y : i64[n + 2]
window left_halo : i64[1]
window right_halo : i64[1]
signal ready[2]
signal done[2]
init x[j] = me * n + j
expect y[j] = x@((me - 1) % P)[n - 1] if j == 0
expect y[j] = x@me[j - 1] if j > 0 && j <= n
expect y[j] = x@((me + 1) % P)[0] if j == n + 1

let left = (me - 1) % P
let right = (me + 1) % P
notify ready@left[1] += 1
notify ready@right[0] += 1
wait ready[0] >= call
wait ready[1] >= call
put right_halo@left <- x[0..1]
put left_halo@right <- x[n - 1..n]
fence
notify done@left[1] += 1
notify done@right[0] += 1
wait done[0] >= call
wait done[1] >= call
copy y[0..1] <- left_halo
copy y[1..n + 1] <- x
copy y[n + 1..n + 2] <- right_halo
)";

TEST(CaseH, H2_HalosGoByDirectionWhereBothNeighboursAreOneRank) {
  for (const Index ranks : {1, 2, 3}) expect_right(kHalo, ranks);
  EXPECT_EQ(fault_of(kHalo, 2, 2), std::nullopt);
  on_every_fabric(2, [](World& world) {
    ProgramRun run(world, parse_program(kHalo));
    run.fill_inputs();
    run.call();
    const auto y = run.span<Index>("y");
    const bool first = world.rank() == RankId(0);
    if (y[0] != (first ? 7 : 3) || y[5] != (first ? 4 : 0)) throw std::logic_error("halos are swapped");
  });
}

// 250 rows for each pair of 4 ranks, none beside another.
TEST(CaseH, H3_ManySeparateRowsForEachPair) {
  for (const Index ranks : {4, 3}) {
    const std::string mesh = "f32[4000,64] on (r=" + std::to_string(ranks) + ") ";
    on_every_fabric(ranks, [&](World& world) { expect_moved(world, mesh + "{0: r}", mesh + "{0: r:cyclic(1)}", 3); });
  }
}

void set_values(Tensor& tensor, float hundreds) {
  auto* const values = reinterpret_cast<float*>(tensor.bytes().data());
  for (int i = 0; i < 2; ++i) values[i] = hundreds + static_cast<float>(i);
}

void expect_values(const World& world, const Tensor& tensor, float hundreds) {
  const auto* const values = reinterpret_cast<const float*>(tensor.bytes().data());
  for (int i = 0; i < 2; ++i) {
    if (values[i] == hundreds + static_cast<float>(i)) continue;
    throw std::logic_error("rank " + std::to_string(world.rank().value()) + " holds " + std::to_string(values[i]));
  }
}

// Values are 100 for a and 200 for b, 10 for each rank, and the element.
TEST(CaseH, H4_RanksMayListTensorsInAnyOrder) {
  on_every_fabric(2, [](World& world) {
    const Layout source = layout("f32[4] on (r=2) {0: r}"), target = layout("f32[4] on (r=2)@[1,0] {0: r}");
    Tensor a = world.allocate(source, "a"), b = world.allocate(source, "b");
    Tensor a_moved = world.allocate(target, "a moved"), b_moved = world.allocate(target, "b moved");
    const float mine = world.rank() == RankId(0) ? 0 : 10, theirs = 10 - mine;
    set_values(a, 100 + mine);
    set_values(b, 200 + mine);
    std::vector<BatchMove::Pair> pairs{{&a, &a_moved}, {&b, &b_moved}};
    if (world.rank() == RankId(1)) std::swap(pairs[0], pairs[1]);
    BatchMove move(world, pairs);
    move.run();
    expect_values(world, a_moved, 100 + theirs);
    expect_values(world, b_moved, 200 + theirs);
  });
}

}  // namespace
}  // namespace reshard
