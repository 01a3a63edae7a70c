// Variants of one exchange: what is wrong with each, from which number of ranks on, and what repairs it. With two ranks
// the naive explorer has the same opinion.
#include <gmock/gmock.h>

#include "check_programs.h"
#include "property/explorer_oracle.h"

namespace reshard {
namespace {

struct Variant {
  std::string name;
  std::string signals;
  std::string body;
  Index fails_from = 0;  // ranks; 0: never
  CheckFault fault = CheckFault::race;
  std::string repair = {};  // part of what is suggested
  bool two_windows = false;
};

const std::string kAdd = "for p in peers { notify s@p[me] += 1 }\n";
const std::string kSetCall = "for p in peers { notify s@p[me] = call }\n";
std::string wait(const std::string& condition) { return "for q in peers { wait s[q] " + condition + " }\n"; }

std::vector<Variant> variants() {
  const std::string turns = "for q in peers { wait s[call % 2, q] ";
  return {
      {"constant flag", "signal s[P]", kPut + "fence\nfor p in peers { notify s@p[me] = 1 }\n" + wait(">= 1") + kRead,
       2, CheckFault::race, "count"},
      {"one round of credits", "signal s[P] : credits-1",
       kPut + "fence\n" + kAdd + wait(">= 1") + "for q in peers { notify s@me[q] += -1 }\n" + kRead, 2,
       CheckFault::race, "add a round"},
      {"two rounds of credits", "signal s[P] : credits-2",
       kAdd + wait(">= 1") + kPut + "fence\n" + kAdd + wait(">= 2") + "for q in peers { notify s@me[q] += -2 }\n" +
           kRead},
      {"two rounds of epochs", "signal s[P] : epoch",
       kAdd + wait(">= 2 * call - 1") + kPut + "fence\n" + kAdd + wait(">= 2 * call") + kRead},
      {"reset by set", "signal s[P]",
       kAdd + wait(">= 1") + kPut + "fence\n" + kAdd + wait(">= 2") + "for q in peers { notify s@me[q] = 0 }\n" + kRead,
       2, CheckFault::deadlock, "take away what this call used"},
      {"equal", "signal s[P]", kAdd + wait("== 2 * call - 1") + kPut + "fence\n" + kAdd + wait("== 2 * call") + kRead,
       2, CheckFault::deadlock, "at least"},
      {"no fence", "signal s[P]", kAdd + wait(">= 2 * call - 1") + kPut + kAdd + wait(">= 2 * call") + kRead, 1,
       CheckFault::race, "fence"},
      {"previous rank only", "signal s[P]\nsignal r[P]",
       "for p in peers { notify r@p[me] += 1 }\nfor q in peers { wait r[q] >= call }\n" + kPut + "fence\n" + kSetCall +
           "if P > 1 { wait s[(me - 1) % P] >= call }\n" + kRead,
       3, CheckFault::race, "wait for every peer"},
      {"wait first", "signal s[P]", wait(">= call") + kPut + "fence\n" + kSetCall + kRead, 2, CheckFault::deadlock,
       "notify before waiting"},
      {"notify first", "signal s[P]", kSetCall + kPut + "fence\n" + wait(">= call") + kRead, 2, CheckFault::race,
       "announce data once it is fenced"},
      {"two windows, two rows, equal",
       "signal s[2, P]",
       kPutInTurn + "fence\nfor p in peers { notify s@p[call % 2, me] = call }\n" + turns + "== call }\n" + kReadInTurn,
       0,
       {},
       "",
       true},
      {"two windows, one row, equal", "signal s[P]", kPutInTurn + "fence\n" + kSetCall + wait("== call") + kReadInTurn,
       2, CheckFault::deadlock, "at least", true},
      {"two windows, one row",
       "signal s[P]",
       kPutInTurn + "fence\n" + kSetCall + wait(">= call") + kReadInTurn,
       0,
       {},
       "",
       true},
      {"two windows, flags never cleaned", "signal s[2, P]",
       kPutInTurn + "fence\nfor p in peers { notify s@p[call % 2, me] = 1 }\n" + turns + ">= 1 }\n" + kReadInTurn, 2,
       CheckFault::race, "add a round", true},
      {"two windows, the other flags cleaned before",
       "signal s[2, P]",
       "for q in peers { notify s@me[(call + 1) % 2, q] = 0 }\n" + kPutInTurn +
           "fence\nfor p in peers { notify s@p[call % 2, me] = 1 }\n" + turns + ">= 1 }\n" + kReadInTurn,
       0,
       {},
       "",
       true},
      {"two windows, the other flags cleaned after", "signal s[2, P]",
       kPutInTurn + "fence\nfor p in peers { notify s@p[call % 2, me] = 1 }\n" + turns + ">= 1 }\n" +
           "for q in peers { notify s@me[(call + 1) % 2, q] = 0 }\n" + kReadInTurn,
       2, CheckFault::deadlock, "add a round", true},
      {"shared counters", "signal r[1] : epoch\nsignal s[1] : epoch",
       "for p in peers { notify r@p[0] += 1 }\nwait r[0] >= (P - 1) * call\n" + kPut +
           "fence\nfor p in peers { notify s@p[0] += 1 }\nwait s[0] >= (P - 1) * call\n" + kRead},
      {"shared flag", "signal r[P]\nsignal s[1]",
       "for p in peers { notify r@p[me] += 1 }\nfor q in peers { wait r[q] >= call }\n" + kPut +
           "fence\nfor p in peers { notify s@p[0] = call }\nif P > 1 { wait s[0] >= call }\n" + kRead,
       3, CheckFault::race, "add a round"},
      {"a rank says nothing", "signal s[P]", kPut + "fence\nif me > 0 {\n" + kAdd + "}\n" + wait(">= call") + kRead, 2,
       CheckFault::deadlock, "let every rank notify"},
  };
}

TEST(CheckVariants, FindsWhatIsWrongAndRepairsIt) {
  for (const Variant& variant : variants()) {
    const SymbolicProgram program = exchange(variant.signals, variant.body, variant.two_windows);
    for (const Index ranks : {1, 2, 3, 4}) {
      const bool fails = variant.fails_from != 0 && ranks >= variant.fails_from;
      const CheckReport report = check(program, {.ranks = ranks, .calls = 3, .suggest = ranks == variant.fails_from});
      ASSERT_EQ(report.passed, !fails) << variant.name << "\n" << report.text();
      EXPECT_FALSE(report.bounded) << variant.name;
      if (!fails) continue;
      EXPECT_EQ(*report.fault, variant.fault) << variant.name << "\n" << report.text();
      if (ranks != variant.fails_from) continue;
      ASSERT_TRUE(report.repair) << variant.name << "\n" << report.text();
      EXPECT_THAT(report.repair->description, testing::HasSubstr(variant.repair)) << variant.name;
      EXPECT_TRUE(check(report.repair->program, {.ranks = ranks, .calls = 3}).passed) << variant.name;
    }
  }
}

TEST(CheckVariants, TheNaiveExplorerAgreesForTwoRanks) {
  Index complete = 0;
  for (const Variant& variant : variants()) {
    const SymbolicProgram program = exchange(variant.signals, variant.body, variant.two_windows);
    const CheckInput input = lists_of(program, 2, 2);
    const OracleVerdict oracle = explore_naively(input, 100'000);
    const CheckReport report = check(input);
    complete += oracle.complete;
    if (!oracle.faults.empty()) {
      EXPECT_FALSE(report.passed) << variant.name;
    }
    if (!oracle.complete) continue;
    EXPECT_EQ(report.passed, oracle.faults.empty()) << variant.name << "\n" << report.text();
    if (report.fault) {
      EXPECT_TRUE(oracle.faults.contains(*report.fault)) << variant.name;
    }
  }
  EXPECT_GE(complete, 15);
}

// With six ranks the same three calls have far more interleavings than could be run one by one.
TEST(CheckVariants, ManyRanksTakeOneRun) {
  for (const Variant& variant : variants()) {
    if (variant.fails_from != 0) continue;
    const SymbolicProgram program = exchange(variant.signals, variant.body, variant.two_windows);
    const CheckReport report = check(program, {.ranks = 6, .calls = 4});
    EXPECT_TRUE(report.passed && !report.bounded) << variant.name << "\n" << report.text();
    EXPECT_LT(report.states, 5000) << variant.name;
  }
}

}  // namespace
}  // namespace reshard
