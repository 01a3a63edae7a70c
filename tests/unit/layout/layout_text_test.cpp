// What a wrong text is told: what is wrong, and a caret under the beginning of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/layout.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class Make>
std::string refusal_by(Make make) {
  try {
    make();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "accepted";
}

std::string refusal(std::string_view text) {
  return refusal_by([&] { layout(text); });
}

struct Mistake {
  std::string_view text;
  std::string_view caret;  // under the text, two columns further right
  std::string_view message;
};

TEST(LayoutText, MistakesArePointedAt) {
  const Mistake mistakes[] = {
      {"q32[8] on (a=2)",  //
       "^", "layout: unknown dtype \"q32\" (bool, u8 to i64"},
      {"f32[8,8 on (a=2)",  //
       "        ^", "layout: expected ']' at column 9"},
      {"f32[8] in (a=2)",  //
       "       ^", "layout: expected \"on\" and a mesh at column 8"},
      {"f32[8] on (a=2) {0:   b}",  //
       "                      ^", "layout: mesh (a=2) has no axis \"b\" at column 23"},
      {"f32[8] on (a=2) {0: a:evenly}",  //
       "                      ^", "layout: unknown cut \"evenly\" (chunk, balanced,"},
      {"f32[8] on (a=2) {3: a}",  //
       "                 ^", "layout: dimension 3 is out of range for a tensor of 1 dimensions"},
      {"f32[8] on (a=2) {0: a, 0: a}",  //
       "                       ^", "layout: dimension 0 is listed twice"},
      {"f32[8] on (aa=0) {0: a}",  //
       "              ^", "layout: axis \"aa\" has size 0; a mesh axis has at least 1 rank"},
      {"f32[8] on (a=2) {a: partial(mean)}",  //
       "                            ^", "layout: \"mean\" is not sum, avg, min, max or product"},
      {"f32[8] on (a=2) {a: at(2)}",  //
       "                       ^", "layout: at(2) is outside axis \"a\""},
      {"f32[8][5:3] on (a=2)",  //
       "         ^", "layout: slice 5:3 ends before it begins"},
      {"f32[8] on (a=2) {0: a:cyclic( -1)}",  //
       "                              ^", "layout: a block must not be negative, got -1"},
      {"f32[8] on (a=2) extra",  //
       "                ^", "layout: expected the end of the text"},
      {"f32[99999999999999999999] on (a=2)",  //
       "    ^", "layout: a size does not fit in 64 bits"},
      {"f32[8] on (a=2:1, b=2)",  //
       "                     ^", "layout: either every axis has a stride or none has one"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string message = refusal(mistake.text);
    EXPECT_THAT(message, StartsWith(std::string(mistake.message)));
    EXPECT_EQ(message.substr(message.find('\n') + 1),
              "  " + std::string(mistake.text) + "\n  " + std::string(mistake.caret));
  }
}

TEST(LayoutText, LongTextsAreCutToTheNeighbourhood) {
  std::string text = "f32[8] on (";
  for (int k = 0; k < 100; ++k) text += "a" + std::to_string(k) + "=1, ";
  const std::string message = refusal(text + "b=2) {0: c}");
  EXPECT_LT(message.size(), 1600u);
  const std::size_t line = message.find('\n') + 3, caret = message.rfind('^') - message.rfind('\n') - 3;
  EXPECT_EQ(message[line + caret], 'c') << message;
}

TEST(LayoutText, AnAxisIsNamedOnceAlsoThroughItsGroup) {
  EXPECT_THAT(refusal("f32[8] on (tp=4 as (kv=2, rep=2)) {kv: at(0), tp: partial(sum)}"),
              HasSubstr("axis \"tp\" is listed twice"));
  EXPECT_THAT(refusal("f32[8] on (tp=4 as (kv=2, rep=2)) {tp: at(4)}"), HasSubstr("at(4) is outside axis \"tp\""));
  EXPECT_EQ(layout("f32[8] on (tp=4 as (kv=2, rep=2)) {tp: at(3)}"),
            layout("f32[8] on (tp=4 as (kv=2, rep=2)) {kv: at(1), rep: at(1)}"));
}

TEST(LayoutText, VaryingIsReadAndWrittenByItsName) {
  const std::string text = "f32[8,4] on (tp=4 as (kv=2, rep=2), dp=3) {0: dp, rep: varying}";
  EXPECT_EQ(layout(text).text(), text);
  EXPECT_EQ(layout("f32[8] on (tp=4 as (kv=2, rep=2)) {tp: varying}"),
            layout("f32[8] on (tp=4 as (kv=2, rep=2)) {kv: varying, rep: varying}"));
  EXPECT_EQ(layout("f32[8] on (a=2) {a: replicate}").text(), "f32[8] on (a=2)");
  EXPECT_THAT(refusal("f32[8] on (a=2) {0: a, a: varying}"), HasSubstr("axis \"a\" is used twice"));
  EXPECT_THAT(refusal("f32[8] on (a=2) {a: varies}"),
              HasSubstr("\"varies\" is not replicate, varying, partial(op) or at(c)"));
  LayoutSpec spec = layout("f32[8] on (a=2) {a: partial(sum)}").spec();
  spec.kinds[0].varying = true;  // means nothing there
  EXPECT_EQ(Layout(spec), layout("f32[8] on (a=2) {a: partial(sum)}"));
}

TEST(LayoutText, OtherNotationsHaveNoWordForVarying) {
  const Layout varying = layout("f32[8] on (a=2) {a: varying}");
  const auto refused_by = [&](auto write) {
    try {
      write(varying);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unsupported);
      return std::string(error.what());
    }
    return std::string("written");
  };
  const auto says = HasSubstr("cannot say that ranks along axis \"a\" go on differently: leave it replicated");
  EXPECT_THAT(refused_by([](const Layout& l) { to_dtensor(l); }), says);
  EXPECT_THAT(refused_by([](const Layout& l) { to_jax(l); }), says);
  EXPECT_THAT(refused_by([](const Layout& l) { to_hlo(l); }), says);
}

TEST(LayoutText, PackedAndStridedShardKeepTheirRule) {
  EXPECT_THAT(refusal("f32[8] on (a=2) {0: a:packed[4]:balanced}"), HasSubstr("packed pieces are divided evenly"));
  EXPECT_THAT(refusal("f32[8] on (a=2) {0: a:packed[4]:chunk}"), HasSubstr("packed pieces are divided evenly"));
  EXPECT_THAT(refusal("f32[8] on (a=2) {0: a:strided-shard(2):even}"), HasSubstr("divided by chunk only"));
  EXPECT_EQ(layout("f32[8] on (a=2) {0: a:packed[3,1]:even}"), layout("f32[8] on (a=2) {0: a:packed[3,1]}"));
  LayoutSpec spec = layout("f32[8] on (a=2) {0: a:packed[3,1]}").spec();
  spec.cuts[0][0].rule = Rule::balanced;
  EXPECT_THAT(refusal_by([&] { Layout{spec}; }), HasSubstr("packed pieces are divided evenly"));
}

TEST(LayoutText, OtherNotationsPointAsWell) {
  const Mesh m = mesh("(x=2)");
  EXPECT_THAT(refusal_by([&] { from_jax(Dtype::f32, {8}, m, "P('y')"); }), testing::EndsWith("\n  P('y')\n     ^"));
  EXPECT_THAT(refusal_by([&] { from_jax(Dtype::f32, {8}, m, "P(None, 'x')"); }),
              testing::EndsWith("\n  P(None, 'x')\n          ^"));
  EXPECT_THAT(refusal_by([&] { from_dtensor(Dtype::f32, {8}, m, "S(1)"); }), testing::EndsWith("\n  S(1)\n    ^"));
}

}  // namespace
}  // namespace reshard
