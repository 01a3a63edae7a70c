// [op.adjoint]: forward against the whole tensor, and <A x, y> == <x, A* y>, for every operator, number of ranks, size,
// split rule and dtype.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "every_operator.h"
#include "global_values.h"
#include "op/flow.h"
#include "refusal.h"
#include "reshard/check_adjoint.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Every rule of cut.h that serves `n` elements over `ranks` ranks.
std::vector<op::Split> splits_of(Index n, Index ranks) {
  std::vector<op::Split> splits;
  if (n == 0) return {op::balanced()};  // all rules are the same
  for (const Rule rule : {Rule::chunk, Rule::balanced, Rule::balanced_last, Rule::floor, Rule::cyclic, Rule::window}) {
    splits.emplace_back().rule = rule;
    if (rule == Rule::cyclic) splits.back().block = 2;
    if (rule == Rule::window) splits.back().block = (ranks - n % ranks) % ranks;
  }
  if (n % ranks == 0) splits.emplace_back().rule = Rule::even;
  std::vector<Index> listed(static_cast<std::size_t>(ranks), 0);
  for (Index k = 0; k < n; ++k)
    ++listed[static_cast<std::size_t>((k * 3 + 1) % ranks / 2)];  // the last ones get nothing
  splits.push_back(op::sizes(listed));
  splits.emplace_back().pieces = Pieces::parts;
  splits.back().piece_sizes = {n / 3, n - n / 3};
  splits.emplace_back().pieces = Pieces::strided_shard;
  splits.back().piece_count = 2;
  return splits;
}

// Ranks in an order of their own where there are enough.
std::string mesh_of(Index ranks) {
  if (ranks == 3) return "(x=3)@[2,0,1]";
  if (ranks == 7) return "(x=7)@[3,6,0,5,1,4,2]";
  return fmt::format("(x={})", ranks);
}

void expect_right(World& world, const LinearOp& op, Index epoch) {
  Tensor x = world.allocate(op.in());
  fill_values(x, epoch);
  const std::string forward = fault_of(op.forward(world, x), op.in(), epoch);
  EXPECT_EQ(forward, "") << op.text();
  EXPECT_EQ(fault_of(x, op.in(), epoch), "") << "the input was changed by " << op.text();
  Tensor gy = world.allocate(op.out_dual());
  fill_values(gy, epoch + 1);
  EXPECT_EQ(fault_of(op.adjoint(world, gy), op.out_dual(), epoch + 1), "") << op.text();
}

class OpAdjoint : public testing::TestWithParam<Index> {};

TEST_P(OpAdjoint, EveryOperatorSizeAndSplitIsExactInIntegers) {
  const Index ranks = GetParam();
  thread_ranks(ranks, [ranks](World& world) {
    Index epoch = 0;
    for (const Index n : {2 * ranks, Index{10}, Index{3}, Index{0}}) {
      const Layout plain = layout(fmt::format("i64[{},5] on {}", n, mesh_of(ranks)));
      for (const op::Split& split : splits_of(n, ranks))
        for (const NamedOperator& named : every_operator()) {
          const LinearOp op = named.make(plain, "x", split);
          EXPECT_EQ(op.name(), named.name);
          expect_right(world, op, ++epoch);
          const AdjointReport report = check_adjoint(world, op, {.seed = static_cast<std::uint64_t>(epoch)});
          EXPECT_EQ(report.error, 0);
          EXPECT_EQ(report.forward, report.adjoint) << op.text();
        }
    }
  });
}

TEST_P(OpAdjoint, EveryOperatorAndDtypeIsWithinItsTolerance) {
  const Index ranks = GetParam();
  thread_ranks(ranks, [ranks](World& world) {
    for (const Dtype dtype : all_dtypes()) {
      if (dtype == Dtype::boolean) continue;
      const Layout plain = layout(fmt::format("{}[11,4] on {}", name_of(dtype), mesh_of(ranks)));
      for (const NamedOperator& named : every_operator()) {
        const LinearOp op = named.make(plain, "x", op::balanced());
        const AdjointReport report = check_adjoint(world, op, {.seed = 7});
        EXPECT_LE(report.error, report.tolerance) << op.text();
        EXPECT_LE(report.tolerance, bytes_of(dtype) >= 8 && dtype != Dtype::complex64 ? 1e-12 : 1e-3);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, OpAdjoint, testing::Values(1, 2, 3, 4, 6, 7, 8), testing::PrintToStringParamName());

// With another axis that cuts, varies, pends or holds at one coordinate meanwhile.
TEST(OpAdjointGrid, OtherAxesStayAsTheyAre) {
  thread_ranks(6, [](World& world) {
    Index epoch = 0;
    for (const char* mesh : {"(x=2, y=3)", "(y=3, x=2)", "(y=2, x=3)@[5,1,3,0,4,2]", "(x=6, y=1)", "(x=1, y=6)"})
      for (const char* other : {"", " {0: y}", " {1: y}", " {y: varying}", " {y: partial(sum)}", " {y: at(0)}"})
        for (const NamedOperator& named : every_operator()) {
          const Layout plain = layout(fmt::format("i64[7,5] on {}{}", mesh, other));
          const LinearOp op = named.make(plain, "x", op::balanced());
          expect_right(world, op, ++epoch);
          check_adjoint(world, op, {.seed = static_cast<std::uint64_t>(epoch)});
        }
  });
}

// What no name of one axis says.
TEST(OpAdjointGrid, SeveralAxesAtOnceAndOtherMeshes) {
  const std::pair<const char*, const char*> moves[] = {
      {"i64[7,5] on (x=2, y=3) {x: partial(sum), y: partial(sum)}", "i64[7,5] on (x=2, y=3) {x: varying}"},
      {"i64[7,5] on (x=2, y=3) {x: partial(sum)}", "i64[7,5] on (x=2, y=3) {0: x, y: varying}"},
      {"i64[7,5] on (x=2, y=3) {0: x y}", "i64[7,5] on (x=2, y=3) {1: (y x)}"},
      {"i64[7,5] on (x=2, y=3) {0: y:cyclic(1), x: at(1)}", "i64[7,5] on (x=2, y=3) {y: varying}"},
      {"i64[7,5] on (x=2, y=3) {x: at(1), y: at(2)}", "i64[7,5] on (x=2, y=3) {x: varying, y: varying}"},
      {"i64[7,5] on (x=2)", "i64[7,5] on (y=3)@2 {y: varying}"},
      {"i64[7,5] on (x=2) {x: partial(sum)}", "i64[7,5] on (y=3)@1 {0: y}"},
      {"i64[7,5] on (x=2) {1: x}", "i64[7,5] on (y=3)@[4,0,2]"},
      {"i64[12,5][2:9, :] on (x=2) {0: x}", "i64[7,5] on (y=3) {1: y} order(1,0)"},
  };
  for (const auto& [in, out] : moves) {
    const LinearOp op("move", layout(in), layout(out));
    EXPECT_EQ(check_adjoint(op).error, 0) << op.text();
    EXPECT_EQ(check_adjoint(op.adjoint()).error, 0) << op.text();
  }
}

// A move that is carried out as a program like any other.
class ProgramFlow : public Flow {
 public:
  ProgramFlow(Layout source, Layout target) : source_(std::move(source)), target_(std::move(target)) {}
  std::string text() const override { return "program " + source_.text() + " -> " + target_.text(); }
  Program program(Index ranks, std::optional<RankId> only, const RankHosts& hosts) const override {
    return only ? redistribute_program(source_, target_, *only, ranks, {}, hosts)
                : redistribute_program(plan(source_, target_), ranks, hosts);
  }

 private:
  Layout source_, target_;
};

// The check can fail: an adjoint of another operator, and copies that differ.
TEST(CheckAdjoint, FindsAnAdjointThatIsNone) {
  const Layout cut = layout("f64[7] on (x=3) {0: x}"), whole = layout("f64[7] on (x=3)");
  const Layout varying = layout("f64[7] on (x=3) {x: varying}"), pending = dual(varying);
  // gather_from_copy_to whose gradient is only sliced: what each rank found is lost but for the slice of the first
  // term.
  const auto with_adjoint = [&](const LinearOp& right, const Layout& from, const Layout& to) {
    return linear_op({right.name(), right.in(), right.out(), std::make_shared<ProgramFlow>(right.in(), right.out()),
                      std::make_shared<ProgramFlow>(from, to)});
  };
  const auto refusal = [](const LinearOp& op) { return refusal_of([&] { check_adjoint(op); }, Code::corrupt); };
  const LinearOp gather("gather_from_copy_to", cut, varying);
  EXPECT_THAT(
      refusal(with_adjoint(gather, whole, cut)),
      AllOf(HasSubstr("gather_from_copy_to: f64[7] on (x=3) {0: x} -> f64[7] on (x=3) {x: varying}"),
            HasSubstr("the adjoint is not the adjoint, in f64"), HasSubstr("<A x, y> is "), HasSubstr("seed 1")));
  // reduce_from by the naive rule, all-reduce again: too large by a factor of the number of ranks.
  const LinearOp reduce("reduce_from", pending, whole);
  EXPECT_THAT(refusal(with_adjoint(reduce, pending, whole)), HasSubstr("the adjoint is not the adjoint"));
  // copy_to whose gradient is not summed: ranks that hold one invariant value hold different ones.
  const LinearOp copy("copy_to", whole, varying);
  EXPECT_THAT(refusal(with_adjoint(copy, whole, whole)), HasSubstr("hold one invariant value"));
  // The same ways with the right ends.
  EXPECT_EQ(refusal(with_adjoint(gather, pending, cut)), "accepted");
  EXPECT_EQ(refusal(with_adjoint(reduce, whole, varying)), "accepted");
  EXPECT_EQ(refusal(with_adjoint(copy, pending, whole)), "accepted");
}

TEST(CheckAdjoint, RefusesTruthsAndSaysItsTolerances) {
  EXPECT_THROW(check_adjoint(op::scatter_to(layout("bool[4] on (x=2)"), "x", 0)), Error);
  EXPECT_EQ(adjoint_tolerance(Dtype::i64), 0);
  EXPECT_EQ(adjoint_tolerance(Dtype::complex128), 1e-12);
  EXPECT_EQ(adjoint_tolerance(Dtype::f32), 1e-5);
}

}  // namespace
}  // namespace reshard
