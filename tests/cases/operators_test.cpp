// Operators and their gradients, by the cases of pending values (D), transposes (J) and gradients (K). Every value
// names its rank and index unless the case gives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "reshard/check_adjoint.h"
#include "reshard/halo.h"
#include "reshard/primitives.h"
#include "unit/op/elements.h"
#include "unit/op/refusal.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
Tensor tensor_of(World& world, const Layout& layout, const std::vector<T>& values) {
  Tensor tensor = world.allocate(layout);
  set(tensor, values);
  return tensor;
}

TEST(D1, AnOperatorThatOnlyCutsReducesNothing) {
  thread_ranks(4, [](World& world) {
    const Layout pending = layout("f32[4,4] on (a=2, b=2) {b: partial(sum)}");
    const LinearOp slice = op::scatter_to(pending, "a", 1), reduce = op::reduce_from(slice.out(), "b");
    const Tensor x = tensor_of(world, pending, std::vector<float>(16, 1.0f));
    Tensor part = world.allocate(slice.out());
    EXPECT_EQ(slice.forward(world, x, part).bytes_reduced, 0);
    EXPECT_THAT(elements<float>(part), Each(1.0f));
    EXPECT_THAT(elements<float>(reduce.forward(world, part)), Each(2.0f));
  });
}

TEST(D1, AReplicatedValueIsNoTermOfASum) {
  EXPECT_THAT(
      refusal_of([] { LinearOp("pend", layout("f32[1] on (x=4)"), layout("f32[1] on (x=4) {x: partial(sum)}")); }),
      AllOf(HasSubstr("from invariant to partial(sum)"), HasSubstr("copy_to makes the value varying")));
}

TEST(D2, TheMeshCoordinateDecidesWhereASumGoes) {
  for (const bool turned : {false, true})
    thread_ranks(4, [turned](World& world) {
      const std::string mesh = turned ? "f32[1] on (x=2)@[3,1]" : "f32[1] on (x=2)@[1,3]";
      const LinearOp reduce("reduce to one", layout(mesh + " {x: partial(sum)}"), layout(mesh + " {x: at(0)}"));
      const Index r = world.rank().value();
      const Tensor x =
          tensor_of<float>(world, reduce.in(), r % 2 == 1 ? std::vector{static_cast<float>(r)} : std::vector<float>{});
      const Tensor y = reduce.forward(world, x);
      if (r == (turned ? 3 : 1)) {
        EXPECT_THAT(elements<float>(y), ElementsAre(4.0f));
      } else {
        EXPECT_THAT(elements<float>(y), IsEmpty());
      }
      EXPECT_LE(check_adjoint(world, reduce).error, 1e-5);
    });
}

TEST(D4, MixedKindsAreNoOperator) {
  EXPECT_THAT(refusal_of(
                  [] {
                    LinearOp("reduce",
                             layout("f32[1] on (a=2, b=2, c=2) {a: partial(sum), b: partial(max), c: partial(sum)}"),
                             layout("f32[1] on (a=2, b=2, c=2)"));
                  },
                  Code::unsupported),
              AllOf(HasSubstr("partial(max) along \"b\""), HasSubstr("reduce it first")));
}

TEST(D5, GradientsOfEightBitFloatsAreSummedAsFloats) {
  thread_ranks(2, [](World& world) {
    const LinearOp copy = op::copy_to(layout("f8e4m3[1] on (x=2)"), "x");
    const Tensor gy = tensor_of<std::uint8_t>(world, copy.out_dual(), {0x38});
    EXPECT_THAT(elements<std::uint8_t>(copy.adjoint(world, gy)), ElementsAre(0x40));
  });
  EXPECT_THAT(
      refusal_of([] { op::reduce_from(layout("complex64[1] on (x=2) {x: partial(max)}"), "x"); }, Code::unsupported),
      HasSubstr("only a pending sum is linear"));
}

TEST(D6, APendingSumIsScatteredUnevenly) {
  thread_ranks(2, [](World& world) {
    const LinearOp op = op::reduce_from_scatter_to(layout("i64[5] on (x=2) {x: partial(sum)}"), "x", 0);
    const Tensor y = op.forward(world, tensor_of<Index>(world, op.in(), {0, 1, 2, 3, 4}));
    EXPECT_EQ(elements<Index>(y),
              world.rank() == RankId(0) ? (std::vector<Index>{0, 2, 4}) : (std::vector<Index>{6, 8}));
  });
  // More ranks than rows.
  thread_ranks(4, [](World& world) {
    const LinearOp op = op::reduce_from_scatter_to(layout("i64[3] on (x=4) {x: partial(sum)}"), "x", 0);
    const Tensor y = op.forward(world, tensor_of<Index>(world, op.in(), {1, 2, 3}));
    const Index r = world.rank().value();
    EXPECT_EQ(elements<Index>(y), r == 3 ? std::vector<Index>{} : std::vector<Index>{4 * (r + 1)});
  });
}

// Rows of `n` elements from `first` on.
std::vector<Index> run_of(Index first, Index n) {
  std::vector<Index> values;
  for (Index k = 0; k < n; ++k) values.push_back(first + k);
  return values;
}

TEST(J6, ADimensionSmallerThanTheGroupIsCut) {
  thread_ranks(2, [](World& world) {
    const LinearOp op = op::transpose(layout("i64[1,4,6] on (x=2) {1: x}"), "x", 0, 1);
    const Index r = world.rank().value();
    const Tensor x = tensor_of(world, op.in(), run_of(12 * r, 12));
    const Tensor y = op.forward(world, x);
    EXPECT_EQ(elements<Index>(y), r == 0 ? run_of(0, 24) : std::vector<Index>{});
    EXPECT_EQ(elements<Index>(op.adjoint(world, y)), run_of(12 * r, 12));
  });
}

TEST(J6, ThreeChannelsOverFourRanks) {
  thread_ranks(4, [](World& world) {
    const LinearOp op = op::transpose(layout("i64[3,8] on (x=4) {1: x}"), "x", 0, 1);
    const Index r = world.rank().value();
    std::vector<Index> columns;
    for (Index channel = 0; channel < 3; ++channel)
      for (const Index value : run_of(8 * channel + 2 * r, 2)) columns.push_back(value);
    const Tensor x = tensor_of(world, op.in(), columns);
    const Tensor y = op.forward(world, x);
    EXPECT_EQ(elements<Index>(y), r == 3 ? std::vector<Index>{} : run_of(8 * r, 8));
    EXPECT_EQ(elements<Index>(op.adjoint(world, y)), columns);
    // The same with padding: no rank is without a channel.
    const LinearOp pad = op::flatten_and_pad_leading_dims(layout("i64[3,8] on (x=4) {1: x}"), 4, 1);
    const LinearOp padded = op::transpose(pad.out(), "x", 0, 1);
    const Tensor wide = padded.forward(world, pad.forward(world, x));
    EXPECT_EQ(elements<Index>(wide), r == 3 ? std::vector<Index>(8, 0) : run_of(8 * r, 8));
    EXPECT_EQ(elements<Index>(pad.adjoint(world, padded.adjoint(world, wide))), columns);
  });
}

TEST(J8, AnUnevenTransposeKeepsTheOffsetsOfBothSides) {
  thread_ranks(2, [](World& world) {
    const LinearOp op = op::transpose(layout("i64[5,4] on (x=2) {0: x}"), "x", 1, 0);
    const bool first = world.rank() == RankId(0);
    const Tensor x = tensor_of<Index>(world, op.in(),
                                      first ? std::vector<Index>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}
                                            : std::vector<Index>{30, 31, 32, 33, 40, 41, 42, 43});
    const Tensor y = op.forward(world, x);
    EXPECT_EQ(elements<Index>(y), first ? (std::vector<Index>{0, 1, 10, 11, 20, 21, 30, 31, 40, 41})
                                        : (std::vector<Index>{2, 3, 12, 13, 22, 23, 32, 33, 42, 43}));
    EXPECT_EQ(elements<Index>(op.adjoint(world, y)), elements<Index>(x));
  });
}

TEST(J8, AnUnevenTransposeWithAHaloOnItsOtherSide) {
  thread_ranks(3, [](World& world) {
    const LinearOp op = op::transpose(layout("i64[7,5] on (x=3) {0: x}"), "x", 1, 0);
    const LinearOp widen = op::widen(op.out(), {{{.dim = 1, .lo = 1, .hi = 1, .edge = HaloEdge::zero()}}});
    const Index r = world.rank().value();
    std::vector<Index> rows;  // 3, 3, 1 of them
    for (Index row = 3 * r; row < std::min<Index>(3 * r + 3, 7); ++row)
      for (const Index value : run_of(10 * row, 5)) rows.push_back(value);
    const Tensor wide = widen.forward(world, op.forward(world, tensor_of(world, op.in(), rows)));
    std::vector<Index> columns;  // 2, 2, 1 of them, and one more at each side
    for (Index row = 0; row < 7; ++row)
      for (Index column = 2 * r - 1; column < std::min<Index>(2 * r + 2, 5) + 1; ++column)
        columns.push_back(column < 0 || column >= 5 ? 0 : 10 * row + column);
    EXPECT_EQ(elements<Index>(wide), columns);
    EXPECT_EQ(check_adjoint(world, op).error, 0);
    EXPECT_EQ(check_adjoint(world, widen).error, 0);
  });
}

TEST(J10, DimensionsAreThoseOfTheTensor) {
  const Layout cut = layout("f32[4,5,6] on (x=2) {0: x}");
  EXPECT_THAT(refusal_of([&] { op::transpose(cut, "x", 3, 0); }),
              AllOf(HasSubstr("transpose: dimension 3 is out of range for a tensor of 3 dimensions"),
                    HasSubstr("f32[4,5,6] on (x=2) {0: x}")));
  const LinearOp thin = op::transpose(layout("i64[1,6] on (x=2) {1: x}"), "x", 0, 1);
  thread_ranks(2, [&](World& world) {
    const Index r = world.rank().value();
    const Tensor y = thin.forward(world, tensor_of(world, thin.in(), run_of(3 * r, 3)));
    EXPECT_EQ(elements<Index>(y), r == 0 ? run_of(0, 6) : std::vector<Index>{});
  });
}

TEST(K1, GradientsOfCopyAndReduceAreNotScaled) {
  thread_ranks(4, [](World& world) {
    const Layout whole = layout("f64[1] on (x=4)");
    const LinearOp copy = op::copy_to(whole, "x"), reduce = op::reduce_from(copy.out_dual(), "x");
    const double g = static_cast<double>(world.rank().value() + 1);
    EXPECT_THAT(elements<double>(copy.adjoint(world, tensor_of(world, copy.out_dual(), std::vector{g}))),
                ElementsAre(10));
    EXPECT_THAT(elements<double>(reduce.adjoint(world, tensor_of(world, reduce.out_dual(), std::vector{g}))),
                ElementsAre(g));
    EXPECT_LE(check_adjoint(world, copy).error, 1e-12);
    EXPECT_LE(check_adjoint(world, reduce).error, 1e-12);
  });
}

// A loss of (r + 1) * sum(gathered) on rank r.
TEST(K2, TheGradientOfAGatherSumsOverRanks) {
  thread_ranks(2, [](World& world) {
    const LinearOp op = op::gather_from_copy_to(layout("f64[4] on (x=2) {0: x}"), "x", 0);
    const double g = static_cast<double>(world.rank().value() + 1);
    const Tensor gx = op.adjoint(world, tensor_of(world, op.out_dual(), std::vector(4, g)));
    EXPECT_THAT(elements<double>(gx), ElementsAre(3, 3));
  });
}

TEST(K4, TheGradientOfABroadcastInASubgroupIsTheSumOfItsRanks) {
  for (const bool pair : {false, true})
    thread_ranks(4, [pair](World& world) {
      const std::string mesh = pair ? "f64[1] on (x=2)@[1,3]" : "f64[1] on (x=1)@1";
      const LinearOp broadcast("broadcast", layout(mesh + " {x: at(0)}"), layout(mesh + " {x: varying}"));
      const Index r = world.rank().value();
      const bool is_member = r == 1 || (pair && r == 3);
      const Tensor ones = tensor_of(world, broadcast.out_dual(), std::vector(is_member ? 1u : 0u, 1.0));
      const Tensor gx = broadcast.adjoint(world, ones);
      if (r == 1) {
        EXPECT_THAT(elements<double>(gx), ElementsAre(pair ? 2 : 1));
      } else {
        EXPECT_THAT(elements<double>(gx), IsEmpty());  // it gives nothing, so that it has no gradient
      }
    });
}

TEST(K5, AGradientOfAnotherPlacementIsRedistributed) {
  thread_ranks(2, [](World& world) {
    const LinearOp same("identity", layout("f64[2] on (x=2) {0: x}"), layout("f64[2] on (x=2) {0: x}"));
    const double g = static_cast<double>(world.rank().value() + 1);
    const Tensor pending = tensor_of(world, layout("f64[2] on (x=2) {x: partial(sum)}"), std::vector(2, g));
    EXPECT_THAT(refusal_of([&] { same.adjoint(world, pending); }),
                AllOf(HasSubstr("along \"x\" it is partial(sum), not cut"), HasSubstr("redistribute()")));
    const Tensor gy = redistribute(world, pending, same.out_dual());
    EXPECT_THAT(elements<double>(same.adjoint(world, gy)), ElementsAre(3));
  });
}

TEST(K7, AGradientCutAlongColumnsKeepsItsOrder) {
  thread_ranks(2, [](World& world) {
    const bool first = world.rank() == RankId(0);
    const LinearOp gather = op::gather_from(layout("i64[2,2] on (x=2) {1: x}"), "x", 1);
    const Tensor gy = tensor_of<Index>(world, gather.out_dual(), {0, 1, 2, 3});
    const Tensor gx = gather.adjoint(world, gy);
    EXPECT_EQ(elements<Index>(gx), first ? (std::vector<Index>{0, 2}) : (std::vector<Index>{1, 3}));
    EXPECT_THAT(elements<Index>(gather.forward(world, gx)), ElementsAre(0, 1, 2, 3));
  });
}

}  // namespace
}  // namespace reshard
