// Operators on tensors: what they take, what they leave alone, what they refuse on all ranks, and how often they plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "every_operator.h"
#include "global_values.h"
#include "reshard/check.h"
#include "reshard/error.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

std::vector<std::string> errors_of(Index ranks, const std::function<void(World&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  thread_ranks(ranks, [&](World& world) {
    try {
      body(world);
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(world.rank().value())] = error.what();
    }
    world.barrier();  // the world can go on
  });
  return errors;
}

TEST(LinearOp, TensorsOfAnotherLayoutAreRefusedOnAllRanks) {
  const LinearOp gather = op::gather_from(layout("f64[6] on (x=3) {0: x}"), "x", 0);
  const auto errors = errors_of(3, [&](World& world) {
    Tensor x = world.allocate(layout("f64[6] on (x=3) {0: x:sizes[1,2,3]}"));
    gather.forward(world, x);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("gather_from: the x that was given"), HasSubstr("sizes[1,2,3]"),
                                 HasSubstr("taken f64[6] on (x=3) {0: x}"))));
  EXPECT_THAT(errors, Each(errors[0]));
  const auto into = errors_of(3, [&](World& world) {
    Tensor x = world.allocate(gather.in()), y = world.allocate(layout("f64[6] on (x=3) {x: varying}"));
    gather.forward(world, x, y);
  });
  EXPECT_THAT(into,
              Each(AllOf(HasSubstr("gather_from: the y that was given"), HasSubstr("it is varying, not invariant"))));
}

// A gradient of the other kind is the mistake that costs a factor or a sum: it is named, with the operator it is of.
TEST(LinearOp, GradientsOfTheOtherKindNameTheOperatorTheyAreOf) {
  struct Mistake {
    LinearOp op;
    std::string given;
    std::string hint;
  };
  const Layout cut = layout("f64[6] on (x=3) {0: x}"), whole = layout("f64[6] on (x=3)");
  const Mistake mistakes[] = {
      {op::gather_from(cut, "x", 0), "f64[6] on (x=3) {x: partial(sum)}", "gather_from_copy_to has that gradient"},
      {op::gather_from_copy_to(cut, "x", 0), "f64[6] on (x=3)", "gather_from is for one computation on all ranks"},
      {op::reduce_from(pending_along(whole, "x"), "x"), "f64[6] on (x=3) {x: partial(sum)}",
       "all_reduce has that gradient"},
      {op::all_reduce(pending_along(whole, "x"), "x"), "f64[6] on (x=3)", "reduce_from is for one computation"},
      {op::copy_to(whole, "x"), "f64[6] on (x=3)", "each rank goes on differently with the result"},
      {op::copy_to(whole, "x"), "f64[6] on (x=3) {x: varying}", "must be laid out as partial(sum)"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto errors = errors_of(3, [&](World& world) {
      Tensor gy = world.allocate(layout(mistake.given));
      mistake.op.adjoint(world, gy);
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr(mistake.op.name() + ": the gradient of y"), HasSubstr("along \"x\""),
                                   HasSubstr(mistake.hint))));
    EXPECT_THAT(errors, Each(errors[0]));
  }
}

TEST(LinearOp, RanksThatDisagreeAreToldWhatEachDoes) {
  const LinearOp copy = op::copy_to(layout("f64[6] on (x=2)"), "x");
  const auto errors = errors_of(2, [&](World& world) {
    Tensor right = world.allocate(copy.in()), wrong = world.allocate(layout("f64[6] on (x=2) {x: varying}"));
    Tensor y = world.allocate(copy.out());
    copy.forward(world, world.rank() == RankId(0) ? right : wrong, y);
  });
  EXPECT_THAT(errors,
              Each(AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"), HasSubstr("copy_to: the x that was given"))));
}

TEST(LinearOp, OneTensorIsNotBothEnds) {
  const LinearOp same("identity", layout("f64[6] on (x=2) {0: x}"), layout("f64[6] on (x=2) {0: x}"));
  const auto errors = errors_of(2, [&](World& world) {
    Tensor x = world.allocate(same.in());
    same.forward(world, x, x);
  });
  EXPECT_THAT(errors, Each(HasSubstr("cannot be moved into itself")));
}

TEST(LinearOp, TensorsThatWereMovedFromAreRefused) {
  const LinearOp same("identity", layout("f64[6] on (x=2) {0: x}"), layout("f64[6] on (x=2) {0: x}"));
  const auto errors = errors_of(2, [&](World& world) {
    Tensor x = world.allocate(same.in());
    const Tensor taken = std::move(x);
    EXPECT_NO_THROW(same.adjoint(world, same.forward(world, taken)));
    same.forward(world, x);
  });
  EXPECT_THAT(errors, Each(HasSubstr("one that was moved from")));
}

// Also where forward is the identity: writing to the result leaves the input as it was.
TEST(LinearOp, ResultsAreOtherTensors) {
  thread_ranks(2, [](World& world) {
    const LinearOp copy = op::copy_to(layout("i64[6] on (x=2)"), "x");
    Tensor x = world.allocate(copy.in());
    fill_values(x, 1);
    Tensor y = copy.forward(world, x);
    std::ranges::fill(y.bytes(), std::byte{0xff});
    EXPECT_EQ(fault_of(x, copy.in(), 1), "");
    EXPECT_EQ(y.layout(), copy.out());
    EXPECT_EQ(y.name(), "copy_to");
  });
}

TEST(LinearOp, IsPlannedOnce) {
  thread_ranks(3, [](World& world) {
    const LinearOp op = op::all_reduce(layout("i64[60] on (x=3) {x: partial(sum)}"), "x");
    Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
    for (Index epoch = 1; epoch < 5; ++epoch) {
      fill_values(x, epoch);
      op.forward(world, x, y);
      EXPECT_EQ(fault_of(y, op.in(), epoch), "");
      EXPECT_EQ(world.cached_programs(), 1);
    }
  });
}

TEST(LinearOp, TellsWhatItIs) {
  const LinearOp op = op::gather_from(layout("f64[6] on (x=3) {0: x}"), "x", 0);
  EXPECT_EQ(op.text(), "gather_from: f64[6] on (x=3) {0: x} -> f64[6] on (x=3)");
  EXPECT_EQ(op.adjoint().text(), "adjoint of gather_from: f64[6] on (x=3) -> f64[6] on (x=3) {0: x}");
  EXPECT_EQ(op.adjoint().adjoint(), op);
  EXPECT_FALSE(op == op::gather_from_copy_to(op.in(), "x", 0));
}

// What an element of the target must be, in terms of the inputs of all ranks.
Term source_of(const LinearOp& op, RankId rank, Index linear) {
  Term sum{.kind = Term::Kind::fold, .dtype = Dtype::i64, .op = ReduceOp::sum};
  const Mesh& mesh = op.in().mesh();
  const auto input_of = [&](RankId owner) -> std::optional<Term> {
    std::optional<Term> term;
    each_held(op.in(), owner, [&](Index address, Index at) {
      if (at == linear)
        term = Term{.kind = Term::Kind::input, .rank = owner, .window = 0, .offset = 8 * address, .dtype = Dtype::i64};
    });
    return term;
  };
  if (!op.in().has_partial()) {
    if (auto own = input_of(rank)) return *own;
    for (RankId owner(0); owner < mesh.end_rank(); ++owner)
      if (auto term = input_of(owner)) return *term;
  }
  for (const Coordinate& coordinate : terms_of(op.in(), op.out(), rank))
    sum.terms.push_back(*input_of(mesh.rank_at(coordinate)));
  return sum.terms.size() == 1 ? sum.terms[0] : sum;
}

std::vector<Expectation> expected_of(const LinearOp& op, Index ranks) {
  std::vector<Expectation> all;
  for (RankId rank(0); rank < RankId(ranks); ++rank)
    each_held(op.out(), rank, [&](Index address, Index linear) {
      all.push_back({.rank = rank,
                     .window = 1,
                     .offset = 8 * address,
                     .dtype = Dtype::i64,
                     .value = source_of(op, rank, linear)});
    });
  return all;
}

// Callers fill the source before each run, and read the target after it.
Program owned_by_callers(Program program) {
  for (WindowSpec& window : program.windows) window.dtype = Dtype::i64;
  program.windows[0].role = BufferRole::input;
  program.windows[1].role = BufferRole::output;
  return program;
}

TEST(OperatorPrograms, NoInterleavingGoesWrong) {
  for (const Index ranks : {1, 2, 3, 4})
    for (const NamedOperator& named : every_operator()) {
      const LinearOp op = named.make(layout(fmt::format("i64[{},2] on (x={})", ranks + 1, ranks)), "x", op::balanced());
      for (const LinearOp& direction : {op, op.adjoint()}) {
        const Program program = owned_by_callers(direction.forward_program(ranks));
        const auto expected = expected_of(direction, ranks);
        const CheckReport report = check(CheckInput{{program, program}, {expected, expected}}, {.max_states = 20'000});
        EXPECT_TRUE(report.passed) << direction.text() << "\n" << report.text();
        EXPECT_FALSE(report.bounded) << direction.text() << ": " << report.states;
      }
    }
}

// On one host bytes are fetched, between hosts they are sent.
TEST(OperatorPrograms, EachRankMakesItsOwnPart) {
  for (const RankHosts& hosts : {RankHosts(), RankHosts({0, 0, 1, 1})})
    for (const NamedOperator& named : every_operator()) {
      const LinearOp op = named.make(layout("i64[5,3] on (x=4)"), "x", op::balanced());
      const Program forward = op.forward_program(4, hosts), adjoint = op.adjoint_program(4, hosts);
      for (std::size_t r = 0; r < 4; ++r) {
        const RankId rank(static_cast<Index>(r));
        EXPECT_EQ(op.forward_program(rank, 4, hosts).operations[r], forward.operations[r]) << op.text();
        EXPECT_EQ(op.adjoint_program(rank, 4, hosts).operations[r], adjoint.operations[r]) << op.text();
        EXPECT_EQ(op.adjoint_program(rank, 4, hosts).windows, adjoint.windows) << op.text();
      }
    }
}

TEST(OperatorPrograms, WithTooFewRanksAreRefused) {
  const LinearOp op = op::copy_to(layout("f32[4] on (x=3)"), "x");
  EXPECT_THROW(op.forward_program(2), Error);
}

}  // namespace
}  // namespace reshard
