// What the checker knows of numbers: casts, in both directions, and how large a check may be.
#include <gmock/gmock.h>

#include "reshard/check.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CheckReport check_of(const std::string& declarations, const std::string& body, const CheckOptions& options = {}) {
  return check(parse_program("program test\n" + declarations + "\n" + body), options);
}

struct Cast {
  std::string name;
  std::string declarations;
  std::string body;
  std::string message = {};  // how it begins; empty: passes
};

std::vector<Cast> casts() {
  const std::string through = "copy t <- x cast\ncopy y <- t cast\n";
  const auto from_to = [](const std::string& from, const std::string& mid, const std::string& to) {
    return "input x : " + from + "[2]\noutput y : " + to + "[2]\nlocal t : " + mid + "[2]\n";
  };
  const std::string same = "expect y[j] = x[j]";
  return {
      {"there and back", from_to("i32", "i8", "i32") + "init x[j] = j - 100\n" + same, through},
      {"past what the dtype holds", from_to("i32", "i8", "i32") + "init x[j] = 1000 + j\n" + same, through,
       "y[0] of rank 0 in call 1 holds 127, expected x[0] of rank 0 in call 1"},
      {"rounded on both sides", from_to("f32", "f16", "f16") + "init x[j] = 4099 + j\n" + same,
       "copy t <- x cast\ncopy y <- t\n"},
      {"rounded on one side", from_to("f32", "f16", "f32") + "init x[j] = 4099 + j\n" + same, through,
       "y[0] of rank 0 in call 1 holds "},
      {"infinity", from_to("f32", "f16", "f32") + "init x[j] = 5000001\n" + same, through,
       "y[0] of rank 0 in call 1 holds inf, expected x[0] of rank 0 in call 1"},
      {"a number", from_to("f32", "f64", "i32") + "init x[j] = 5 + j\nexpect y[j] = 5 + j", through},
      {"a sign", from_to("i16", "i32", "i64") + "init x[j] = j - 5\nexpect y[j] = j - 5", through},
      {"a sum of what was cast", from_to("i16", "i32", "i32") + "init x[j] = j - 5\nexpect y[j] = 2 * j - 10",
       "copy t <- x cast\nreduce y <- sum(t, t)\n"},
      {"a sum that is cast", from_to("i8", "i8", "i32") + "init x[j] = 50\nexpect y[j] = sum(k in 0..2, x[j])",
       "reduce t <- sum(x, x)\ncopy y <- t cast\n"},
      {"a sum that does not fit", from_to("i8", "i8", "i32") + "init x[j] = 100\nexpect y[j] = sum(k in 0..2, x[j])",
       "reduce t <- sum(x, x)\ncopy y <- t cast\n", "y[0] of rank 0 in call 1 holds -56, expected sum("},
      {"an average", from_to("f32", "f32", "f64") + "expect y[j] = avg(k in 0..2, x[j])",
       "reduce t <- avg(x, x)\ncopy y <- t cast\n"},
      {"to complex", from_to("i32", "complex64", "complex64") + "init x[j] = 7\n" + same,
       "copy t <- x cast\ncopy y <- t\n"},
      {"a count", from_to("f32", "i32", "i64") + "init x[j] = 2\nexpect y[j] = 1",
       "copy t <- x cast\nfor j in 0..t[0] { fill y[j] <- 1 }\n"},
      {"a count below zero", from_to("i32", "i64", "i64") + "init x[j] = -1\nexpect y[j] = 1",
       "copy t <- x cast\nfor j in 0..t[0] + 3 { fill y[j] <- 1 }\n"},
  };
}

TEST(CheckValues, CastsChangeWhatIsKnown) {
  for (const Cast& cast : casts()) {
    const CheckReport report = check_of(cast.declarations, cast.body);
    EXPECT_EQ(report.passed, cast.message.empty()) << cast.name << ": " << report.message;
    EXPECT_THAT(report.message, StartsWith(cast.message)) << cast.name;
  }
}

TEST(CheckValues, TimeEndsInTheMidstOfAStep) {
  const CheckReport report =
      check_of("size n = 50000\ninput x : i32[n]\noutput y : i32[n]\ninit x[j] = j\nexpect y[j] = j", "copy y <- x\n",
               {.time_limit = std::chrono::milliseconds(0)});
  EXPECT_TRUE(report.passed);
  EXPECT_TRUE(report.bounded);
}

TEST(CheckValues, TooManyElementsAreRefused) {
  try {
    check_of("size n = 1099511627776\ninput x : i32[n]\noutput y : i32[n]\nexpect y[j] = x[j]", "copy y <- x\n");
    FAIL() << "2^40 elements were checked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("a check holds up to 4194304 elements against what is expected, and here are "
                                        "4398046511104; check smaller sizes"));
  }
}

}  // namespace
}  // namespace reshard
