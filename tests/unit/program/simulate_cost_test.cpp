// The card from the text and the counters of the simulator are one.
#include <gmock/gmock.h>

#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using simulate_test::all_to_all;
using simulate_test::devices;

constexpr Index kRanks[] = {1, 2, 3, 4, 7};

void expect_one(const SymbolicProgram& program, Index ranks) {
  const CostCard card = cost_card(program, {.ranks = ranks});
  const SimulateReport report = simulate(program, {.devices = devices(ranks), .seed = 3});
  EXPECT_TRUE(report.correct) << report.message;
  EXPECT_EQ(card, report.cost) << card.text() << report.cost.text();
}

TEST(SimulateCost, OfAllToAll) {
  for (const Index ranks : kRanks) {
    SCOPED_TRACE(ranks);
    const Index n = 5, row = n * 8;
    const SymbolicProgram program = all_to_all(n);
    expect_one(program, ranks);
    for (const Index call : {1, 2}) {  // the second finds the signal cleared
      for (const CostCard::Rank& rank : cost_card(program, {.ranks = ranks, .call = call}).ranks) {
        EXPECT_EQ(rank.peer_bytes, (ranks - 1) * row);
        EXPECT_EQ(rank.bytes_put, ranks * row);
        EXPECT_EQ(rank.bytes_copied, ranks * row);
        EXPECT_EQ(rank.peer_notifications, 2 * (ranks - 1));
        EXPECT_EQ(rank.notifications, 3 * (ranks - 1));  // with the epilogue
        EXPECT_EQ(rank.waits, 2 * (ranks - 1));
        EXPECT_EQ(rank.rounds, ranks == 1 ? 0 : 2);
      }
    }
  }
}

TEST(SimulateCost, OfABarrier) {
  for (const Index ranks : kRanks) {
    SCOPED_TRACE(ranks);
    const SymbolicProgram program = simulate_test::barrier();
    expect_one(program, ranks);
    for (const Index call : {1, 4}) {
      for (const CostCard::Rank& rank : cost_card(program, {.ranks = ranks, .call = call}).ranks) {
        EXPECT_EQ(rank.notifications, ranks - 1);
        EXPECT_EQ(rank.waits, ranks - 1);
        EXPECT_EQ(rank.rounds, ranks == 1 ? 0 : 1);
      }
    }
  }
}

// Values go round once, one neighbour at a time.
TEST(SimulateCost, OfAChainIsAsDeepAsItIsLong) {
  const SymbolicProgram program = reshard::program("chain", [](Kernel& k) {
    const auto token = k.signal("token", {1});
    k.when(k.me() > 0, [&] { k.wait(token[0], Ge, 1); });
    k.when(k.me() < k.ranks() - 1, [&] { k.notify(token[0].on(k.me() + 1), Set, 1); });
  });
  for (const Index ranks : kRanks) {
    const CostCard card = cost_card(program, {.ranks = ranks});
    for (Index r = 0; r < ranks; ++r) EXPECT_EQ(card.ranks[static_cast<std::size_t>(r)].rounds, r);
  }
}

// One counter that all add to: the wait passes by the last of them, in one round.
TEST(SimulateCost, OfASharedCounter) {
  const SymbolicProgram program = reshard::program("shared", [](Kernel& k) {
    const auto all = k.signal("all", {1});
    k.each_peer([&](auto p) { k.notify(all[0].on(p), Add, 1); });
    k.wait(all[0], Ge, k.ranks() - 1);
  });
  for (const CostCard::Rank& rank : cost_card(program, {.ranks = 4}).ranks) EXPECT_EQ(rank.rounds, 1);
}

TEST(SimulateCost, OfDeferredOperationsFollowsFromInputs) {
  const SymbolicProgram program = reshard::program("some", [](Kernel& k) {
    const auto rows = k.input("rows", Dtype::i32, {8}), counts = k.input("counts", Dtype::i32, {1});
    const auto data = k.window("data", Dtype::i32, {8});
    k.init(counts, [&](auto) { return k.me() + k.call(); });
    k.each(0, counts.row(0).value(), [&](auto j) { k.put(data.row(2 * j % 8).on(0), rows.row(j)); });
    k.fence();
  });
  expect_one(program, 3);
  const CostCard card = cost_card(program, {.ranks = 3, .call = 2});
  for (Index r = 0; r < 3; ++r) {
    EXPECT_EQ(card.ranks[static_cast<std::size_t>(r)].bytes_put, 4 * (r + 2));
    EXPECT_EQ(card.ranks[static_cast<std::size_t>(r)].peer_bytes, r == 0 ? 0 : 4 * (r + 2));
  }
}

TEST(SimulateCost, ReadsAsATable) {
  EXPECT_EQ(
      cost_card(all_to_all(2), {.ranks = 2}).text(),
      "rank  bytes put  bytes got  from/to peers  copied  reduced  puts  gets  notifies  to peers  waits  rounds\n"
      "   0         32          0             16      32        0     2     0         3         2      2       2\n"
      "   1         32          0             16      32        0     2     0         3         2      2       2\n"
      " all         64          0             32      64        0     4     0         6         4      4       2\n");
}

}  // namespace
}  // namespace reshard
