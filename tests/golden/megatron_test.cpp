// Worked examples of Megatron's shard planner: strided, packed and windowed tensor parallelism (E1 to E16, E21).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden/show.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// TP groups [0,1], [2,3]; GTP groups [0,2], [1,3]; stored (3,2), of which two rows are padding in all.
const char* const gtp_source = "f32[8,2] on (gtp=2, tp=2) {0: tp:even gtp:window(2)}";
const char* const one_rank = "(only=1)";

std::string received(const std::string& source, const std::string& target, Index rank) {
  const Plan made = plan(layout(source), layout(target));
  EXPECT_TRUE(verify(made).empty()) << source << " -> " << target;
  return received_by(made, rank);
}

TEST(Megatron, E1WindowsLeavePaddingToNobody) {
  const Layout l = layout(gtp_source);
  EXPECT_EQ(segments_of(l, 0), "(0,0,3)");
  EXPECT_EQ(segments_of(l, 2), "(0,3,1)");
  EXPECT_EQ(segments_of(l, 1), "(0,4,3)");
  EXPECT_EQ(segments_of(l, 3), "(0,7,1)");
  for (Index rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(l.storage(RankId(rank)).extents, (std::vector<Index>{3, 2})) << rank;
    EXPECT_EQ(l.local_bytes(RankId(rank)), 3 * 2 * 4) << rank;
  }
  EXPECT_EQ(received(gtp_source, "f32[8,2] on (only=1)@9", 9),
            "(0,[0:3,0:2]->[0:3,0:2]) (2,[0:1,0:2]->[3:4,0:2]) (1,[0:3,0:2]->[4:7,0:2]) (3,[0:1,0:2]->[7:8,0:2])");
}

TEST(Megatron, E2WindowsToFour) {
  const std::string target = "f32[8,2] on (tp=4)@10 {0: tp:even}";
  EXPECT_EQ(received(gtp_source, target, 10), "(0,[0:2,0:2]->[0:2,0:2])");
  EXPECT_EQ(received(gtp_source, target, 11), "(0,[2:3,0:2]->[0:1,0:2]) (2,[0:1,0:2]->[1:2,0:2])");
  EXPECT_EQ(received(gtp_source, target, 12), "(1,[0:2,0:2]->[0:2,0:2])");
  EXPECT_EQ(received(gtp_source, target, 13), "(1,[2:3,0:2]->[0:1,0:2]) (3,[0:1,0:2]->[1:2,0:2])");
}

TEST(Megatron, E3WholeToWindowsLeavesPaddingUntouched) {
  const std::string source = "f32[8,2] on (only=1)";
  const std::string target = "f32[8,2] on (gtp=2, tp=2)@20 {0: tp:even gtp:window(2)}";
  EXPECT_EQ(received(source, target, 20), "(0,[0:3,0:2]->[0:3,0:2])");
  EXPECT_EQ(received(source, target, 21), "(0,[4:7,0:2]->[0:3,0:2])");
  EXPECT_EQ(received(source, target, 22), "(0,[3:4,0:2]->[0:1,0:2])");
  EXPECT_EQ(received(source, target, 23), "(0,[7:8,0:2]->[0:1,0:2])");
}

TEST(Megatron, E4AWindowMayBeAllPadding) {
  const std::string target = "f32[8,2] on (gtp=3)@30 {0: gtp:window(4)}";
  EXPECT_EQ(received(gtp_source, target, 30), "(0,[0:3,0:2]->[0:3,0:2]) (2,[0:1,0:2]->[3:4,0:2])");
  EXPECT_EQ(received(gtp_source, target, 31), "(1,[0:3,0:2]->[0:3,0:2]) (3,[0:1,0:2]->[3:4,0:2])");
  EXPECT_EQ(received(gtp_source, target, 32), "");
  EXPECT_EQ(layout(target).storage(RankId(32)).extents, (std::vector<Index>{4, 2}));
}

TEST(Megatron, E5ColumnParallel) {
  const std::string source = "f32[8,4] on (tp=4) {0: tp:even}";
  const std::string target = "f32[8,4] on (tp=2)@4 {0: tp:even}";
  EXPECT_EQ(received(source, target, 4), "(0,[0:2,0:4]->[0:2,0:4]) (1,[0:2,0:4]->[2:4,0:4])");
  EXPECT_EQ(received(source, target, 5), "(2,[0:2,0:4]->[0:2,0:4]) (3,[0:2,0:4]->[2:4,0:4])");
}

TEST(Megatron, E6RowParallel) {
  const std::string source = "f32[4,8] on (tp=4) {1: tp:even}";
  const std::string target = "f32[4,8] on (tp=2)@4 {1: tp:even}";
  EXPECT_EQ(received(source, target, 4), "(0,[0:4,0:2]->[0:4,0:2]) (1,[0:4,0:2]->[0:4,2:4])");
  EXPECT_EQ(received(source, target, 5), "(2,[0:4,0:2]->[0:4,0:2]) (3,[0:4,0:2]->[0:4,2:4])");
}

TEST(Megatron, E7ChangeOfDimension) {
  const std::string source = "f32[4,4] on (tp=2) {0: tp:even}";
  const std::string target = "f32[4,4] on (tp=2)@2 {1: tp:even}";
  EXPECT_EQ(received(source, target, 2), "(0,[0:2,0:2]->[0:2,0:2]) (1,[0:2,0:2]->[2:4,0:2])");
  EXPECT_EQ(received(source, target, 3), "(0,[0:2,2:4]->[0:2,0:2]) (1,[0:2,2:4]->[2:4,0:2])");
}

TEST(Megatron, E8ThreeToFour) {
  const std::string source = "f32[12] on (tp=3) {0: tp:even}";
  const std::string target = "f32[12] on (tp=4)@10 {0: tp:even}";
  EXPECT_EQ(received(source, target, 10), "(0,[0:3]->[0:3])");
  EXPECT_EQ(received(source, target, 11), "(0,[3:4]->[0:1]) (1,[0:2]->[1:3])");
  EXPECT_EQ(received(source, target, 12), "(1,[2:4]->[0:2]) (2,[0:1]->[2:3])");
  EXPECT_EQ(received(source, target, 13), "(2,[1:4]->[0:3])");
}

TEST(Megatron, E9FusedGateAndUp) {
  EXPECT_EQ(received("f32[8] on (tp=2) {0: tp:strided(2)}", fmt::format("f32[8] on {}@9", one_rank), 9),
            "(0,[0:2]->[0:2]) (1,[0:2]->[2:4]) (0,[2:4]->[4:6]) (1,[2:4]->[6:8])");
}

TEST(Megatron, E10StridedTwoToFourAndBack) {
  const std::string two = "f32[16] on (tp=2) {0: tp:strided(2)}";
  const std::string four = "f32[16] on (tp=4)@10 {0: tp:strided(2)}";
  EXPECT_EQ(received(two, four, 10), "(0,[0:2]->[0:2]) (0,[4:6]->[2:4])");
  EXPECT_EQ(received(two, four, 11), "(0,[2:4]->[0:2]) (0,[6:8]->[2:4])");
  EXPECT_EQ(received(two, four, 12), "(1,[0:2]->[0:2]) (1,[4:6]->[2:4])");
  EXPECT_EQ(received(two, four, 13), "(1,[2:4]->[0:2]) (1,[6:8]->[2:4])");
  EXPECT_EQ(received(four, two, 0), "(10,[0:2]->[0:2]) (11,[0:2]->[2:4]) (10,[2:4]->[4:6]) (11,[2:4]->[6:8])");
  EXPECT_EQ(received(four, two, 1), "(12,[0:2]->[0:2]) (13,[0:2]->[2:4]) (12,[2:4]->[4:6]) (13,[2:4]->[6:8])");
}

// Megatron sends six boxes; (2,[0:12]) and (2,[12:24]) lie one after the other at both ends, so ours are five.
TEST(Megatron, E11ThreeStridesToTwo) {
  const std::string source = "f32[144] on (tp=4) {0: tp:strided(3)}";
  const std::string target = "f32[144] on (tp=2)@100 {0: tp:strided(2)}";
  EXPECT_EQ(received(source, target, 100),
            "(0,[0:12]->[0:12]) (1,[0:12]->[12:24]) (2,[0:24]->[24:48]) (3,[12:24]->[48:60]) "
            "(0,[24:36]->[60:72])");
  EXPECT_EQ(received(source, target, 101),
            "(3,[0:12]->[0:12]) (0,[12:24]->[12:24]) (1,[12:36]->[24:48]) (2,[24:36]->[48:60]) "
            "(3,[24:36]->[60:72])");
}

TEST(Megatron, E12StridedWithWindows) {
  EXPECT_EQ(received("f32[8,3] on (gtp=2, tp=2) {0: tp:strided(2) gtp:window(0)}", "f32[8,3] on (only=1)@9", 9),
            "(0,[0:2,0:3]->[0:2,0:3]) (1,[0:2,0:3]->[2:4,0:3]) (2,[0:2,0:3]->[4:6,0:3]) (3,[0:2,0:3]->[6:8,0:3])");
}

TEST(Megatron, E13PackedQkv) {
  EXPECT_EQ(received("f32[24] on (tp=2) {0: tp:packed[8,2,2]}", "f32[24] on (only=1)@9", 9),
            "(0,[0:8]->[0:8]) (1,[0:8]->[8:16]) (0,[8:10]->[16:18]) (1,[8:10]->[18:20]) (0,[10:12]->[20:22]) "
            "(1,[10:12]->[22:24])");
}

TEST(Megatron, E14PackedTwoToFour) {
  const std::string source = "f32[24] on (tp=2) {0: tp:packed[8,2,2]}";
  const std::string target = "f32[24] on (tp=4)@10 {0: tp:packed[4,1,1]}";
  for (Index r = 0; r < 2; ++r) {
    EXPECT_EQ(received(source, target, 10 + 2 * r),
              fmt::format("({0},[0:4]->[0:4]) ({0},[8:9]->[4:5]) ({0},[10:11]->[5:6])", r));
    EXPECT_EQ(received(source, target, 11 + 2 * r),
              fmt::format("({0},[4:8]->[0:4]) ({0},[9:10]->[4:5]) ({0},[11:12]->[5:6])", r));
  }
}

TEST(Megatron, E15PackedWithPaddedWindows) {
  EXPECT_EQ(received("f32[6,2] on (gtp=2, tp=2) {0: tp:packed[2,1] gtp:window(1)}", "f32[6,2] on (only=1)@9", 9),
            "(0,[0:2,0:2]->[0:2,0:2]) (1,[0:2,0:2]->[2:4,0:2]) (2,[0:1,0:2]->[4:5,0:2]) (3,[0:1,0:2]->[5:6,0:2])");
}

TEST(Megatron, E16RowParallelWithWindows) {
  EXPECT_EQ(received("f32[8,8] on (gtp=2, tp=2) {0: gtp:window(0), 1: tp:even}", "f32[8,8] on (only=1)@9", 9),
            "(0,[0:4,0:4]->[0:4,0:4]) (1,[0:4,0:4]->[0:4,4:8]) (2,[0:4,0:4]->[4:8,0:4]) (3,[0:4,0:4]->[4:8,4:8])");
}

TEST(Megatron, E20ErrorsNameTheirCause) {
  EXPECT_THROW(plan(layout("f32[64,128] on (tp=2) {0: tp}"), layout("f32[64,100] on (tp=2) {0: tp}")), Error);
  EXPECT_THROW(layout("f32[8] on (tp=2) {0: tp:packed[2,1]}"), Error);
  EXPECT_THROW(layout("f32[8] on (tp=2) {0: tp:strided(3)}"), Error);
}

// A source with packed sizes and a target without: the target means a plain cut of the global order.
TEST(Megatron, E21PackedToPlain) {
  const std::string source = "f32[6] on (tp=2) {0: tp:packed[2,1]}";
  const std::string target = "f32[6] on (tp=2)@10 {0: tp:even}";
  EXPECT_EQ(received(source, target, 10), "(0,[0:2]->[0:2]) (1,[0:1]->[2:3])");
  EXPECT_EQ(received(source, target, 11), "(1,[1:2]->[0:1]) (0,[2:3]->[1:2]) (1,[2:3]->[2:3])");
}

struct OpCount {
  const char* source;
  const char* target;
  Index boxes;
};

TEST(Megatron, BoxesAreMerged) {
  const std::vector<OpCount> table = {
      {"f32[56] on (tp=7) {0: tp:even}", "f32[56] on (tp=8)@100 {0: tp:even}", 14},
      {"f32[96] on (tp=12) {0: tp:strided(2)}", "f32[96] on (tp=16)@100 {0: tp:strided(2)}", 48},
      {"f32[144] on (tp=6) {0: tp:strided(3)}", "f32[144] on (tp=8)@100 {0: tp:strided(2)}", 32},
      {"f32[72] on (tp=24) {0: tp:even}", "f32[72] on (tp=36)@100 {0: tp:even}", 48}};
  for (const OpCount& row : table) {
    const Plan made = plan(layout(row.source), layout(row.target));
    Index boxes = 0;
    for (const Transfer& t : made.transfers()) boxes += t.boxes();
    EXPECT_EQ(boxes, row.boxes) << row.source << " -> " << row.target;
  }
}

}  // namespace
}  // namespace reshard
