#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& json) {
  try {
    plan_from_json(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::corrupt) << error.what();
    return error.what();
  }
  return "accepted";
}

std::string with(const std::string& from, const std::string& to) {
  std::string json = R"json({"format": "reshard plan 1", "source": "u8[8] on ()", "target": "u8[8] on ()@1",
    "policy": "local", "ranks_per_host": 0, "rotation": 0,
    "transfers": [{"source": 0, "target": 1, "dims": [[[0, 0, 8]]]}]})json";
  if (!from.empty()) json.replace(json.find(from), from.size(), to);
  return json;
}

TEST(PlanJson, ReadsBack) {
  const Plan p = plan_from_json(with("", ""));
  EXPECT_TRUE(verify(p).empty());
  EXPECT_EQ(plan_from_json(p.json()), p);
}

TEST(PlanJson, EveryOptionReadsBack) {
  for (const SenderPolicy policy : all_sender_policies()) {
    const PlanOptions options{
        .policy = policy, .ranks_per_host = 3, .ranks_per_rack = 12, .rotation = 5, .staging_limit = 4321};
    const Plan p = plan(layout("u8[8] on ()"), layout("u8[8] on ()@1"), options);
    EXPECT_EQ(plan_from_json(p.json()).options(), options) << name_of(policy);
  }
  EXPECT_EQ(plan_from_json(with("", "")).options(), PlanOptions{}) << "as of a plan that knows no racks";
}

TEST(PlanJson, HostileValuesAreNamed) {
  EXPECT_THAT(refusal(with("[0, 0, 8]", "[0, 0, -8]")), HasSubstr("transfer 0: there is no span [0, 0, -8]"));
  EXPECT_THAT(refusal(with("[0, 0, 8]", "[9223372036854775807, 0, 1]")), HasSubstr("there is no span"));
  EXPECT_THAT(refusal(with("[0, 0, 8]", "[0, 0, 18446744073709551615]")), HasSubstr("is no 64-bit integer"));
  EXPECT_THAT(refusal(with("[0, 0, 8]", "[0, 0, 8.5]")), HasSubstr("8.5 is no 64-bit integer"));
  EXPECT_THAT(refusal(with("[[0, 0, 8]]", "[[0, 0, 4611686018427387904], [0, 0, 4611686018427387904]]")),
              HasSubstr("transfer 0: its bytes do not fit in 64 bits"));
  EXPECT_THAT(refusal(with("u8[8] on ()", "u8[8] on (")), HasSubstr("plan: source: layout: expected"));
  EXPECT_THAT(refusal(with("\"local\"", "7")), HasSubstr("plan: 7 is no string"));
  EXPECT_THAT(refusal(with("\"rotation\": 0", "\"rotation\": -1")), HasSubstr("must not be negative"));
  EXPECT_THAT(refusal(with("\"rotation\": 0", "\"rotation\": 0, \"ranks_per_rack\": -8")), HasSubstr("rack (-8)"));
  EXPECT_THAT(refusal(with("\"local\"", "\"nearest\"")),
              HasSubstr("unknown policy \"nearest\" (local, balanced, optimal, modulo, megatron)"));
}

// Nothing recurses over what was read.
TEST(PlanJson, DeepTextsAreRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(refusal(with("\"reshard plan 1\"", deep)), HasSubstr("a value of type array is no string"));
  EXPECT_THAT(refusal(with("[0, 0, 8]", deep)), HasSubstr("a span is [source, target, length]"));
}

}  // namespace
}  // namespace reshard
