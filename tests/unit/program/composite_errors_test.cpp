#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

constexpr std::string_view kDeclarations = R"(program wrong
size n = 4
input x : f32[P, n]
input half : f16[P, n]
input row : f32[n]
input index : i32[P, 3]
input wide : i64[P]
window data : f32[P, n]
window rows : f32[P * 3, n]
window sent : i32[P]
view sent_too : i32[P] of sent
view seen : f32[P, n] of data
window own : f32[me + 1, n]
window truths : bool[P, n]
output y : f32[P, n]
output received : i32[P]
signal met[P]
signal back[P] : credits-2
signal two[2]
signal lanes[P, 2]
signal wide_met[P, P]

)";

struct Refusal {
  std::string statement;
  std::string message;  // part of it
};

std::string refusal_of(const SymbolicProgram& program) {
  try {
    lower(program);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "nothing is wrong";
}

std::string refusal_of(const std::string& statements) {
  return refusal_of(parse_program(std::string(kDeclarations) + statements + "\n"));
}

void expect_refused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals)
    EXPECT_THAT(refusal_of(refusal.statement), testing::HasSubstr(refusal.message)) << refusal.statement;
}

TEST(CompositeArguments, are_named_when_unknown_missing_or_of_another_form) {
  expect_refused({
      {"all_to_none(signal = met)", "no composite has this name; there are all_gather, all_reduce"},
      {"barrier()", "argument signal is missing; barrier takes signal, [protocol]"},
      {"barrier(signal = met, colour = red)", "it has no argument colour; barrier takes signal, [protocol]"},
      {"barrier(signal = nothing)", "argument signal must be the name of a signal of the program"},
      {"barrier(signal = data)", "argument signal must be the name of a signal of the program"},
      {"barrier(signal = met, protocol = hope)", "protocol hope is none of epoch, credits-2, credits-1, parity"},
      {"barrier(signal = back, protocol = epoch)", "protocol epoch differs from that of signal back, credits-2"},
      {"all_to_all(input = nothing, target = data, signal = met)",
       "argument input must be a buffer or a part of one, and no buffer has that name"},
      {"all_to_all(input = x@1, target = data, signal = met)", "argument input names a peer"},
      {"all_to_all(input = x, target = data[0..wide[0]], signal = met)",
       "argument target: `wide[0]` is known only once memory is read"},
      {"broadcast(target = data, signal = met, root = me)", "argument root: `me` differs from rank to rank"},
      {"broadcast(target = data, signal = met, root = -1)", "argument root: -1 is no rank"},
      {"broadcast(target = data, signal = met, root = zero)", "argument root must be a number"},
      {"all_reduce(target = data, signal = met, op = mean)", "op mean is none of sum, avg, min, max, product"},
      {"all_reduce(target = truths, signal = met, op = avg)", "avg of bool is not defined, and target is one"},
      {"all_reduce(target = data, signal = met, mode = star)", "mode star is none of mesh, ring, two_phase"},
  });
}

// What the text form does not let pass.
TEST(CompositeArguments, are_checked_in_programs_that_were_not_parsed) {
  SymbolicProgram program = parse_program(kDeclarations);
  const Argument met{"signal", "met"};
  program.body = {{Composite{"barrier", {met, met}}}};
  EXPECT_THAT(refusal_of(program), testing::HasSubstr("argument signal is given twice"));
  const BufferSlice deep{.buffer = "x",
                         .selections = {{Selection::Kind::at}, {Selection::Kind::at}, {Selection::Kind::at}}};
  program.body = {{Composite{"all_to_all", {{"input", deep}, {"target", BufferSlice{"data"}}, met}}}};
  EXPECT_THAT(refusal_of(program), testing::HasSubstr("x has 2 dimensions, but 3 are selected"));
  program.body = {{Composite{"all_to_all", {{"input", BufferSlice{"nobody"}}, {"target", BufferSlice{"data"}}, met}}}};
  EXPECT_THAT(refusal_of(program), testing::HasSubstr("argument input: the program declares no buffer nobody"));
}

TEST(CompositeArguments, must_have_shapes_and_dtypes_that_fit) {
  expect_refused({
      {"all_to_all(input = row, target = data, signal = met)",
       "argument target: data has shape [P, n], but a row from each source needs [n]"},
      {"all_to_all(input = half, target = data, signal = met)",
       "input is f16, target is f32; composites do not convert"},
      {"all_to_all(input = x, target = data[.., 0..n - 1], signal = met)",
       "argument target: data[.., 0..n - 1] has shape [P, n - 1], but a row from each source needs [P, n]"},
      {"all_gather(input = x, target = data, signal = met)", "but a row for each rank needs [P, P, n]"},
      {"all_to_all(input = x, target = own, signal = met)", "argument target: `me + 1` differs from rank to rank"},
      {"all_to_all(input = x, target = y, signal = met)",
       "argument target: peers reach windows only, and y is an output"},
      {"reduce_scatter(target = data, signal = met, output = x)", "argument output is written, and x is an input"},
      {"reduce_scatter(target = data, signal = met, output = y)",
       "argument output: y has shape [P, n], but the result needs [n]"},
      {"for i in 0..2 { all_reduce(target = data[0, 0..i], signal = met) }",
       "it needs memory of its own, of shape [P, i], and `i` changes as the program runs"},
  });
}

TEST(CompositeArguments, must_have_a_signal_that_fits) {
  expect_refused({
      {"barrier(signal = two)", "nothing is wrong"},  // at P = 2
      {"barrier(signal = lanes)", "signal lanes has shape [P, 2]; barrier needs [P, 1]"},
      {"all_reduce(target = data, signal = met, mode = ring)", "signal met has shape [P]; it needs [2]"},
      {"indexed_all_to_all_v(input = x, target = rows, send_counts = sent, recv_counts = received, index = index, "
       "signal = lanes, workers = 3)",
       "signal lanes has shape [P, 2]; indexed_all_to_all_v needs [P, 3]"},
      {"indexed_all_to_all_v(input = x, target = rows, send_counts = sent, recv_counts = received, index = index, "
       "signal = met, workers = 0)",
       "workers = 0; it takes at least 1"},
  });
}

TEST(CompositeArguments, lie_apart) {
  expect_refused({
      {"all_to_all(input = data, target = data, signal = met)",
       "input and target are the same buffer data; give each its own"},
      {"all_to_all(input = seen, target = data, signal = met)",
       "input (seen) and target (data) share the allocation data; give each its own"},
      {"all_to_all_v(input = seen, target = data, send_counts = sent, recv_counts = received, signal = met)",
       "input (seen) and target (data) share the allocation data"},
      {"indexed_all_to_all_v(input = x, target = rows, send_counts = sent, recv_counts = sent_too, index = index, "
       "signal = met)",
       "send_counts (sent) and recv_counts (sent_too) share the allocation sent"},
      {"indexed_all_to_all_v(input = x, target = rows, send_counts = sent, recv_counts = sent, index = index, signal = "
       "met)",
       "send_counts and recv_counts are the same buffer sent"},
      {"indexed_all_to_all_v(input = x, target = rows, send_counts = sent, recv_counts = received, index = sent, "
       "signal = met)",
       "send_counts and index are the same buffer sent"},
  });
}

TEST(CompositeProtocols, have_their_places) {
  expect_refused({
      {"if P > 2 { barrier(signal = met) }", "signal met: its rounds cannot be numbered under `if P > 2`"},
      {"if P > 2 { barrier(signal = back) }", "nothing is wrong"},
      {"for p in peers { barrier(signal = met) }",
       "its rounds cannot be numbered in `for p in peers`, where ranks differ"},
      {"for i in 0..me { barrier(signal = met) }", "in a loop up to `me`, which is no expression of sizes and P"},
      {"barrier(signal = met, protocol = parity)\nbarrier(signal = met, protocol = credits-1)",
       "signal met only grows in barrier(signal = met, protocol = parity) and goes back in"},
      {"barrier(signal = met)\nnotify met@0[me] += 1",
       "numbers all its rounds, and knows nothing of `notify met@0[me] += 1`"},
      {"all_to_all(input = x, target = data, signal = met, protocol = parity)",
       "data has shape [P, n], but of the parity protocol it needs two halves, [2, ..]"},
      {"for i in 0..2 { all_to_all(input = x, target = data, signal = met, protocol = parity) }",
       "of the parity protocol it cannot stand in a loop"},
      {"all_to_all(input = x, target = data, signal = met, protocol = parity)\nall_to_all(input = x, target = seen, "
       "signal = met, protocol = parity)",
       "takes turns with the same halves; give each its own target"},
      {"all_reduce(target = data, signal = met, mode = two_phase, protocol = credits-1)",
       "mode two_phase has the protocols epoch and credits-2, not credits-1"},
      {"all_reduce(target = data, signal = met, protocol = credits-1)",
       "in place it takes two rounds, and credits-1 has one"},
      {"all_to_all_v(input = rows, target = data, send_counts = sent, recv_counts = received, signal = met, protocol = "
       "parity)",
       "all_to_all_v has no form of the protocol parity; it has epoch, credits-2"},
  });
}

TEST(Redistribute, says_what_its_layouts_do_not_say) {
  const std::string begin = "redistribute(input = data, target = y, signal = met, ";
  expect_refused({
      {begin + R"rp(from = "f32[8,4] on (r=2) {0: q}", to = "f32[8,4] on (r=2) {0: r}"))rp", "argument from: "},
      {begin + R"rp(from = "f32[8,4] on (r=2) {0: r}", to = "f32[8,4] on (r=2) {0: r}"))rp",
       "argument input: data has shape [2, 4] on rank 0, but f32[8,4] on (r=2) {0: r} holds [4, 4] there"},
      {begin + R"rp(from = "f16[4,4] on (r=2) {0: r}", to = "f16[4,4] on (r=2) {0: r}"))rp",
       "argument input: data is f32, the layout f16[4,4]"},
      {begin + R"rp(from = "f32[2,4] on (r=2) {r: partial(sum)}", to = "f32[2,4] on (r=2)"))rp",
       "pending values are reduced by reduce_scatter and all_reduce"},
      {begin + R"rp(from = "f32[4,4] on (r=2) {0: r} order(1,0)", to = "f32[4,4] on (r=2) {0: r}"))rp",
       "is not packed and row-major in memory"},
  });
}

}  // namespace
}  // namespace reshard
