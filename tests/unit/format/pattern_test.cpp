#include "format/pattern.h"

#include "files.h"
#include "format/nearest.h"

namespace reshard {
namespace {

using test::message_of;
using testing::HasSubstr;

bool matches(const char* pattern, std::string_view name) { return Pattern(pattern).match(name).has_value(); }

TEST(Pattern, CapturesAreWholeNumbers) {
  const Pattern pattern("layers.{layer}.experts.{e}.w");
  const auto captures = pattern.match("layers.12.experts.3.w");
  ASSERT_TRUE(captures);
  EXPECT_EQ((*captures)[0].name, "layer");
  EXPECT_EQ((*captures)[0].value, 12);
  EXPECT_EQ((*captures)[1].value, 3);
  EXPECT_EQ(pattern.fill(*captures), "layers.12.experts.3.w");
  EXPECT_FALSE(matches("layers.{layer}.w", "layers.x.w"));
  EXPECT_FALSE(matches("layers.{layer}.w", "layers..w"));
  EXPECT_FALSE(matches("layers.{layer}.w", "layers.007.w"));
  EXPECT_FALSE(matches("layers.{layer}.w", "layers.-1.w"));
  EXPECT_FALSE(matches("layers.{layer}.w", "layers.99999999999999999999.w"));
  EXPECT_FALSE(matches("layers.1{layer}.w", "layers.12.w"));  // part of a number is no number
  EXPECT_TRUE(matches("layers.{layer}.w", "layers.0.w"));
}

TEST(Pattern, Wildcards) {
  EXPECT_TRUE(matches("a.*.w", "a.b.w"));
  EXPECT_FALSE(matches("a.*.w", "a.b.c.w"));
  EXPECT_TRUE(matches("a.**.w", "a.b.c.w"));
  EXPECT_TRUE(matches("a.**", "a."));
  EXPECT_FALSE(matches("a.**", "a"));
  EXPECT_TRUE(matches("*", "ab"));
  EXPECT_FALSE(matches("*", "a.b"));
  EXPECT_TRUE(matches("**layers.{n}.w", "model.layers.7.w"));
  EXPECT_TRUE(matches("x*", "x"));
  EXPECT_TRUE(matches("**a**a**a**b", std::string(3000, 'a') + "b"));
  EXPECT_FALSE(matches("**a**a**a**a**a**a**c*d", std::string(3000, 'a') + "d"));
}

TEST(Pattern, Faults) {
  const auto fault = [](const char* text) {
    return message_of(Code::invalid_argument, [&] { Pattern pattern(text); });
  };
  EXPECT_THAT(fault("a.{layer"), HasSubstr("needs a name and '}'"));
  EXPECT_THAT(fault("a.{}"), HasSubstr("needs a name"));
  EXPECT_THAT(fault("{1x}"), HasSubstr("needs a name"));
  EXPECT_THAT(fault("{a}.{a}"), HasSubstr("captures 'a' twice"));
}

TEST(Nearest, ByEditDistance) {
  const std::vector<std::string> words = {"match", "layout", "priority"};
  EXPECT_EQ(nearest("layuot", words, 2), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(did_you_mean("mat", words), " (did you mean 'match'?)");
  EXPECT_EQ(did_you_mean("priorty", words), " (did you mean 'priority'?)");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace reshard
