// Programs written in C++, as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/builder.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

using namespace reshard;

namespace {

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code() == Code::invalid_argument ? error.what() : "wrong code";
  }
  return "no error";
}

// The example of builder.h.
SymbolicProgram hand_written() {
  return program("all_to_all", [](Kernel& k) {
    auto n = k.size("n", 64);
    auto x = k.input("x", Dtype::f32, {k.ranks(), n}), y = k.output("y", Dtype::f32, {k.ranks(), n});
    auto data = k.window("data", Dtype::f32, {k.ranks(), n});
    auto signal = k.signal("ready", {k.ranks()});
    k.each_rank([&](auto d) { k.put(data.row(k.me()).on(d), x.row(d)); });
    k.fence();
    k.each_peer([&](auto p) { k.notify(signal[k.me()].on(p), Set, 1); });
    k.each_peer([&](auto s) { k.wait(signal[s], Ge, 1); });
    k.each_rank([&](auto s) { k.copy(y.row(s), data.row(s)); });
  });
}

TEST(SymbolicBuilder, ReadsAsItsText) {
  EXPECT_EQ(text_of(hand_written()), R"(program all_to_all
size n = 64
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]

for r in 0..P { put data@r[me] <- x[r] }
fence
for p in peers { notify ready@p[me] = 1 }
for p in peers { wait ready[p] >= 1 }
for r in 0..P { copy y[r] <- data[r] }
)");
}

TEST(SymbolicBuilder, HasEveryStatement) {
  const SymbolicProgram made = program("every", [](Kernel& k) {
    auto n = k.size("n", 8);
    auto x = k.input("x", Dtype::i64, {k.ranks(), n}), y = k.output("y", Dtype::i64, {n});
    auto counts = k.local("counts", Dtype::i32, {k.ranks()});
    auto w = k.window("w", Dtype::i64, {2, n});
    auto narrow = k.view("narrow", Dtype::i32, {n}, w, 4 * n);
    auto s = k.signal("s", {2, k.ranks()},
                      {.bits = 16, .protocol = Protocol::credits_2, .starts = equals(Expression::variable("i1"), 0)});
    k.init(x, [&](auto d, auto j) { return k.me() * 1000 + d * 100 + j; });
    k.expect(
        y, [&](auto j) { return x.on(0).at(k.me(), j).value(); }, Expression::variable("i0") < 3);
    k.require(n > 0, "n is {n}");
    auto left = k.let("left", (k.me() - 1) % k.ranks());
    k.comment("one\ntwo");
    k.fill(counts, -1);
    k.fill_identity(y, ReduceOp::max);
    k.get(w.row(0), w.on(left).row(1));
    k.accumulate(ReduceOp::sum, w.at(All{}, Range{0, 2}).on(left), x.at(Range{0, 2}, Range{0, 2}));
    k.cast(narrow, y);
    k.reduce(y, ReduceOp::sum, {y, w.row(0)});
    k.when(
        counts.row(0).value() > 1, [&] { k.fence(); }, [&] { k.notify(s[0][left].on(left), Add, -2); });
    k.each(0, counts.row(1).value(), [&](auto i) { k.each(0, i, [&](auto j) { k.wait(s[1][j], Eq, k.call()); }); });
    k.composite("barrier", {{"signal", "s"}, {"root", Expression(0)}, {"input", x.row(0).slice()}});
  });
  EXPECT_EQ(text_of(made), R"(program every
size n = 8
input x : i64[P, n]
output y : i64[n]
local counts : i32[P]
window w : i64[2, n]
view narrow : i32[n] of w at 4 * n
signal s[2, P] : 16 bits, credits-2, starts i1 == 0
init x[i0, i1] = me * 1000 + i0 * 100 + i1
expect y[i0] = x@0[me, i0] if i0 < 3

require n > 0, "n is {n}"
let left = (me - 1) % P
# one
# two
fill counts <- -1
fill y <- identity(max)
get w[0] <- w@left[1]
put w@left[.., 0..2] <- x[0..2, 0..2] accumulate sum
copy narrow <- y cast
reduce y <- sum(y, w[0])
if counts[0] > 1 { fence } else { notify s@left[0, left] += -2 }
for i in 0..counts[1] {
  for i2 in 0..i { wait s[1, i2] == call }
}
barrier(signal = s, root = 0, input = x[0])
)");
  EXPECT_EQ(text_of(parse_program(text_of(made))), text_of(made));
}

TEST(SymbolicBuilder, NamesAreFreshInTheirBlocks) {
  Kernel k("names");
  k.size("p", 1);
  k.each_peer([&](auto first) {
    EXPECT_EQ(first.name(), "p2");
    EXPECT_EQ(k.let("p", 3).name(), "p3");
    EXPECT_EQ(k.fresh("p"), "p4");
  });
  EXPECT_EQ(k.fresh("p"), "p2");
  EXPECT_EQ(k.fresh("for"), "for2");
}

TEST(SymbolicBuilder, BlocksEndWhenTheirWriterThrows) {
  Kernel k("thrown");
  EXPECT_THROW(k.each_rank([](auto) { throw Error(Code::unsupported, "never mind"); }), Error);
  k.fence();
  EXPECT_EQ(text_of(std::move(k).take()), "program thrown\n\nfence\n");
}

TEST(SymbolicBuilder, GoesOnWhereAProgramEnds) {
  Kernel k(hand_written());
  EXPECT_THAT(message_of([&] { k.size("data", 1); }), testing::HasSubstr("has a `data` already"));
  k.fence();
  EXPECT_EQ(text_of(std::move(k).take()),
            "program all_to_all\nsize n = 64\ninput x : f32[P, n]\noutput y : f32[P, n]\nwindow data : f32[P, n]\n"
            "signal ready[P]\n\nfence\n");
}

TEST(SymbolicBuilder, RefusesNames) {
  Kernel k("refused");
  const BufferRef x = k.input("x", Dtype::f32, {4});
  EXPECT_THAT(message_of([] { Kernel("two words"); }), testing::HasSubstr("`two words` is no name"));
  EXPECT_THAT(message_of([&] { k.size("2", 1); }), testing::HasSubstr("`2` is no name"));
  EXPECT_THAT(message_of([&] { k.window("me", Dtype::f32, {}); }), testing::HasSubstr("`me` is a word"));
  EXPECT_THAT(message_of([&] { k.signal("i0", {}); }), testing::HasSubstr("`i0` stands for an index"));
  EXPECT_THAT(message_of([&] { k.signal("x", {}); }), testing::HasSubstr("has a `x` already"));
  EXPECT_THAT(message_of([&] { k.view("v", Dtype::f32, {}, BufferRef("w")); }), testing::HasSubstr("no buffer `w`"));
  EXPECT_THAT(message_of([&] { k.init(x, [](auto, auto) { return 1; }); }),
              testing::HasSubstr("the rule for `x` has 2 indices, its shape 1"));
  EXPECT_THAT(message_of([&] { k.init_rule({"x", {"x"}, 0}); }), testing::HasSubstr("`x` cannot be an index"));
  k.init_rule({"x", {"j"}, 0});
  EXPECT_THAT(message_of([&] { k.size("j", 1); }), testing::HasSubstr("has a `j` already"));
  EXPECT_THAT(message_of([&] { (void)x.rows(0, 2).value(); }), testing::HasSubstr("`x[0..2]` is not one element"));
}

}  // namespace
