#include "reshard/multicast_program.h"

#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

Topology one_switch(Index ranks) {
  return Topology({.ranks = ranks, .levels = {{.name = "rank", .link = {1e-6, 1e9}}}});
}

Multicast hops(Scheme scheme, Index chunks) {
  return multicast(plan(layout("u8[8] on (r=2) {0: r}"), layout("u8[8] on (r=4)@1 {}")), one_switch(5), scheme,
                   {.chunks = chunks});
}

TEST(MulticastProgram, OneRankAloneIsThatOfTheWhole) {
  for (const Scheme scheme : all_schemes()) {
    const Multicast m = hops(scheme, 3);
    const Program whole = multicast_program(m, 6);
    for (Index r = 0; r < 6; ++r) {
      const Program alone = multicast_program(m, RankId(r), 6);
      EXPECT_EQ(alone.operations[static_cast<std::size_t>(r)], whole.operations[static_cast<std::size_t>(r)]);
      EXPECT_EQ(alone.windows, whole.windows);
      EXPECT_EQ(alone.signals, whole.signals);
      for (Index other = 0; other < 6; ++other)
        EXPECT_TRUE(other == r || alone.operations[static_cast<std::size_t>(other)].empty());
    }
  }
}

// Every "arrived" slot of a rank is told once and awaited once in a run, and after the get that it stands for.
TEST(MulticastProgram, EverySignalHasOneNotifyAndOneWait) {
  for (const Scheme scheme : all_schemes()) {
    const Program p = multicast_program(hops(scheme, 3), 5);
    std::map<std::tuple<Index, int, Index>, int> told, awaited;
    for (Index r = 0; r < 5; ++r)
      for (const Operation& op : p.operations[static_cast<std::size_t>(r)]) {
        if (op.code == OpCode::notify) ++told[{op.peer.value(), op.signal, op.slot}];
        if (op.code == OpCode::wait) ++awaited[{r, op.signal, op.slot}];
      }
    EXPECT_EQ(told, awaited) << name_of(scheme);
    for (const auto& [key, count] : told) {
      EXPECT_EQ(count, 1);
      EXPECT_LT(std::get<2>(key), p.signals[static_cast<std::size_t>(std::get<1>(key))].slots);
    }
  }
}

// Rank 1 holds the second half and is first in the chain: it reads the first half, passes it on, and waits at the end.
TEST(MulticastProgram, ReadsLikeThis) {
  const Multicast m = multicast(plan(layout("u8[4] on (r=1) {}"), layout("u8[4] on (r=2)@1 {}")), one_switch(3),
                                Scheme::chain, {.chunks = 2});
  const Program p = multicast_program(m, 3);
  std::string codes;
  for (const Operation& op : p.operations[1])
    codes += op.code == OpCode::get      ? "get "
             : op.code == OpCode::wait   ? "wait:" + p.signals[static_cast<std::size_t>(op.signal)].name + " "
             : op.code == OpCode::notify ? "tell:" + p.signals[static_cast<std::size_t>(op.signal)].name + " "
                                         : "? ";
  EXPECT_EQ(codes, "wait:ready get tell:arrived get tell:arrived tell:done wait:done ");
}

TEST(MulticastProgram, AWorldThatIsTooSmallIsNamed) {
  const auto error_of = [](auto make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of([] { multicast_program(hops(Scheme::star, 1), 4); }),
              HasSubstr("names rank 4, but the world has 4"));
  EXPECT_THAT(error_of([] { multicast_program(hops(Scheme::star, 1), RankId(7), 5); }), HasSubstr("rank 7 is outside"));
}

}  // namespace
}  // namespace reshard
