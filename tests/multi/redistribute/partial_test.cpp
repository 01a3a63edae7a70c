// Moves of pending values on every fabric: all small meshes, sets of partial axes, ops, dtypes and kinds of target; the
// same bits whatever the options; replicated values that become pending and come back.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "redistribute/pending.h"
#include "reshard/error.h"

namespace reshard::multi {
namespace {

constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product};
constexpr Dtype kDtypes[] = {Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f64, Dtype::bf16};

// The 14 meshes of up to 8 ranks without axes of one, but for the mesh of one rank.
const std::vector<std::vector<Index>> kMeshes = {{1},    {2}, {3}, {2, 2},    {4},    {5},    {2, 3},
                                                 {3, 2}, {6}, {7}, {2, 2, 2}, {2, 4}, {4, 2}, {8}};

struct Reduced {
  std::string source;
  std::string target;
  std::vector<int> kept = {};
};

std::string axis_name(std::size_t axis) { return std::string(1, static_cast<char>('a' + axis)); }

std::string mesh_text(const std::vector<Index>& sizes) {
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    axes.push_back(fmt::format("{}={}", axis_name(axis), sizes[axis]));
  return fmt::format("({})", fmt::join(axes, ", "));
}

std::string layout_text(Dtype dtype, const std::string& shape, const std::string& mesh,
                        const std::vector<std::string>& entries) {
  return fmt::format("{}[{}] on {} {{{}}}", name_of(dtype), shape, mesh, fmt::join(entries, ", "));
}

// All kinds of target for one mesh, set of partial axes, op and dtype. Axes that are not partial cut the source's
// second dimension, or leave copies when `copies`.
std::vector<Reduced> moves_of(const std::vector<Index>& sizes, unsigned partial, ReduceOp op, Dtype dtype,
                              bool copies) {
  const std::string mesh = mesh_text(sizes);
  Index ranks = 1;
  std::vector<std::string> pending, cutting, all;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    ranks *= sizes[axis];
    all.push_back(axis_name(axis));
    if ((partial >> axis & 1) != 0) {
      pending.push_back(fmt::format("{}: partial({})", axis_name(axis), name_of(op)));
    } else {
      cutting.push_back(axis_name(axis));
    }
  }
  std::vector<std::string> source = pending;
  if (!copies && !cutting.empty()) source.push_back(fmt::format("1: {}", fmt::join(cutting, " ")));
  std::vector<Reduced> moves;
  const auto add = [&](const std::string& shape, const std::string& target_mesh, const std::vector<std::string>& target,
                       std::vector<int> kept = {}) {
    moves.push_back(
        {layout_text(dtype, shape, mesh, source), layout_text(dtype, shape, target_mesh, target), std::move(kept)});
  };
  const std::string rows = fmt::format("0: {}", fmt::join(all, " "));
  add("3,4", mesh, {});
  add("16,3", mesh, {rows});
  add("5,3", mesh, {rows});
  add("2,3", mesh, {rows});
  add("5,3", fmt::format("(q=3)@{}", ranks), {"0: q"});
  add("4,5", fmt::format("(q={})@{}", ranks, ranks / 2), {"1: q"});
  // The first partial axis stays pending.
  const auto first = static_cast<std::size_t>(std::countr_zero(partial));
  std::vector<int> kept(pending.size(), -1);
  kept[0] = static_cast<int>(first);
  if (sizes[first] > 1) add("5,3", mesh, {pending.front()}, kept);
  return moves;
}

struct PartialSetting {
  const Fabric* fabric;
  std::size_t mesh;
};

class Partial : public testing::TestWithParam<PartialSetting> {};

// Every dtype with every op on every mesh and set of axes; the kinds of target go round, all of them for f32.
TEST_P(Partial, ReducesToTheOracle) {
  const std::vector<Index>& sizes = kMeshes[GetParam().mesh];
  const Index ranks = world_of(layout("f32[1] on " + mesh_text(sizes)), layout("f32[1] on ()"));
  run_ranks(GetParam().fabric, ranks + std::max<Index>(3, (ranks + 1) / 2), [&](World& world) {
    std::size_t round = 0;
    for (unsigned partial = 1; partial < 1u << sizes.size(); ++partial)
      for (const ReduceOp op : kOps)
        for (const Dtype dtype : kDtypes) {
          const std::vector<Reduced> moves = moves_of(sizes, partial, op, dtype, round % 2 == 0);
          ++round;
          for (std::size_t k = 0; k < moves.size(); ++k)
            if (dtype == Dtype::f32 || k == round % moves.size())
              expect_reduced(world, layout(moves[k].source), layout(moves[k].target), moves[k].kept, 2);
        }
  });
}

// All meshes on threads, two on each other fabric.
std::vector<PartialSetting> partial_settings() {
  std::vector<PartialSetting> all;
  for (const Fabric* fabric : fabrics())
    for (std::size_t mesh = 0; mesh < kMeshes.size(); ++mesh)
      if (fabric->traits().is_threads || mesh == 2 || mesh == 6) all.push_back({fabric, mesh});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Meshes, Partial, testing::ValuesIn(partial_settings()), [](const auto& test) {
  std::string name = test.param.fabric->name();
  for (const Index size : kMeshes[test.param.mesh]) name += "_" + std::to_string(size);
  return name;
});

class PartialOn : public testing::TestWithParam<const Fabric*> {
 protected:
  void run(Index ranks, const std::function<void(World&)>& body) { run_ranks(GetParam(), ranks, body); }
};

INSTANTIATE_TEST_SUITE_P(On, PartialOn, testing::ValuesIn(fabrics()),
                         [](const auto& test) { return test.param->name() + "_ranks"; });

// One order of terms: neither who sends nor how much fits into staging changes a bit.
TEST_P(PartialOn, OptionsDoNotChangeABit) {
  run(8, [](World& world) {
    for (const char* dtype : {"f32", "f64", "bf16"})
      for (const char* target :
           {" on (a=2, b=2, c=2) {}", " on (a=2, b=2, c=2) {1: a c}", " on (q=3)@5 {0: q:cyclic(1)}"}) {
        const Layout source =
            layout(fmt::format("{}[7,5] on (a=2, b=2, c=2) {{a: partial(sum), c: partial(avg)}}", dtype));
        const Layout wanted = layout(std::string(dtype) + "[7,5]" + target);
        const Index element = bytes_of(source.dtype());
        for (const Index limit :
             {4 * element, 4 * element + 1, 7 * element, 9 * element, 100 * element, Index{1} << 20})
          expect_reduced(world, source, wanted, {}, 1, {.staging_limit = limit});
        for (const SenderPolicy policy : all_sender_policies())
          expect_reduced(world, source, wanted, {}, 1, {.policy = policy, .ranks_per_host = 2, .rotation = 3});
      }
  });
}

// Strided, column-major, viewed, packed and padded memory at either end.
TEST_P(PartialOn, HonoursStorage) {
  const Reduced moves[] = {
      {"i32[6,5] on (a=2, b=2) {a: partial(sum), 0: b} order(1,0)", "i32[6,5] on (a=2, b=2) {1: a b}"},
      {"f32[6,5] on (a=2, b=2) {a: partial(sum), 0: b}", "f32[6,5] on (a=2, b=2) {1: a b} order(1,0)"},
      {"f32[6,5] on (a=3) {a: partial(sum)} strides(9,1)", "f32[6,5] on (a=3) {0: a:cyclic(1)} strides(11,2)"},
      {"f64[12,5][4:10, :] on (a=3) {a: partial(max)}", "f64[6,5] on (a=3) {0: a}"},
      {"i64[6,5] on (a=3) {a: partial(sum)}", "i64[8,6,5][3, :, :] on (a=3) {0: a}"},
      {"i32[16,3] on (a=2, t=2) {a: partial(product), 0: t:strided(2)}", "i32[16,3] on (t=4) {0: t:packed[2,2]}"},
      {"i32[10,3] on (a=2, t=4) {a: partial(min), 0: t:window(2)}", "i32[10,3] on (t=4)@2 {0: t:window(6)}"},
      {"bf16[8,8,3] on (a=4) {a: partial(avg)} order(2,0,1)", "bf16[8,8,3] on (a=4) {1: a}"},
  };
  run(8, [&](World& world) {
    for (const Reduced& move : moves)
      for (const Index limit : {Index{64}, Index{200}, Index{1} << 20})
        expect_reduced(world, layout(move.source), layout(move.target), {}, 2, {.staging_limit = limit});
  });
}

TEST_P(PartialOn, ScalarsAndEmptyTensors) {
  run(4, [](World& world) {
    expect_reduced(world, layout("f64[] on (a=4) {a: partial(sum)}"), layout("f64[] on (a=4)"));
    expect_reduced(world, layout("f64[] on (a=4) {a: partial(avg)}"), layout("f64[] on ()@3"));
    expect_reduced(world, layout("i32[0,3] on (a=4) {a: partial(sum)}"), layout("i32[0,3] on (a=4)"));
    expect_reduced(world, layout("i32[4,0,2] on (a=4) {a: partial(min)}"), layout("i32[4,0,2] on (a=4) {0: a}"));
    expect_reduced(world, layout("i32[3] on (a=4) {a: partial(sum)}"), layout("i32[3] on (a=4) {0: a}"));
    expect_reduced(world, layout("i32[6] on (a=2, p=2) {a: partial(sum), p: at(1)}"), layout("i32[6] on (b=4) {0: b}"));
  });
}

// The value is the same after it was pending, whatever the op: sums are not k times as much.
TEST_P(PartialOn, ReplicatedValuesPendAndReturn) {
  run(6, [](World& world) {
    for (const Dtype dtype :
         {Dtype::boolean, Dtype::u8, Dtype::i64, Dtype::f8e4m3, Dtype::f16, Dtype::f32, Dtype::complex64})
      for (const ReduceOp op : kOps) {
        const bool is_complex = dtype == Dtype::complex64, extreme = op == ReduceOp::min || op == ReduceOp::max;
        if ((is_complex && extreme) || (dtype == Dtype::boolean && op == ReduceOp::avg)) continue;
        for (const char* axes : {"a: partial({0})", "b: partial({0}), 0: a", "a: partial({0}), b: partial({0})"}) {
          const std::string shape = fmt::format("{}[5,2] on (a=2, b=3)", name_of(dtype));
          const std::string start =
              std::string_view(axes).find("0: a") != std::string::npos ? shape + " {0: a}" : shape;
          Tensor value = world.allocate(layout(start));
          // Small counting numbers in every dtype: bytes of the element's pattern.
          for (std::size_t i = 0; i < value.bytes().size(); ++i)
            value.bytes()[i] = static_cast<std::byte>(
                bytes_of(dtype) == 1 ? (dtype == Dtype::boolean ? i % 2 : 0x38 + i % 8) : (i * 7 + 1) % 60);
          const Tensor pending = redistribute(
              world, value, layout(fmt::format("{} {{{}}}", shape, fmt::format(fmt::runtime(axes), name_of(op)))));
          const Tensor back = redistribute(world, pending, layout(start));
          const bool rounds = is_complex && op == ReduceOp::product;  // 1 + 0i times subnormals
          if (!std::ranges::equal(value.bytes(), back.bytes()) && !rounds)
            report(world, fmt::format("{} {} {} came back otherwise", name_of(dtype), name_of(op), axes));
        }
      }
  });
}

// A refusal is the same on every rank, before a byte moves, and the world goes on.
TEST_P(PartialOn, RefusalsLeaveTheWorldWhole) {
  run(4, [](World& world) {
    const auto refused = [&](const char* source, const char* target, std::string_view what, PlanOptions options = {}) {
      const Tensor a = world.allocate(layout(source));
      Tensor b = world.allocate(layout(target));
      poison_all(b, target_poison);
      try {
        redistribute(world, a, b, options);
      } catch (const Error& error) {
        if (std::string_view(error.what()).find(what) == std::string_view::npos) report(world, error.what());
        if (std::ranges::count(b.bytes(), target_poison) != std::ssize(b.bytes())) report(world, "a byte moved");
        expect_reduced(world, layout("i32[5] on (a=4) {a: partial(sum)}"), layout("i32[5] on (a=4)"), {}, 1);
        return;
      }
      report(world, "not refused");
    };
    refused("f32[4] on (a=2, b=2) {a: partial(sum), b: partial(max)}", "f32[4] on (a=2, b=2)", "another order");
    refused("complex64[4] on (a=4) {a: partial(min)}", "complex64[4] on (a=4)", "complex64 cannot be reduced by min");
    refused("f32[4] on (a=4) {0: a}", "f32[4] on (a=4) {a: partial(sum)}", "replicated along it first");
    refused("f32[4] on (a=4) {a: partial(sum)}", "f32[4] on (a=4) {0: a}", "staging limit of 15 bytes",
            {.staging_limit = 15});
  });
}

// Programs, and the tensors between their stages, are made once.
TEST_P(PartialOn, PlansOnce) {
  run(4, [](World& world) {
    const Layout source = layout("f32[64] on (a=4) {a: partial(sum)}"), target = layout("f32[64] on (a=4)");
    expect_reduced(world, source, target, {}, 3);
    const Index programs = world.cached_programs();
    const WindowId next = world.allocate(target).window();
    expect_reduced(world, source, target, {}, 3);
    const WindowId then = world.allocate(target).window();
    if (world.cached_programs() != programs) report(world, "planned again");
    if (then.value - next.value > 3) report(world, "made windows again");
  });
}

// Reduced once and gathered: twice (k - 1) / k of the bytes, not k - 1 times.
TEST_P(PartialOn, TrafficIsThatOfTheStages) {
  if (!GetParam()->traits().is_one_host) GTEST_SKIP() << "which copy sends depends on where the ranks are";
  run(4, [](World& world) {
    Tensor a = world.allocate(layout("f32[64] on (a=4) {a: partial(sum)}")),
           b = world.allocate(layout("f32[64] on (a=4)"));
    const Traffic traffic = redistribute(world, a, b);
    if (traffic.bytes_got != 2 * 3 * 64) report(world, fmt::format("got {} bytes", traffic.bytes_got));
    if (traffic.bytes_reduced != 64) report(world, fmt::format("reduced {} bytes", traffic.bytes_reduced));
  });
}

}  // namespace
}  // namespace reshard::multi
