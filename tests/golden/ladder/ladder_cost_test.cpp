// The cost that each page of the tutorial states, counted: the most that any rank moves from or to peers, tells them,
// and waits for, one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ladder/ladder.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

struct Stated {
  std::string step;
  std::string mode;
  std::function<Index(Index ranks, Index n)> elements;
  std::function<Index(Index ranks)> notifications;
  std::function<Index(Index ranks)> rounds;
};

Index none(Index, Index) { return 0; }
Index no_signal(Index) { return 0; }
Index row_per_peer(Index ranks, Index n) { return (ranks - 1) * n; }
Index two_rows(Index, Index n) { return 2 * n; }
Index one_row(Index, Index n) { return n; }
Index table(Index ranks, Index n) { return ranks * n; }
Index chunks_twice(Index ranks, Index n) { return 2 * (ranks - 1) * n / ranks; }
Index two_each(Index ranks) { return 2 * (ranks - 1); }
Index ring(Index ranks) { return 2 * (ranks - 1) + 1; }
template <Index number>
Index always(Index) {
  return number;
}

const Stated kStated[] = {
    {"01_hello_rank", "hand", none, no_signal, no_signal},
    {"01_hello_rank", "builtin", row_per_peer, two_each, always<2>},
    {"02_programming_model", "hand", none, no_signal, no_signal},
    {"02_programming_model", "builtin", table, two_each, always<2>},
    {"03_window_buffer", "hand", none, no_signal, no_signal},
    {"03_window_buffer", "builtin", row_per_peer, two_each, always<2>},
    {"04_barrier", "hand", row_per_peer, two_each, always<2>},
    {"04_barrier", "builtin", row_per_peer, two_each, always<2>},
    {"05_remote_load_store", "hand", two_rows, two_each, always<2>},
    {"05_remote_load_store", "builtin", row_per_peer, two_each, always<2>},
    {"06_put_get", "hand", two_rows, always<4>, always<4>},
    {"06_put_get", "builtin", row_per_peer, two_each, always<2>},
    {"07_dynamic_rank_count", "hand", row_per_peer, two_each, always<2>},
    {"07_dynamic_rank_count", "builtin", row_per_peer, two_each, always<2>},
    {"08_all_reduce_mesh", "hand", row_per_peer, two_each, always<2>},
    {"08_all_reduce_mesh", "builtin", row_per_peer, two_each, always<2>},
    {"09_all_reduce_two_phase", "hand", chunks_twice, two_each, always<2>},
    {"09_all_reduce_two_phase", "builtin", chunks_twice, two_each, always<2>},
    {"10_all_reduce_ring", "hand", chunks_twice, ring, ring},
    {"10_all_reduce_ring", "builtin", chunks_twice, ring, ring},
    {"11_all_reduce_reveal", "hand", row_per_peer, two_each, always<2>},
    {"11_all_reduce_reveal", "builtin", row_per_peer, two_each, always<2>},
    {"12_broadcast", "hand", one_row, [](Index ranks) { return ranks - 1; }, always<2>},
    {"12_broadcast", "builtin", one_row, two_each, always<2>},
    {"13_all_gather", "hand", row_per_peer, two_each, always<2>},
    {"13_all_gather", "builtin", row_per_peer, two_each, always<2>},
    {"14_reduce_scatter", "hand", row_per_peer, two_each, always<2>},
    {"14_reduce_scatter", "builtin", row_per_peer, two_each, always<2>},
    {"15_all_to_all", "hand", row_per_peer, two_each, always<2>},
    {"15_all_to_all", "builtin", row_per_peer, two_each, always<2>},
    {"16_putting_it_together", "hand", [](Index ranks, Index n) { return n + 2 * (ranks - 1) * n; }, two_each,
     always<2>},
    {"16_putting_it_together", "builtin", [](Index ranks, Index n) { return n + 2 * (ranks - 1) * n; },
     [](Index ranks) { return 6 * (ranks - 1); }, always<6>},
    {"16_putting_it_together", "one_round", [](Index ranks, Index n) { return n + 2 * (ranks - 1) * n; },
     [](Index ranks) { return 3 * (ranks - 1); }, always<3>},
};

Index most(const CostCard& card, Index CostCard::Rank::*counter) {
  return std::ranges::max(card.ranks, {}, counter).*counter;
}

TEST(LadderCost, AsThePagesSay) {
  constexpr Index n = 12;  // which every number of ranks here divides
  for (const Stated& stated : kStated) {
    const SymbolicProgram program = ladder_program({stated.step, stated.mode});
    const Index element = bytes_of(program.buffers.front().dtype);
    for (const Index ranks : {2, 3, 4}) {
      SCOPED_TRACE(stated.step + "." + stated.mode + ", " + std::to_string(ranks) + " ranks");
      const CostCard card = cost_card(program, {.ranks = ranks, .sizes = {{"n", n}}, .call = 2});
      EXPECT_EQ(most(card, &CostCard::Rank::peer_bytes), stated.elements(ranks, n) * element);
      EXPECT_EQ(most(card, &CostCard::Rank::peer_notifications), stated.notifications(ranks));
      EXPECT_EQ(most(card, &CostCard::Rank::rounds), stated.rounds(ranks));
    }
  }
}

TEST(LadderCost, OfEveryStep) {
  std::size_t stated = 0;
  each_right_program([&](const LadderFile& file, const SymbolicProgram&) {
    stated += static_cast<std::size_t>(
        std::ranges::count_if(kStated, [&](const Stated& s) { return s.step == file.step && s.mode == file.mode; }));
  });
  EXPECT_EQ(stated, std::size(kStated));
  EXPECT_EQ(stated, 33u);
}

}  // namespace
}  // namespace reshard
