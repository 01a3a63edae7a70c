#include "format/expression.h"

#include "files.h"

namespace reshard {
namespace {

using test::message_of;
using testing::HasSubstr;

std::optional<Index> look_up(std::string_view name) {
  if (name == "heads") return 64;
  if (name == "text.kv") return 8;
  if (name == "least") return INT64_MIN;
  return std::nullopt;
}
Index value(std::string_view text) { return evaluate(text, look_up); }
std::string fault(std::string_view text) {
  return message_of(Code::invalid_argument, [&] { value(text); });
}

TEST(Expression, Values) {
  EXPECT_EQ(value("2 + 3 * 4 - 1"), 13);
  EXPECT_EQ(value("(2 + 3) * -4"), -20);
  EXPECT_EQ(value("7 / 2 / 2"), 1);
  EXPECT_EQ(value("-7 / 2"), -4);
  EXPECT_EQ(value("7 / -2"), -4);
  EXPECT_EQ(value("-8 / 2"), -4);
  EXPECT_EQ(value("heads / text.kv * 128"), 1024);
  EXPECT_EQ(value("min(3, 1, 2) + max(4, 9)"), 10);
  EXPECT_EQ(value("gcd(12, 18)"), 6);
  EXPECT_EQ(value("divisor(8, 2)"), 2);
  EXPECT_EQ(value("divisor(3, 2)"), 1);
  EXPECT_EQ(value("divisor(6, 4)"), 3);
  EXPECT_EQ(value("divisor(4, 100)"), 4);
}

TEST(Expression, Faults) {
  EXPECT_THAT(fault("heads / (text.kv - 8)"), HasSubstr("\"heads / (text.kv - 8)\": division by zero"));
  EXPECT_THAT(fault("9223372036854775807 + 1"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(fault("least / -1"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(fault("-least"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(fault("4294967296 * 4294967296"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(fault("99999999999999999999"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(fault("head"), HasSubstr("'head' has no value"));
  EXPECT_THAT(fault("1 +"), HasSubstr("expected a number or a name at position 3"));
  EXPECT_THAT(fault("1 2"), HasSubstr("unexpected '2'"));
  EXPECT_THAT(fault("(1"), HasSubstr("expected ')'"));
  EXPECT_THAT(fault("1.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(fault("sqrt(4)"), HasSubstr("unknown function 'sqrt'"));
  EXPECT_THAT(fault("divisor(1, 2, 3)"), HasSubstr("takes two"));
  EXPECT_THAT(fault("gcd(0, 4)"), HasSubstr("above 0"));
  EXPECT_THAT(fault("divisor(1000000007, 3)"), HasSubstr("at most"));
  EXPECT_THAT(fault(std::string(1000, '(')), HasSubstr("nested deeper"));
  EXPECT_THAT(fault(std::string(1000, '-')), HasSubstr("nested deeper"));
}

TEST(Expression, ExpandsText) {
  EXPECT_EQ(expand("{0: tp/${heads * 2}, pp: at(${text.kv})}", look_up), "{0: tp/128, pp: at(8)}");
  EXPECT_EQ(expand("plain $ {x}", look_up), "plain $ {x}");
  EXPECT_THAT(message_of(Code::invalid_argument, [] { expand("${heads", look_up); }), HasSubstr("closing brace"));
}

}  // namespace
}  // namespace reshard
