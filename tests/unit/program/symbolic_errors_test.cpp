// What is wrong with a text, and where.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/program_text.h"

using namespace reshard;

namespace {

std::string message_of(const std::string& text) {
  try {
    (void)parse_program(text, "a.rp");
  } catch (const Error& error) {
    return error.code() == Code::invalid_argument ? error.what() : "wrong code";
  }
  return "no error";
}

struct Wrong {
  const char* text;
  const char* message;
};

const Wrong kPrograms[] = {
    {"", "a.rp:1:1: expected `program`, found the end of the text; a text begins with `program` and a name"},
    {"# only a comment",
     "a.rp:1:17: expected `program`, found the end of the text; a text begins with `program` and a name"},
    {"program", "a.rp:1:8: expected the name of the program, found the end of the line"},
    {"program p q", "a.rp:1:11: expected the end of the line, found `q`; one declaration a line"},
    {"program p\nsize n 3", "a.rp:2:8: expected `=`, found `3`"},
    {"program p\nsize n = P", "a.rp:2:10: expected a number, found `P`"},
    {"program p\nsize n = 9223372036854775808", "a.rp:2:10: `9223372036854775808` is past 64 bits"},
    {"program p\nsize n = 9223372036854775809",
     "a.rp:2:10: expected an expression, found `9223372036854775809`, which is past 64 bits"},
    {"program p\nsize n = 12ab", "a.rp:2:10: expected an expression, found `12ab`, which is no decimal number"},
    {"program p\nsize n = $", "a.rp:2:10: expected an expression, found `$`, which begins nothing"},
    {"program p\nsize ä = 1",
     "a.rp:2:6: expected a name, found a character (byte 0xc3) that belongs into comments and strings only"},
    {"program p\nsize n = 1\nsize n = 2", "a.rp:3:6: `n` is declared on line 2; choose another name"},
    {"program p\nsize for = 1", "a.rp:2:6: `for` is a word of the language; choose another name"},
    {"program p\nsize i1 = 1", "a.rp:2:6: `i1` stands for an index in rules; choose another name"},
    {"program p\ninput x : f33[2]", "a.rp:2:11: expected a dtype, found `f33`; such as f32, bf16 or i64"},
    {"program p\ninput x : f32", "a.rp:2:14: expected `[`, found the end of the line"},
    {"program p\ninput x : f32[2\nfence", "a.rp:3:1: expected `]`, found `fence`"},
    {"program p\ninput x : f32[n]",
     "a.rp:2:15: no number is called `n` here; there are me, P, the sizes and the variables of the blocks around"},
    {"program p\ninput x : f32[call]", "a.rp:2:15: `call` is not known in a shape"},
    {"program p\ninput x : f32[1]\ninput y : f32[x[0]]", "a.rp:3:15: memory is not known in a shape"},
    {"program p\nview v : f32[1] of v", "a.rp:2:20: no buffer is called `v`; declare it before the first statement"},
    {"program p\nsignal s[2] : 65 bits", "a.rp:2:15: a counter has 1 to 64 bits, found `65`"},
    {"program p\nsignal s[2] : 8", "a.rp:2:16: expected `bits`, found the end of the line"},
    {"program p\nsignal s[2] : credits-3", "a.rp:2:23: expected credits-1 or credits-2, found `3`"},
    {"program p\nsignal s[2] : round",
     "a.rp:2:15: expected an attribute, found `round`; epoch, credits-2, credits-1, parity, `16 bits` or `starts 1`"},
    {"program p\nsignal s[2] : starts i1",
     "a.rp:2:22: no number is called `i1` here; there are me, P, the sizes and the variables of the blocks around"},
    {"program p\ninput x : f32[1]\ninit x[i, j] = 0", "a.rp:3:6: `x` has 1 dimensions, found 2 names of indices"},
    {"program p\ninput x : f32[1, 1]\ninit x[i, i] = 0", "a.rp:3:11: `i` is in use here; choose another name"},
    {"program p\ninput x : f32[1]\ninit x[x] = 0", "a.rp:3:8: `x` is declared on line 2; choose another name"},
    {"program p\ninput x : f32[1]\ninit x[n] = 0\nsize n = 1",
     "a.rp:4:6: `n` is an index of the rule on line 3; choose another name"},
    {"program p\ninput x : f32[1]\ninit x[i] = x[i]", "a.rp:3:13: memory is not known in `init`"},
    {"program p\ninput x : f32[1]\ninit x[i] = 0 if j",
     "a.rp:3:18: no number is called `j` here; there are me, P, the sizes and the variables of the blocks around"},
    {"program p\ninput x : f32[1]\nexpect x[i] = sum(i in 0..P, 1)",
     "a.rp:3:19: `i` is in use here; choose another name"},
    {"program p\nfence\nsize n = 1",
     "a.rp:3:1: expected a statement, found `size`; declarations come before the first statement"},
};

// Behind a head of 5 lines: size n, windows w[P, n] and v[P], signal s[P].
const Wrong kBodies[] = {
    {"put w", "a.rp:6:6: expected `<-`, found the end of the line"},
    {"put w <- u", "a.rp:6:10: no buffer is called `u`; there are w, v"},
    {"put w <- s", "a.rp:6:10: `s` is a signal; a buffer goes here"},
    {"put w[0, 0, 0] <- w", "a.rp:6:5: `w` has 2 dimensions, found 3 selections"},
    {"put w@d <- w",
     "a.rp:6:7: no number is called `d` here; there are me, P, the sizes and the variables of the blocks around"},
    {"put w@-1 <- w", "a.rp:6:7: expected an expression, found `-`"},
    {"put w <- w accumulate xor", "a.rp:6:23: expected sum, avg, min, max or product, found `xor`"},
    {"put w <- w fence", "a.rp:6:12: expected the end of the line, found `fence`; one statement a line"},
    {"copy w <- 3", "a.rp:6:11: expected a buffer, found `3`"},
    {"fill w <- identity(3)", "a.rp:6:20: expected sum, avg, min, max or product, found `3`"},
    {"notify w[0] = 1", "a.rp:6:8: `w` is a buffer; a signal goes here"},
    {"notify t[0] = 1", "a.rp:6:8: no signal is called `t`; there are s"},
    {"notify s[0, 1] = 1", "a.rp:6:8: a slot of `s` has 1 indices, found 2"},
    {"notify s = 1", "a.rp:6:8: a slot of `s` has 1 indices, found 0"},
    {"notify s[0] >= 1", "a.rp:6:13: expected `=` or `+=`, found `>=`"},
    {"wait s[0] > 1", "a.rp:6:11: expected `==` or `>=`, found `>`"},
    {"wait s[0] >= s", "a.rp:6:14: `s` is a signal and no number; `wait` looks at it"},
    {"wait s[0] >= w",
     "a.rp:6:15: expected `[`, found the end of the line; a buffer in an expression is one element of it"},
    {"wait s[0] >= w[0]", "a.rp:6:14: an element of `w` has 2 indices, found 1"},
    {"wait s[0] >= v@1[0]", "a.rp:6:14: what another rank holds in `v` is for `expect` only; `get` it first"},
    {"wait s[0] >= sum(i in 0..P, 1)", "a.rp:6:14: `sum` over a range is for `expect` only"},
    {"wait s[0] >= sum(1, 2)", "a.rp:6:14: `sum` folds a range in `expect`: sum(s in 0..P, x@s[0])"},
    {"wait s[0] >= f(1)", "a.rp:6:14: no function is called `f`; there are min, max and pick"},
    {"wait s[0] >= min(1, 2, 3)", "a.rp:6:14: `min` takes 2 numbers, found 3"},
    {"wait s[0] >= pick(1)", "a.rp:6:14: `pick` takes a number and what it picks from: pick(me, 4, 2)"},
    {"wait s[0] >= 0 < 1 == 1",
     "a.rp:6:20: expected the end of the comparison, found `==`; comparisons do not chain: join two by `&&`"},
    {"wait s[0] >= for", "a.rp:6:14: expected an expression, found the word `for`"},
    {"wait s[0] >=\n1", "a.rp:6:13: expected an expression, found the end of the line"},
    {"for w in peers { }", "a.rp:6:5: `w` is declared on line 3; choose another name"},
    {"for me in peers { }", "a.rp:6:5: `me` is a word of the language; choose another name"},
    {"for d in 0..P { for d in 0..P { } }", "a.rp:6:21: `d` is in use here; choose another name"},
    {"for d in 0 { }", "a.rp:6:12: expected `..`, found `{`"},
    {"for d in d..P { }",
     "a.rp:6:10: no number is called `d` here; there are me, P, the sizes and the variables of the blocks around"},
    {"for d in 0..P { fence", "a.rp:6:22: expected `}` for the block begun on line 6, found the end of the text"},
    {"for d in 0..P { let e = d }\nwait s[e] >= 1",
     "a.rp:7:8: no number is called `e` here; there are me, P, the sizes and the variables of the blocks around"},
    {"if me { fence }\nelse { fence }",
     "a.rp:7:1: expected a statement, found `else`; `else` stands on the line of the `}` before it"},
    {"}",
     "a.rp:6:1: expected a statement, found `}`; for, if, let, put, get, copy, reduce, fill, notify, wait, fence, "
     "require, or a composite: name(argument = ..)"},
    {"let n = 1", "a.rp:6:5: `n` is declared on line 2; choose another name"},
    {"let a = a",
     "a.rp:6:9: no number is called `a` here; there are me, P, the sizes and the variables of the blocks around"},
    {"require n > 0",
     "a.rp:6:14: expected `,`, found the end of the line; a require says what is wrong: require n > 0, \"n is {n}\""},
    {"require n > 0, n", "a.rp:6:16: expected a message in quotes, found `n`"},
    {"require n > 0, \"open", "a.rp:6:16: expected a message in quotes, found a string without its closing quote"},
    {"require n > 0, \"\\q\"",
     "a.rp:6:16: expected a message in quotes, found a string with an escape other than \\n, \\t, \\\" and \\\\"},
    {"require n > 0, \"{k}\"",
     "a.rp:6:16: no number is called `k` here; there are me, P, the sizes and the variables of the blocks around"},
    {"require n > 0, \"{n +}\"", "a.rp:6:16: {n +}: expression:1:4: expected an expression, found the end of the line"},
    {"require n > 0, \"{v[0, 1]}\"", "a.rp:6:16: `v[0, 1]` has 1 indices, not 2"},
    {"barrier(s)", "a.rp:6:10: expected `=`, found `)`; arguments are given by name: input = x"},
    {"barrier(a = 1, a = 2)", "a.rp:6:16: `a` is given twice"},
    {"barrier(a = two words)",
     "a.rp:6:13: no number is called `two` here; there are me, P, the sizes and the variables of the blocks around"},
    {"barrier",
     "a.rp:6:1: expected a statement, found `barrier`; for, if, let, put, get, copy, reduce, fill, notify, wait, "
     "fence, require, or a composite: name(argument = ..)"},
    {"# ää\n  ?",
     "a.rp:7:3: expected a statement, found `?`, which begins nothing; for, if, let, put, get, copy, reduce, fill, "
     "notify, wait, fence, require, or a composite: name(argument = ..)"},
    {"require 1, \"äö\" x", "a.rp:6:17: expected the end of the line, found `x`; one statement a line"},
};

TEST(SymbolicErrors, OfDeclarations) {
  for (const Wrong& wrong : kPrograms) EXPECT_EQ(message_of(wrong.text), wrong.message) << wrong.text;
}

TEST(SymbolicErrors, OfStatements) {
  const std::string head = "program p\nsize n = 3\nwindow w : f32[P, n]\nwindow v : i32[P]\nsignal s[P]\n";
  ASSERT_EQ(message_of(head), "no error");
  for (const Wrong& wrong : kBodies) EXPECT_EQ(message_of(head + wrong.text), wrong.message) << wrong.text;
}

std::string repeated(const char* part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(SymbolicErrors, OfDepth) {
  const auto nested = [](const char* open, int count, const char* inside, const char* close) {
    return "program p\nwindow w : i32[2]\n" + repeated(open, count) + inside + repeated(close, count);
  };
  const std::string deep = "is nested deeper than 200";
  EXPECT_EQ(message_of(nested("if 1 { ", 199, "fence", "}")), "no error");
  for (const int count : {201, 100'000}) {
    EXPECT_NE(message_of(nested("if 1 { ", count, "fence", "}")).find(deep), std::string::npos) << count;
    EXPECT_NE(message_of("program p\nlet a = " + repeated("(", count)).find(deep), std::string::npos) << count;
    EXPECT_NE(message_of("program p\nlet a = " + repeated("- ", count)).find(deep), std::string::npos) << count;
    EXPECT_NE(message_of("program p\nwindow w : i32[2]\nlet a = " + repeated("w[", count)).find(deep),
              std::string::npos);
    EXPECT_NE(message_of("program p\nwindow w : i32[2]\ncopy w@" + repeated("w[", count)).find(deep),
              std::string::npos);
    EXPECT_NE(message_of("program p\nlet a = 1" + repeated(" + 1", count)).find("more than 200 operators"),
              std::string::npos);
  }
  EXPECT_EQ(message_of("program p\nlet a = 1" + repeated(" + 1", 199)), "no error");
  EXPECT_EQ(message_of("program p\nlet a = pick(1" + repeated(", me + 1", 100'000) + ")"), "no error");
}

}  // namespace
