// Named cases of moving data, on every fabric.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "redistribute/moved_tensor.h"
#include "reshard/error.h"
#include "reshard/stamp.h"

namespace reshard::multi {
namespace {

struct Move {
  const char* name;
  const char* source;
  const char* target;
  Index more_ranks = 0;  // in the world, beyond those of the meshes
};

void PrintTo(const Move& move, std::ostream* out) { *out << move.source << "  ->  " << move.target; }

// Letters are the classes of the acceptance cases.
const Move moves[] = {
    {"picture", "f32[8,8] on (r=4) {0: r}", "f32[8,8] on (y=2, x=2) {0: y, 1: x}"},
    {"A1_nested_uneven", "i64[5] on (a=2, b=2) {0: a b}", "i64[5] on (a=2, b=2) {}"},
    {"A3_short_shard", "i32[3,9] on (x=2) {1: x}", "i32[3,9] on (x=2) {0: x}"},
    {"A5_given_sizes", "i32[2,14] on (x=4) {1: x:sizes[2,3,4,5]}", "i32[2,14] on (x=4) {}"},
    {"A5_given_sizes_to_chunks", "i32[2,14] on (x=4) {1: x:sizes[2,3,4,5]}", "i32[2,14] on (x=4) {1: x}"},
    {"A9_balanced", "i32[2512] on (x=16) {0: x:balanced}", "i32[2512] on (x=5)@3 {0: x}"},
    {"B1_strided_shard_odd", "i32[5] on (x=2) {0: x:strided-shard(2)}", "i32[5] on (x=2) {}"},
    {"B1_strided_shard_even", "i32[6] on (x=2) {0: x:strided-shard(2)}", "i32[6] on (x=2) {0: x}"},
    {"B3_dp_over_tp", "i32[6] on (dp=2, tp=2) {0: tp dp}", "i32[6] on (dp=2, tp=2) {}"},
    {"B3_more_dp_than_rows", "i32[6,17] on (dp=4, tp=2) {0: tp dp}", "i32[6,17] on (dp=4, tp=2) {1: dp tp}"},
    {"B4_order_of_cuts", "i32[4,4] on (a=2, b=2) {0: b a}", "i32[4,4] on (a=2, b=2) {0: a b}"},
    {"B5_gate_up_8_to_2", "i32[16,1] on (x=8) {0: x:packed[1,1]}", "i32[16,1] on (x=2) {0: x:packed[4,4]}"},
    {"B5_gate_up_2_to_1", "i32[16,1] on (x=2) {0: x:packed[4,4]}", "i32[16,1] on (x=1) {0: x:packed[8,8]}"},
    {"B5_gate_up_8_to_4", "i32[16,3] on (x=8) {0: x:packed[1,1]}", "i32[16,3] on (x=4) {0: x:strided(2)}"},
    {"B6_nothing_to_do", "i32[8,6] on (x=4) {1: x}", "i32[8,6] on (x=4) {1: x}"},
    {"C1_one_sends_nothing", "f32[2,3] on (x=2) {0: x:sizes[2,0]}", "f32[2,3] on (x=2) {0: x}"},
    {"C2_last_rank_empty", "i32[6,256] on (x=4) {0: x}", "i32[6,256] on (x=4) {}"},
    {"C3_zero_dimension", "f32[4,0,2] on (x=4) {0: x}", "f32[4,0,2] on (x=4) {}"},
    {"C4_gather_to_0", "i32[10] on (x=8) {0: x:sizes[3,0,2,0,1,0,0,4]}", "i32[10] on (root=1) {}"},
    {"C4_gather_to_empty_1", "i32[10] on (x=8) {0: x:sizes[3,0,2,0,1,0,0,4]}", "i32[10] on (root=1)@1 {}"},
    {"C10_short_and_empty", "i32[512] on (x=30) {0: x}", "i32[512] on (x=7) {0: x:balanced}"},
    {"C12_offset_of_empty", "i16[1024] on (x=53) {0: x}", "i16[1024] on (x=2) {0: x}"},
    {"C_scalar", "f64[] on (x=1)@1 {}", "f64[] on (x=3) {}"},
    {"C_group_of_one", "f64[3,2] on (x=1) {0: x}", "f64[3,2] on (x=1) {1: x}"},
    {"E1_stride_two", "i32[3] on (root=1) {} strides(2)", "i32[3] on (x=2) {} strides(2)"},
    {"E2_column_into_column", "i32[4,1] on (x=2) {0: x} strides(2,1)", "i32[4,1] on (root=1) {} strides(3,1)"},
    {"E4_column_major", "i32[3,2] on (root=1) {} order(1,0)", "i32[3,2] on (root=1)@1 {}"},
    {"F1_wide_elements", "complex128[7,3] on (x=3) {0: x}", "complex128[7,3] on (x=2) {1: x} order(1,0)"},
    {"H3_interleaved_rows", "i32[1000,16] on (x=4) {0: x}", "i32[1000,16] on (x=4) {0: x:cyclic(1)}"},
    {"H3_interleaved_rows_3", "i32[1000,16] on (x=3) {0: x}", "i32[1000,16] on (x=3) {0: x:cyclic(1)}"},
    {"I1_scatter_in_mesh", "i64[4] on (root=1)@2 {}", "i64[4] on (x=2)@2 {0: x}"},
    {"I2_listed_pair", "i64[4] on (root=1) {}", "i64[4] on (x=2)@[5,2] {0: x}"},
    {"I2_listed_four", "i64[8] on (x=4)@[4,7,5,6] {0: x}", "i64[8] on (x=4) {0: x:cyclic(1)}"},
    {"I3_other_mesh", "i32[5,7] on (a=2, b=3) {0: a, 1: b}", "i32[5,7] on (x=2)@6 {0: x}"},
    {"I3_ranks_of_neither", "i32[5,7] on (x=2)@2 {0: x}", "i32[5,7] on (x=3)@3 {1: x}", 2},
    {"E1_scattered_to_strides", "f32[3] on (root=1) {} strides(2)", "f32[3] on (r=3) {0: r} strides(3)"},
    {"E2_column", "i32[4,2][:, 0:1] on (r=2) {0: r}", "i32[4,1] on (root=1) {}"},
    {"E2_into_a_column", "i32[4,2][:, 0:1] on (r=2) {0: r}", "i32[4,3][:, 2:3] on (root=1) {}"},
    {"I4_overlapping_meshes", "i32[9] on (x=3) {0: x}", "i32[9] on (x=3)@1 {0: x}"},
    {"I5_first_slice", "i32[4][0:2] on (x=2)@1 {0: x}", "i32[2] on (root=1) {}"},
    {"I5_second_slice", "i32[4][2:4] on (x=2)@1 {0: x}", "i32[2] on (root=1) {}"},
    {"J6_more_ranks_than_rows", "i32[1,4,6] on (x=2) {1: x}", "i32[1,4,6] on (x=2) {0: x}"},
    {"J8_uneven_transpose", "i32[5,4] on (x=2) {0: x}", "i32[5,4] on (x=2) {1: x}"},
    {"J8_uneven_transpose_3", "i32[7,5] on (x=3) {0: x}", "i32[7,5] on (x=3) {1: x}"},
    {"M_window_padding", "i32[10,3] on (x=4) {0: x:window(2)}", "i32[10,3] on (x=4) {0: x:balanced}"},
    {"M_into_window_padding", "i32[10,3] on (x=4) {0: x}", "i32[10,3] on (x=4) {0: x:window(6)}"},
    {"M_into_fused", "bf16[4,5] on (x=2) {0: x}", "bf16[12,5][4:8, :] on (x=3) {0: x}"},
    {"M_one_expert", "u8[3,4] on (root=1)@2 {}", "u8[4,3,4][1, :, :] on (ep=2) {0: ep}"},
    {"M_stage", "f32[6] on (pp=2, tp=2) {0: tp, pp: at(1)}", "f32[6] on (pp=2, tp=2) {0: tp, pp: at(0)}"},
};

std::vector<Move> all_moves() { return {std::begin(moves), std::end(moves)}; }

class Redistribute : public testing::TestWithParam<std::tuple<const Fabric*, Move>> {};

TEST_P(Redistribute, FillsTheTarget) {
  const auto& [fabric, move] = GetParam();
  const Layout source = layout(move.source), target = layout(move.target);
  run_ranks(fabric, world_of(source, target) + move.more_ranks,
            [&](World& world) { expect_redistribute(world, source, target); });
}

TEST_P(Redistribute, AndBackAgain) {
  const auto& [fabric, move] = GetParam();
  const Layout source = layout(move.source), target = layout(move.target);
  run_ranks(fabric, world_of(source, target) + move.more_ranks,
            [&](World& world) { expect_redistribute(world, target, source); });
}

INSTANTIATE_TEST_SUITE_P(Cases, Redistribute,
                         testing::Combine(testing::ValuesIn(fabrics()), testing::ValuesIn(all_moves())),
                         [](const auto& test) {
                           return std::get<0>(test.param)->name() + "_" + std::get<1>(test.param).name;
                         });

class CaseOnEveryFabric : public testing::TestWithParam<const Fabric*> {
 protected:
  void run(Index ranks, const std::function<void(World&)>& body) { run_ranks(GetParam(), ranks, body); }
};

INSTANTIATE_TEST_SUITE_P(On, CaseOnEveryFabric, testing::ValuesIn(fabrics()),
                         [](const auto& test) { return test.param->name() + "_ranks"; });

void expect(World& world, bool condition, const std::string& what) {
  if (!condition) report(world, what);
}

// The true vocabulary of a published 14B model, there and back.
TEST_P(CaseOnEveryFabric, A6VocabularySurvivesARoundTrip) {
  run(8, [](World& world) {
    const Layout eight = layout("i32[151665,8] on (x=8) {0: x}");
    Tensor a = world.allocate(eight);
    stamp(a, 1);
    const std::vector<std::byte> first(a.bytes().begin(), a.bytes().end());
    const Tensor b = redistribute(world, a, layout("i32[151665,8] on (x=6) {0: x}"));
    expect_stamped(b, 1);
    const Index rows = world.rank() < RankId(5) ? 25278 : world.rank() == RankId(5) ? 25275 : 0;
    expect(world, static_cast<Index>(b.bytes().size()) == rows * 32, "wrong number of rows");
    Tensor c = redistribute(world, b, eight);
    expect(world, std::ranges::equal(c.bytes(), first), "the round trip changed the bytes");
  });
}

TEST_P(CaseOnEveryFabric, A3StridesFollowTheLocalShape) {
  run(2, [](World& world) {
    const Tensor a = world.allocate(layout("i32[3,9] on (x=2) {1: x}"));
    const Index columns = world.rank() == RankId(0) ? 5 : 4;
    expect(world, a.storage().extents == std::vector<Index>{3, columns}, "wrong extents");
    expect(world, a.storage().strides == std::vector<Index>{columns, 1}, "wrong strides");
  });
}

TEST_P(CaseOnEveryFabric, B4OnlyTheTwoMiddleRanksSwap) {
  run(4, [](World& world) {
    const Traffic traffic = expect_redistribute(world, layout("i32[4,4] on (a=2, b=2) {0: b a}"),
                                                layout("i32[4,4] on (a=2, b=2) {0: a b}"));
    const bool middle = world.rank() == RankId(1) || world.rank() == RankId(2);
    expect(world, traffic.gets + traffic.puts == (middle ? 1 : 0), "wrong number of messages");
    expect(world, traffic.bytes_got + traffic.bytes_put == (middle ? 16 : 0), "wrong number of bytes");
  });
}

TEST_P(CaseOnEveryFabric, B6EqualLayoutsSendNothing) {
  run(4, [](World& world) {
    const Layout l = layout("i32[8,6] on (x=4) {1: x}");
    const Traffic traffic = expect_redistribute(world, l, l);
    expect(world, traffic.gets == 0 && traffic.puts == 0 && traffic.waits == 0, "something was sent");
  });
}

// Orders of both sides and a transpose compose, in all eight combinations.
TEST_P(CaseOnEveryFabric, E5OrdersAndTransposeCompose) {
  run(2, [](World& world) {
    for (const char* source_order : {"", " order(1,0)"}) {
      for (const char* target_order : {"", " order(1,0)"}) {
        const Layout source = layout(std::string("i32[2,3] on (x=2) {0: x}") + source_order);
        expect_redistribute(world, source, layout(std::string("i32[2,3] on (x=2) {1: x}") + target_order));
        const std::vector<int> swap = {1, 0};
        expect_redistribute(world, source.transposed(swap),
                            layout(std::string("i32[3,2] on (x=2) {1: x}") + target_order));
      }
    }
  });
}

// Rank 2 sends nothing, nobody sends to rank 3, and then all of it goes back: all four take part and end.
TEST_P(CaseOnEveryFabric, C6RanksWithoutRowsTakePartInBothSteps) {
  const Layout held = layout("i32[24,16] on (r=4) {0: r:sizes[8,10,0,6]}");
  const Layout wanted = layout("i32[24,16] on (r=4) {0: r:sizes[3,12,9,0]}");
  run(4, [=](World& world) {
    Tensor tokens = world.allocate(held, "tokens"), experts = world.allocate(wanted, "experts");
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      stamp(tokens, epoch);
      const Traffic there = redistribute(world, tokens, experts);
      expect_stamped(experts, epoch);
      expect(world, world.rank() != RankId(3) || there.bytes_got + there.bytes_copied == 0, "rank 3 wants nothing");
      stamp(experts, epoch + 100);
      redistribute(world, experts, tokens);
      expect_stamped(tokens, epoch + 100);
    }
  });
}

// A rank without elements has no memory to offer; neither end looks at what it would have been.
TEST_P(CaseOnEveryFabric, C8BuffersOfNothingAreNotLookedAt) {
  run(3, [](World& world) {
    Tensor source = world.allocate(layout("i32[5] on (r=3) {0: r:sizes[2,3,0]}"), "source");
    Tensor target = world.allocate(layout("i32[5] on (r=3) {0: r:sizes[0,0,5]}"), "target");
    const bool last = world.rank() == RankId(2);
    expect(world, source.bytes().empty() == last && target.bytes().empty() != last, "wrong sizes");
    stamp(source, 1);
    redistribute(world, source, target);
    expect_stamped(target, 1);
  });
}

// One tensor for both ends is refused on all ranks, with its name, before a byte moves; the world goes on.
TEST_P(CaseOnEveryFabric, E7SourceAndTargetAreOneTensor) {
  run(4, [](World& world) {
    const Layout rows = layout("i32[8,8] on (r=4) {0: r}");
    Tensor a = world.allocate(rows, "weights");
    stamp(a, 3);
    try {
      world.move(a, a);
      report(world, "not refused");
    } catch (const Error& error) {
      expect(world, error.code() == Code::invalid_argument, "wrong code");
      expect(world, std::string_view(error.what()).find("weights") != std::string_view::npos, error.what());
    }
    expect_stamped(a, 3);
    Tensor b = world.allocate(layout("i32[8,8] on (r=4) {1: r}"));
    redistribute(world, a, b);
    expect_stamped(b, 3);
  });
}

TEST_P(CaseOnEveryFabric, H1LargeShardsSwap) {
  run(2, [](World& world) {
    Tensor a = world.allocate(layout("i64[16777216] on (x=2) {0: x}"));
    stamp(a, 5);
    const Tensor b = redistribute(world, a, layout("i64[16777216] on (x=2)@[1,0] {0: x}"));
    expect_stamped(b, 5);
    expect(world, b.region().dims[0][0].global == GlobalIndex(world.rank() == RankId(0) ? 8388608 : 0), "not swapped");
  });
}

TEST_P(CaseOnEveryFabric, DisagreementIsTheSameErrorEverywhere) {
  run(4, [](World& world) {
    Tensor a = world.allocate(layout("f32[8,8] on (r=4) {0: r}"));
    const bool odd = world.rank() == RankId(3);
    try {
      redistribute(world, a, layout(odd ? "f32[8,8] on (r=4) {1: r}" : "f32[8,8] on (r=4) {}"));
    } catch (const Error& error) {
      const std::string_view what = error.what();
      expect(world, error.code() == Code::invalid_argument, "wrong code");
      expect(world, what.find("ranks 0 and 3 made different calls") != what.npos, std::string(what));
      expect_redistribute(world, layout("f32[8,8] on (r=4) {0: r}"), layout("f32[8,8] on (r=4) {1: r}"));
      return;
    }
    report(world, "no error");
  });
}

}  // namespace
}  // namespace reshard::multi
