// Kinds and their duals, which moves are operators, and what the others are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "reshard/op.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Dual, SwapsVaryingAndPending) {
  const std::pair<const char*, const char*> duals[] = {
      {"f32[8] on (a=2, b=3)", "f32[8] on (a=2, b=3)"},
      {"f32[8] on (a=2, b=3) {0: a}", "f32[8] on (a=2, b=3) {0: a}"},
      {"f32[8] on (a=2, b=3) {a: varying}", "f32[8] on (a=2, b=3) {a: partial(sum)}"},
      {"f32[8] on (a=2, b=3) {a: varying, b: partial(sum)}", "f32[8] on (a=2, b=3) {a: partial(sum), b: varying}"},
      {"f32[8] on (a=2, b=3) {0: a:sizes[8,0], b: at(2)}", "f32[8] on (a=2, b=3) {0: a:sizes[8,0], b: at(2)}"},
      {"f32[8,2] on (a=1) {a: partial(sum)} order(1,0)", "f32[8,2] on (a=1) {a: varying} order(1,0)"},
  };
  for (const auto& [from, to] : duals) {
    EXPECT_EQ(dual(layout(from)).text(), to);
    EXPECT_EQ(dual(layout(to)).text(), from);
  }
}

TEST(Dual, OtherPendingValuesHaveNone) {
  for (const char* op : {"avg", "min", "max", "product"}) {
    const Layout pending = layout("f32[8] on (a=2) {a: partial(" + std::string(op) + ")}");
    EXPECT_THAT(refusal_of([&] { dual(pending); }, Code::unsupported),
                AllOf(HasSubstr("partial(" + std::string(op) + ") along \"a\""), HasSubstr("reduce it first")));
  }
}

// Every kind to every kind: exactly the edges of the table, and each adjoint is an edge as well.
TEST(Edges, AreThoseOfTheTable) {
  const std::string text = "f64[4,6] on (x=2) ";
  const char* const kinds[] = {"", "{x: varying}", "{x: partial(sum)}", "{0: x}", "{1: x}", "{x: at(1)}"};
  const std::string edges[] = {"110111", "010000", "111111", "110111", "110111", "110111"};
  for (std::size_t from = 0; from < 6; ++from)
    for (std::size_t to = 0; to < 6; ++to) {
      const Layout in = layout(text + kinds[from]), out = layout(text + kinds[to]);
      std::string refused;
      try {
        const LinearOp op("an operator", in, out);
        EXPECT_EQ(op.adjoint().in(), dual(out));
        EXPECT_EQ(op.adjoint().out(), dual(in));
        EXPECT_EQ(op.adjoint().adjoint(), op);
        EXPECT_NO_THROW(LinearOp("its adjoint", dual(out), dual(in)));
      } catch (const Error& error) {
        refused = error.what();
        EXPECT_EQ(error.code(), Code::invalid_argument);
        EXPECT_THROW(LinearOp("its adjoint", dual(out), dual(in)), Error);
        EXPECT_THAT(refused, AllOf(HasSubstr("an operator: axis \"x\" cannot go from "), HasSubstr(in.text()),
                                   HasSubstr(out.text())));
      }
      EXPECT_EQ(refused.empty(), edges[from][to] == '1') << in.text() << " -> " << out.text() << ": " << refused;
    }
}

TEST(Edges, RefusalsNameWhatWasProbablyMeant) {
  const auto refusal = [](const char* in, const char* out) {
    return refusal_of([&] { LinearOp("step", layout(in), layout(out)); });
  };
  EXPECT_THAT(refusal("f32[4] on (x=2) {x: varying}", "f32[4] on (x=2)"),
              AllOf(HasSubstr("from varying to invariant"), HasSubstr("gather_from instead of gather_from_copy_to")));
  EXPECT_THAT(refusal("f32[4] on (x=2) {x: varying}", "f32[4] on (x=2) {0: x}"),
              AllOf(HasSubstr("from varying to cut"), HasSubstr("scatter_to takes an invariant value")));
  EXPECT_THAT(refusal("f32[4] on (x=2)", "f32[4] on (x=2) {x: partial(sum)}"),
              AllOf(HasSubstr("from invariant to partial(sum)"), HasSubstr("copy_to makes the value varying")));
  EXPECT_THAT(refusal("f32[4] on (x=2) {x: at(1)}", "f32[4] on (x=2) {x: partial(sum)}"),
              AllOf(HasSubstr("from at(1) to partial(sum)"), HasSubstr("gather_from_copy_to")));
  EXPECT_THAT(refusal("f32[4] on (x=2) {x: varying}", "f32[4] on (x=2) {x: partial(sum)}"),
              HasSubstr("equal values are no terms of a sum"));
}

TEST(Edges, BetweenMeshesNothingVariesOrPendsOnward) {
  EXPECT_NO_THROW(
      LinearOp("move", layout("f32[4] on (x=2) {x: partial(sum)}"), layout("f32[4] on (y=3)@2 {y: varying}")));
  EXPECT_NO_THROW(LinearOp("move", layout("f32[4] on (x=2) {0: x}"), layout("f32[4] on (y=3)@2 {0: y}")));
  EXPECT_NO_THROW(LinearOp("move", layout("f32[4] on a(x=2) {x: varying}"), layout("f32[4] on b(x=2) {x: varying}")));
  EXPECT_THAT(refusal_of([] { LinearOp("move", layout("f32[4] on (x=2) {x: varying}"), layout("f32[4] on (y=3)@2")); }),
              HasSubstr("varying along \"x\", and leaves these ranks"));
  EXPECT_THAT(
      refusal_of([] { LinearOp("move", layout("f32[4] on (x=2)"), layout("f32[4] on (y=3)@2 {y: partial(sum)}")); }),
      HasSubstr("pends along \"y\", but its terms are on other ranks"));
}

TEST(Edges, ShapesDtypesAndTruthsAreChecked) {
  EXPECT_THAT(refusal_of([] { LinearOp("move", layout("f32[4] on (x=2)"), layout("f32[5] on (x=2)")); }),
              HasSubstr("both must describe the same tensor"));
  EXPECT_THAT(refusal_of([] { LinearOp("move", layout("f32[4] on (x=2)"), layout("f64[4] on (x=2)")); }),
              HasSubstr("convert the dtype"));
  EXPECT_THAT(refusal_of([] { LinearOp("move", layout("bool[4] on (x=2)"), layout("bool[4] on (x=2) {x: varying}")); },
                         Code::unsupported),
              AllOf(HasSubstr("a sum of truths is `or`"), HasSubstr("convert to integers")));
  EXPECT_NO_THROW(LinearOp("move", layout("bool[4] on (x=2)"), layout("bool[4] on (x=2) {0: x}")));
  EXPECT_THAT(
      refusal_of([] { LinearOp("move", layout("f32[4] on (x=2) {x: partial(max)}"), layout("f32[4] on (x=2)")); },
                 Code::unsupported),
      HasSubstr("only a pending sum is linear"));
}

}  // namespace
}  // namespace reshard
