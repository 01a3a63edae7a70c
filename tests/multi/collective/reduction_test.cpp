// Terms that are folded: against a serial fold of what each rank is known to hold.
#include "base/reducible.h"
#include "collective/every_collective.h"
#include "reshard/unroll.h"

namespace reshard::multi {
namespace {

constexpr int kReductionCalls = 3;

class CollectiveReduction : public EveryCollective {};
RESHARD_ON_EVERY_FABRIC(CollectiveReduction, {1, 2, 3, 4, 6, 7, 8});

// Small whole numbers, which every dtype holds exactly; so are their sums and products.
Index term(RankId rank, Index element, Index call) { return (rank.value() * 5 + element * 3 + call) % 4; }

Index folded(ReduceOp op, Index ranks, Index element, Index call) {
  Index value = term(RankId(0), element, call);
  for (RankId rank(1); rank < RankId(ranks); ++rank) {
    const Index next = term(rank, element, call);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg: value += next; break;
      case ReduceOp::product: value *= next % 3; break;
      case ReduceOp::min: value = std::min(value, next); break;
      case ReduceOp::max: value = std::max(value, next); break;
    }
  }
  return op == ReduceOp::avg ? value / ranks : value;
}

void write_terms(Collective& op, Dtype dtype, ReduceOp reduce, RankId me, Index call) {
  const Index bytes = bytes_of(dtype), count = static_cast<Index>(op.input().size()) / bytes;
  for (Index i = 0; i < count; ++i) {
    Index value = term(me, i, call);
    if (reduce == ReduceOp::product && me > RankId(0)) value %= 3;
    if (dtype == Dtype::boolean) value %= 2;
    write_element(dtype, value, op.input().data() + i * bytes);
  }
}

Index expected_element(Dtype dtype, ReduceOp op, Index ranks, Index element, Index call) {
  if (dtype != Dtype::boolean) return folded(op, ranks, element, call);
  bool any = false, all = true;
  for (RankId rank(0); rank < RankId(ranks); ++rank) {
    const Index value = term(rank, element, call);
    const bool truth = (op == ReduceOp::product && rank > RankId(0) ? value % 3 : value) % 2 != 0;
    any |= truth;
    all &= truth;
  }
  return op == ReduceOp::sum || op == ReduceOp::max ? any : all;
}

// Elements from `first` on. Averages of floats that are not whole are left to the units' tests of the kernel.
void expect_folded(const Endpoint& e, Collective& op, Dtype dtype, ReduceOp reduce, Index first, Index call,
                   std::string_view what) {
  const Index bytes = bytes_of(dtype), count = static_cast<Index>(op.output().size()) / bytes;
  const bool is_whole = reduce != ReduceOp::avg || dtype < Dtype::f8e4m3;
  for (Index i = 0; is_whole && i < count; ++i) {
    const Index seen = read_element(dtype, op.output().data() + i * bytes);
    const Index expected = expected_element(dtype, reduce, e.ranks(), first + i, call);
    if (seen != expected)
      report(e, fmt::format("{} of {} by {}, call {}: element {} is {}, expected {}", what, name_of(dtype),
                            name_of(reduce), call, first + i, seen, expected));
  }
}

constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product};

// Products of 8 numbers up to 3 leave a float of 8 bits, and sums of integers an i8 no room.
bool has_room(Dtype dtype, ReduceOp op, Index ranks) {
  const bool is_narrow = bytes_of(dtype) == 1 && dtype != Dtype::boolean;
  return !is_narrow || (op != ReduceOp::product && ranks <= 4);
}

void expect_all_dtypes_by_all_ops(World& world, const Tuning& tuning) {
  const Index n = 37;
  for (const Dtype dtype : all_dtypes()) {
    for (const ReduceOp reduce : kOps) {
      if (!is_reducible(dtype, reduce) || !has_room(dtype, reduce, world.ranks())) continue;
      AllReduce all(world, n, dtype, reduce, {.tuning = &tuning});
      ReduceScatter scattered(world, n, dtype, reduce, {.tuning = &tuning});
      for (Index call = 0; call < 2; ++call) {
        write_terms(all, dtype, reduce, world.rank(), call);
        write_terms(scattered, dtype, reduce, world.rank(), call);
        all.run();
        scattered.run();
        expect_folded(world.endpoint(), all, dtype, reduce, 0, call, "all_reduce");
        expect_folded(world.endpoint(), scattered, dtype, reduce, world.rank().value() * n, call, "reduce_scatter");
      }
    }
  }
}

TEST_P(CollectiveReduction, AllDtypesByAllOps) {
  run_worlds([](World& world) { expect_all_dtypes_by_all_ops(world, Tuning({})); });
}

// Averages of integers, which two levels cannot do, go another way.
TEST_P(CollectiveReduction, AllDtypesByHost) {
  const Tuning by_host = Tuning::parse("all_reduce 2 2 more two_level\nreduce_scatter 2 2 more two_level\n");
  run_on_hosts(2, [&](World& world) { expect_all_dtypes_by_all_ops(world, by_host); });
}

TEST_P(CollectiveReduction, AllReduceOfAllSizes) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      for (const Index n : {0, 1, 15, 1001, 100'009}) {
        AllReduce op(world, n, Dtype::i32, ReduceOp::sum, {.algorithm = algorithm});
        for (Index call = 0; call < kReductionCalls; ++call) {
          write_terms(op, Dtype::i32, ReduceOp::sum, world.rank(), call);
          op.run();
          expect_folded(world.endpoint(), op, Dtype::i32, ReduceOp::sum, 0, call,
                        fmt::format("all_reduce {} of {}", name_of(algorithm), n));
        }
      }
    }
  });
}

TEST_P(CollectiveReduction, InPlace) {
  run_everywhere([](World& world) {
    const Index n = 30'011;
    Tensor x = world.allocate(layout(fmt::format("f32[{0},{1}] on (r={0}) {{0: r}}", world.ranks(), n)));
    for (const Algorithm algorithm : kAlgorithms) {
      AllReduce op(world, n, Dtype::f32, ReduceOp::sum,
                   {.input = x.window(), .output = x.window(), .algorithm = algorithm});
      for (Index call = 0; call < kReductionCalls; ++call) {
        write_terms(op, Dtype::f32, ReduceOp::sum, world.rank(), call);
        op.run();
        expect_folded(world.endpoint(), op, Dtype::f32, ReduceOp::sum, 0, call, "all_reduce in place");
      }
    }
  });
}

TEST_P(CollectiveReduction, ReduceScatterOfUnequalParts) {
  run_everywhere([](World& world) {
    std::vector<Index> parts;
    for (Index rank = 0; rank < world.ranks(); ++rank) parts.push_back(rank % 3 == 1 ? 0 : rank * 9001 + 1);
    Index first = 0;
    for (Index rank = 0; rank < world.rank().value(); ++rank) first += parts[static_cast<std::size_t>(rank)];
    for (const Algorithm algorithm : kAlgorithms) {
      ReduceScatter op(world, parts, Dtype::f64, ReduceOp::max, {.algorithm = algorithm});
      for (Index call = 0; call < kReductionCalls; ++call) {
        write_terms(op, Dtype::f64, ReduceOp::max, world.rank(), call);
        op.run();
        expect_folded(world.endpoint(), op, Dtype::f64, ReduceOp::max, first, call, "reduce_scatter");
      }
    }
  });
}

// 2048 + 1 is 2048 in f16, so that terms that are rounded one by one never get anywhere; and whoever folds, and how,
// the result is the same.
TEST_P(CollectiveReduction, SixteenBitsAreFoldedIn32) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      AllReduce op(world, 100, Dtype::f16, ReduceOp::sum, {.algorithm = algorithm});
      for (Index i = 0; i < 100; ++i)
        write_element(Dtype::f16, world.rank() == RankId(0) ? 2048 : 1, op.input().data() + i * 2);
      op.run();
      const Index exact = 2048 + world.ranks() - 1, even = (exact + 1) / 4 * 4;
      const Index rounded = exact % 2 == 0 ? exact : exact % 4 == 1 ? exact - 1 : even;
      for (Index i = 0; i < 100; ++i)
        expect_equal(world.endpoint(), "sum", read_element(Dtype::f16, op.output().data() + i * 2), rounded);
    }
  });
}

}  // namespace
}  // namespace reshard::multi
