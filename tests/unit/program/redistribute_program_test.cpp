#include <gmock/gmock.h>

#include "reshard/error.h"
#include "reshard/program.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The example of the design page: four row shards to 2 x 2 blocks.
const char* const rows = "f32[8,8] on (r=4) {0: r}";
const char* const blocks = "f32[8,8] on (y=2, x=2) {0: y, 1: x}";

TEST(RedistributeProgram, TextNamesEveryOperation) {
  const Program program = redistribute_program(plan(layout(rows), layout(blocks)), 4);
  EXPECT_EQ(program.text(),
            "program redistribute on 4 ranks\n"
            "window source bytes 64 64 64 64\n"
            "window target bytes 64 64 64 64\n"
            "signal ready slots 4\n"
            "signal done slots 4\n"
            "rank 0\n"
            "  notify ready[0] on 1 set 1+1k\n"
            "  copy source -> target [0 -> 0 row 16 x 2(32, 16)]\n"
            "  wait ready[1] >= 1+1k\n"
            "  get source on 1 -> target [0 -> 32 row 16 x 2(32, 16)]\n"
            "  notify done[0] on 1 set 1+1k\n"
            "  wait done[1] >= 1+1k\n"
            "rank 1\n"
            "  notify ready[1] on 0 set 1+1k\n"
            "  copy source -> target [16 -> 32 row 16 x 2(32, 16)]\n"
            "  wait ready[0] >= 1+1k\n"
            "  get source on 0 -> target [16 -> 0 row 16 x 2(32, 16)]\n"
            "  notify done[1] on 0 set 1+1k\n"
            "  wait done[0] >= 1+1k\n"
            "rank 2\n"
            "  notify ready[2] on 3 set 1+1k\n"
            "  copy source -> target [0 -> 0 row 16 x 2(32, 16)]\n"
            "  wait ready[3] >= 1+1k\n"
            "  get source on 3 -> target [0 -> 32 row 16 x 2(32, 16)]\n"
            "  notify done[2] on 3 set 1+1k\n"
            "  wait done[3] >= 1+1k\n"
            "rank 3\n"
            "  notify ready[3] on 2 set 1+1k\n"
            "  copy source -> target [16 -> 32 row 16 x 2(32, 16)]\n"
            "  wait ready[2] >= 1+1k\n"
            "  get source on 2 -> target [16 -> 0 row 16 x 2(32, 16)]\n"
            "  notify done[3] on 2 set 1+1k\n"
            "  wait done[2] >= 1+1k\n");
}

// Ranks 0 and 1 are on one host, 2 and 3 each on another.
TEST(RedistributeProgram, BytesForAnotherHostArePut) {
  const Program program = redistribute_program(plan(layout(rows), layout(blocks)), 4, RankHosts({0, 0, 1, 2}));
  const std::string text = program.text();
  EXPECT_THAT(text.substr(text.find("rank 2")),
              "rank 2\n"
              "  notify ready[2] on 3 set 1+1k\n"
              "  wait ready[3] >= 1+1k\n"
              "  put source -> target on 3 [16 -> 0 row 16 x 2(32, 16)]\n"
              "  copy source -> target [0 -> 0 row 16 x 2(32, 16)]\n"
              "  fence\n"
              "  notify done[2] on 3 set 1+1k\n"
              "  wait done[3] >= 1+1k\n"
              "rank 3\n"
              "  notify ready[3] on 2 set 1+1k\n"
              "  wait ready[2] >= 1+1k\n"
              "  put source -> target on 2 [0 -> 32 row 16 x 2(32, 16)]\n"
              "  copy source -> target [16 -> 32 row 16 x 2(32, 16)]\n"
              "  fence\n"
              "  notify done[3] on 2 set 1+1k\n"
              "  wait done[2] >= 1+1k\n");
  EXPECT_THAT(text.substr(0, text.find("rank 2")), testing::Not(HasSubstr("put")));
}

TEST(RedistributeProgram, OwnOperationsAreThoseOfTheWholeProgram) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {rows, blocks},
      {"i64[5] on (a=2, b=2) {0: a b}", "i64[5] on (a=2, b=2) {}"},
      {"f32[7,5] on (x=3) {0: x}", "f32[7,5] on (x=3)@2 {1: x} order(1,0)"},
      {"u8[16] on (x=2)@[5,2] {0: x}", "u8[16] on (x=5) {0: x:cyclic(3)}"},
      {"i32[7,5] on (x=3) {x: partial(sum)}", "i32[7,5] on (x=3)@2 {1: x} order(1,0)"},
      {"i32[7,5] on (x=3, y=2) {x: partial(max), 0: y}", "i32[7,5] on (y=2, x=3) {1: y, x: partial(max)}"},
      {"i32[7] on (x=3)", "i32[7] on (x=3) {x: partial(product)}"},
  };
  for (const auto& [from, to] : pairs) {
    const Layout source = layout(from), target = layout(to);
    const RankHosts hosts = from.starts_with("i64") ? RankHosts() : RankHosts({0, 1, 0, 1, 1, 2, 2});
    const Program whole = redistribute_program(plan(source, target), 7, hosts);
    for (Index r = 0; r < 7; ++r) {
      const Program own = redistribute_program(source, target, RankId(r), 7, {}, hosts);
      const auto i = static_cast<std::size_t>(r);
      EXPECT_EQ(own.operations[i], whole.operations[i]) << from << " -> " << to << " rank " << r;
      EXPECT_EQ(own.windows, whole.windows);
      for (std::size_t other = 0; other < 7; ++other) {
        if (other != i) {
          EXPECT_THAT(own.operations[other], SizeIs(0));
        }
      }
    }
  }
}

// Rank 0 folds its own two rows with those of rank 1; two pieces of one row each, as 8 bytes hold no more.
TEST(RedistributeProgram, TermsComeInPiecesAndAreFoldedInOrder) {
  const Program program = redistribute_program(
      plan(layout("i32[4,2] on (x=2) {x: partial(sum)}"), layout("i32[4,2] on (x=2) {0: x}"), {.staging_limit = 8}), 2);
  EXPECT_EQ(program.text(),
            "program redistribute on 2 ranks\n"
            "window source bytes 32 32\n"
            "window target bytes 16 16\n"
            "window staging bytes 8 8\n"
            "signal ready slots 2\n"
            "signal done slots 2\n"
            "rank 0\n"
            "  notify ready[0] on 1 set 1+1k\n"
            "  wait ready[1] >= 1+1k\n"
            "  get source on 1 -> staging [0 -> 0 row 8]\n"
            "  reduce i32 sum [2 x source+0(4), staging+0(4) -> target+0(4)]\n"
            "  get source on 1 -> staging [8 -> 0 row 8]\n"
            "  reduce i32 sum [2 x source+8(4), staging+0(4) -> target+8(4)]\n"
            "  notify done[0] on 1 set 1+1k\n"
            "  wait done[1] >= 1+1k\n"
            "rank 1\n"
            "  notify ready[1] on 0 set 1+1k\n"
            "  wait ready[0] >= 1+1k\n"
            "  get source on 0 -> staging [16 -> 0 row 8]\n"
            "  reduce i32 sum [2 x staging+0(4), source+16(4) -> target+0(4)]\n"
            "  get source on 0 -> staging [24 -> 0 row 8]\n"
            "  reduce i32 sum [2 x staging+0(4), source+24(4) -> target+8(4)]\n"
            "  notify done[1] on 0 set 1+1k\n"
            "  wait done[0] >= 1+1k\n");
}

TEST(RedistributeProgram, WhatIsNoCopyOfAPendingValueIsItsIdentity) {
  const Program program =
      redistribute_program(plan(layout("f32[6] on (x=2)"), layout("f32[6] on (x=2) {x: partial(max)} strides(3)")), 2);
  EXPECT_EQ(program.text(),
            "program redistribute on 2 ranks\n"
            "window source bytes 24 24\n"
            "window target bytes 64 64\n"
            "signal ready slots 2\n"
            "signal done slots 2\n"
            "rank 0\n"
            "  copy source -> target [0 -> 0 row 4 x 6(4, 12)]\n"
            "rank 1\n"
            "  fill target identity of f32 max [0 -> 0 row 4 x 6(0, 12)]\n");
}

TEST(RedistributeProgram, PlansThatLackATermAreRefused) {
  const Plan p = plan(layout("i32[4] on (x=3) {x: partial(sum)}"), layout("i32[4] on (x=2) {0: x}"));
  const auto refused = [&](auto change) {
    std::vector<Transfer> transfers(p.transfers().begin(), p.transfers().end());
    change(transfers);
    EXPECT_THROW(redistribute_program(Plan(p.source(), p.target(), {}, transfers), 3), Error);
  };
  refused([](auto& transfers) { transfers.erase(transfers.begin()); });
  refused([](auto& transfers) { transfers.insert(transfers.begin(), transfers.front()); });
  refused([](auto& transfers) { transfers.front().dims.back().clear(); });
  refused([](auto& transfers) { transfers.front().dims.clear(); });
  refused([](auto& transfers) { transfers.front().dims.front().front().target = LocalIndex(3); });
}

TEST(RedistributeProgram, ReadersBeginWithDifferentOwners) {
  const Program program =
      redistribute_program(plan(layout("f32[8,8] on (x=4) {0: x}"), layout("f32[8,8] on (x=4)@4 {1: x}")), 8);
  std::vector<Index> first;
  for (std::size_t r = 4; r < 8; ++r) {
    for (const Operation& op : program.operations[r]) {
      if (op.code != OpCode::get) continue;
      first.push_back(op.peer.value());
      break;
    }
  }
  EXPECT_THAT(first, ElementsAre(0, 1, 2, 3));
}

TEST(RedistributeProgram, RanksOfNeitherMeshDoNothing) {
  const Program program =
      redistribute_program(plan(layout("f32[4] on (x=2)@1 {0: x}"), layout("f32[4] on (x=2)@4 {0: x}")), 8);
  for (const std::size_t r : {0u, 3u, 6u, 7u}) EXPECT_TRUE(program.operations[r].empty()) << r;
  EXPECT_THAT(program.windows[0].bytes, ElementsAre(0, 8, 8, 0, 0, 0, 0, 0));
  EXPECT_THAT(program.windows[1].bytes, ElementsAre(0, 0, 0, 0, 8, 8, 0, 0));
}

TEST(RedistributeProgram, MeshOutsideTheWorldIsRefused) {
  try {
    redistribute_program(plan(layout("f32[4] on (x=2) {0: x}"), layout("f32[4] on (x=2)@4 {0: x}")), 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("names rank 5, but the world has 4 ranks"));
  }
}

TEST(RedistributeProgram, ForeignTransfersAreRefused) {
  const Layout a = layout("f32[4] on (x=2) {0: x}");
  const std::vector<std::vector<Span>> all = {{{LocalIndex(0), LocalIndex(0), 2}}};
  EXPECT_THROW(redistribute_program(Plan(a, a, {}, {{RankId(9), RankId(0), all}}), 2), Error);
  EXPECT_THROW(redistribute_program(Plan(a, a, {}, {{RankId(1), RankId(1), all}, {RankId(0), RankId(0), all}}), 2),
               Error);
}

}  // namespace
}  // namespace reshard
