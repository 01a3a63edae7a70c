// Acceptance cases of halos, named by their ids.
#include <gtest/gtest.h>

#include <algorithm>

#include "multi/halo/expect_halo.h"
#include "reshard/executor.h"
#include "reshard/thread_fabric.h"
#include "reshard/world.h"

namespace reshard {
namespace {

OwnedBox box(Index rank, Index row, Index column, Index rows, Index columns) {
  return {RankId(rank), {{GlobalIndex(row), GlobalIndex(column)}, {rows, columns}}};
}

// Runs the exchange of boxes of i64, value 10 * row + column; `look` sees what each rank holds.
void exchange_boxes(const HaloPlan& plan, const BoxList& list,
                    const std::function<void(RankId, const std::vector<Index>&)>& look) {
  const Index ranks = std::ssize(list.boxes());
  thread_ranks(ranks, [&](World& world) {
    const Box& own = list.boxes()[static_cast<std::size_t>(world.rank().value())].box;
    const HaloShard shard = plan.shard(world.rank());
    Endpoint& e = world.endpoint();
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    const WindowId source = e.create_window("source", own.elements() * 8, deadline);
    const WindowId target = e.create_window("target", shard.storage.elements * 8, deadline);
    const SignalId ready = e.create_signal("ready", ranks, deadline), done = e.create_signal("done", ranks, deadline);
    auto* at = reinterpret_cast<Index*>(e.memory(source).data());
    for (Index i = 0; i < own.sizes[0]; ++i)
      for (Index j = 0; j < own.sizes[1]; ++j) *at++ = 10 * (own.offsets[0].value() + i) + own.offsets[1].value() + j;
    Executor executor(plan.exchange_program(ranks, world.rank()), e);
    executor.bind({.windows = {source, target}, .signals = {ready, done}});
    executor.run(0, deadline);
    const auto* wide = reinterpret_cast<const Index*>(e.memory(target).data());
    look(world.rank(), std::vector<Index>(wide, wide + shard.storage.elements));
  });
}

TEST(CaseJ, J1_LocalExtentOfOne) {
  const BoxList list(Dtype::i64, {3, 4},
                     {box(0, 0, 0, 3, 2), box(1, 0, 2, 1, 2), box(2, 1, 2, 1, 2), box(3, 2, 2, 1, 2)});
  const Halo halo{{{0, 1, 1, HaloEdge::constant(-1)}, {1, 1, 1, HaloEdge::constant(-1)}}};
  const HaloPlan plan(list, halo);
  std::vector<halo_oracle::OwnBox> own;
  for (const OwnedBox& b : list.boxes())
    own.push_back({b.rank.value(), {b.box.offsets[0].value(), b.box.offsets[1].value()}, b.box.sizes});
  const auto shards = halo_oracle::shards_of({3, 4}, own, halo);
  exchange_boxes(plan, list, [&](RankId rank, const std::vector<Index>& wide) {
    const auto& shard = shards[static_cast<std::size_t>(rank.value())];
    for (const halo_oracle::Cell& cell : shard.cells) {
      const Index expected = cell.is_constant ? -1 : 10 * (cell.origin / 4) + cell.origin % 4;
      EXPECT_EQ(wide[static_cast<std::size_t>(cell.address)], expected)
          << "rank " << rank.value() << " cell " << cell.address;
    }
    const std::vector<Index> of_rank_2{1, 2, 3, -1, 11, 12, 13, -1, 21, 22, 23, -1};
    EXPECT_TRUE(rank != RankId(2) || wide == of_rank_2);
  });
  // An edge neighbour: rank 2 has a message from rank 0, and rank 0 one from rank 2.
  const Program program = plan.exchange_program(4);
  const auto gets_from = [&](std::size_t rank, Index owner) {
    return std::ranges::any_of(program.operations[rank],
                               [&](const Operation& op) { return op.code == OpCode::get && op.peer == RankId(owner); });
  };
  EXPECT_TRUE(gets_from(2, 0));
  EXPECT_TRUE(gets_from(0, 2));
}

void expect_cells(const Tensor& wide, std::vector<Index> expected) {
  std::vector<Index> seen;
  for (Index k = 0; k < wide.storage().extents[0]; ++k) seen.push_back(wide.at<Index>({k}));
  EXPECT_EQ(seen, expected) << "rank " << wide.rank().value();
}

// Cells 0, 1, ..
Tensor counted(World& world, const Layout& in) {
  Tensor x = world.allocate(in);
  for (const Segment& segment : x.region().dims[0])
    for (Index k = 0; k < segment.length; ++k) x.at<Index>({segment.local.value() + k}) = segment.global.value() + k;
  return x;
}

TEST(CaseJ, J2_HaloWiderThanTheNeighboursShard) {
  thread_ranks(4, [](World& world) {
    const Tensor x = counted(world, layout("i64[8] on (x=4) {0: x}"));
    const Tensor wide = halo_exchange(world, x, {{{0, 3, 3, HaloEdge::none()}}});
    const std::vector<Index> expected[] = {
        {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7}, {3, 4, 5, 6, 7}};
    expect_cells(wide, expected[world.rank().value()]);
  });
}

TEST(CaseJ, J4_GroupOfOne) {
  thread_ranks(1, [](World& world) {
    const Tensor x = counted(world, layout("i64[4] on (x=1) {0: x}"));
    expect_cells(halo_exchange(world, x, {{{0, 1, 1, HaloEdge::none()}}}), {0, 1, 2, 3});
    expect_cells(halo_exchange(world, x, {{{0, 1, 1, HaloEdge::zero()}}}), {0, 0, 1, 2, 3, 0});
    expect_cells(halo_exchange(world, x, {{{0, 1, 1, HaloEdge::periodic()}}}), {3, 0, 1, 2, 3, 0});
  });
}

// A group that is not there is no group of one: along a dimension that no axis cuts, edges apply all the same.
TEST(CaseJ, J4_NoAxisCutsTheDimension) {
  thread_ranks(2, [](World& world) {
    const Tensor x = counted(world, layout("i64[4] on (x=2) {}"));
    expect_cells(halo_exchange(world, x, {{{0, 1, 1, HaloEdge::periodic()}}}), {3, 0, 1, 2, 3, 0});
  });
}

TEST(CaseJ, J4_PeriodicInThreeDimensions) {
  for (const auto& [ranks, mesh] :
       {std::pair(2, "(a=2, b=1, c=1)"), std::pair(4, "(a=2, b=2, c=1)"), std::pair(6, "(a=1, b=2, c=3)")})
    thread_ranks(ranks, [&](World& world) {
      multi::expect_halo(
          world, layout(std::string("i64[4,5,6] on ") + mesh + " {0: a, 1: b, 2: c}"),
          {{{0, 1, 1, HaloEdge::periodic()}, {1, 1, 1, HaloEdge::periodic()}, {2, 1, 1, HaloEdge::periodic()}}});
    });
}

TEST(CaseJ, J5_MoreRanksThanRows) {
  const Layout in = layout("i64[6,10,10] on (x=7) {0: x}");
  const Halo halo{{{0, 1, 1, HaloEdge::none()}}};
  const HaloPlan plan(in, halo);
  EXPECT_EQ(plan.shard(RankId(0)).extents, (std::vector<Index>{2, 10, 10}));
  EXPECT_EQ(plan.shard(RankId(3)).extents, (std::vector<Index>{3, 10, 10}));
  EXPECT_EQ(plan.shard(RankId(5)).extents, (std::vector<Index>{2, 10, 10}));
  EXPECT_EQ(plan.shard(RankId(6)).extents, (std::vector<Index>{0, 10, 10}));
  const Program program = plan.exchange_program(7);
  EXPECT_TRUE(program.operations[6].empty());
  for (const Operation& op : program.operations[5]) EXPECT_TRUE(op.code != OpCode::get || op.peer == RankId(4));
  thread_ranks(7, [&](World& world) { multi::expect_halo(world, in, halo); });
}

// The output side of an uneven transpose, widened.
TEST(CaseJ, J8_TransposeThenHalo) {
  thread_ranks(3, [](World& world) {
    const Layout rows = layout("i64[7,5] on (x=3) {0: x}"), columns = layout("i64[7,5] on (x=3) {1: x}");
    Tensor x = world.allocate(rows);
    for (Index i = 0; i < x.storage().extents[0]; ++i)
      for (Index j = 0; j < 5; ++j) x.at<Index>({i, j}) = 10 * (x.region().dims[0].front().global.value() + i) + j;
    const Tensor y = redistribute(world, x, columns);
    const Tensor wide = halo_exchange(world, y, {{{1, 1, 1, HaloEdge::zero()}}});
    const Index first = 2 * world.rank().value() - 1;
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < wide.storage().extents[1]; ++j) {
        const Index column = first + j;
        EXPECT_EQ(wide.at<Index>({i, j}), column < 0 || column > 4 ? 0 : 10 * i + column)
            << "rank " << world.rank().value() << " [" << i << "," << j << "]";
      }
  });
}

}  // namespace
}  // namespace reshard
