#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "program/verify/verify_rules.h"
#include "reshard/builder.h"
#include "reshard/error.h"
#include "reshard/program_text.h"
#include "verify_cases.h"

namespace reshard {

void PrintTo(const ProgramFault& fault, std::ostream* out) {
  *out << "[" << fault.rule << "] " << fault.statement << "\n    " << fault.message << "\n";
}

namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<VerifyCase> all_cases() {
  std::vector<VerifyCase> cases = structure_cases();
  for (auto* more : {type_cases, memory_cases, signal_cases}) std::ranges::move(more(), std::back_inserter(cases));
  return cases;
}

TEST(Verify, EveryMistakeIsNamedWithItsFix) {
  for (const VerifyCase& given : all_cases()) {
    SCOPED_TRACE(given.name);
    EXPECT_THAT(verify(parse_program(given.faulty)), ElementsAreArray(given.faults));
  }
}

TEST(Verify, NearMissesAreFine) {
  for (const VerifyCase& given : all_cases()) {
    SCOPED_TRACE(given.name);
    EXPECT_THAT(verify(parse_program(given.near_miss)), IsEmpty());
  }
}

// Text with unknown names or too many indices does not parse; programs built otherwise may have them.
SymbolicProgram copies_rows() {
  return parse_program(
      "program p\nsize n = 3\ninput x : f32[P, n]\noutput y : f32[P, n]\nfor d in 0..P { copy y[d] <- x[d] }\n");
}

TEST(Verify, NamesAreKnownAndTheirOwn) {
  SymbolicProgram program = copies_rows();
  program.signals.push_back({.name = "x", .shape = {1}});
  program.body.push_back({Notify{{"x", {}, {0}}}});
  program.body.push_back({Wait{{"x", {}, {0}}}});
  program.buffers.push_back({.name = "v", .shape = {1}, .viewed = "w"});
  program.expect.push_back({"z", {"i"}});
  EXPECT_THAT(
      verify(program),
      ElementsAre(ProgramFault{"names", "", "view v is of w, which no buffer above it is called; declare w first"},
                  ProgramFault{"names", "", "buffer x and signal x share a name; rename one"},
                  ProgramFault{"names", "", "a rule for z, and no buffer has this name; declare it"}));
}

TEST(Verify, NamesInStatementsAreKnownAndHideNothing) {
  SymbolicProgram program = copies_rows();
  program.body.push_back({For{.variable = "n", .to = 2, .body = {}}});
  program.body.push_back({Notify{{"ready", {}, {0}}, NotifyOp::add, Expression::variable("d")}});
  program.body.push_back({DataMove{OpCode::copy, {"z"}, {"x"}}});
  EXPECT_THAT(verify(program),
              ElementsAre(ProgramFault{"names", "for n in 0..2 { }", "variable n hides size n; rename it"},
                          ProgramFault{"names", "notify ready[0] += d", "no signal is called ready; declare it"},
                          ProgramFault{"names", "notify ready[0] += d", "no size or variable is called d; declare it"},
                          ProgramFault{"names", "copy z <- x", "no buffer is called z; declare it"}));
}

TEST(Verify, DimensionsAreAsDeclared) {
  SymbolicProgram program = copies_rows();
  program.signals.push_back({.name = "ready", .shape = {Expression::variable("P"), 2}});
  const Selection all{.kind = Selection::Kind::range, .from = 0, .to = 2};
  program.body.push_back({DataMove{OpCode::copy, {"y"}, {"x", {}, {all, all, all}}}});
  program.body.push_back({Notify{{"ready", {}, {0}}}});
  program.body.push_back({Wait{{"ready", {}, {0, 0}}}});
  EXPECT_THAT(verify(program),
              ElementsAre(ProgramFault{"dimensions", "copy y <- x[0..2, 0..2, 0..2]",
                                       "x has 2 dimensions, and 3 are selected; name as many, or fewer"},
                          ProgramFault{"dimensions", "notify ready[0] = 1",
                                       "ready has 2 dimensions, and 1 is given; name one index for each"}));
}

TEST(Verify, EveryRuleHasAFaultyProgram) {
  std::set<std::string> shown{"names", "dimensions"};
  for (const VerifyCase& given : all_cases())
    for (const ProgramFault& fault : given.faults) shown.insert(fault.rule);
  for (const VerifyRule& rule : verify_rules()) EXPECT_TRUE(shown.contains(std::string(rule.name))) << rule.name;
  EXPECT_EQ(shown.size(), verify_rules().size());
}

TEST(Verify, FaultsComeInTheOrderOfStatements) {
  const auto faults = verify(parse_program(
      "program p\nsize n = 3\ninput x : f32[n]\noutput y : f32[n]\nwindow idle : f32[n]\ncopy y <- x[0..2]\n"
      "fill x <- 0\nif P > 1 { copy y <- y }\ncopy y[0..4] <- x[0..4]\n"));
  std::vector<std::string> rules;
  for (const ProgramFault& fault : faults) rules.push_back(fault.rule);
  EXPECT_THAT(rules, ElementsAre("unused", "shapes", "inputs", "aliasing", "bounds", "bounds"));
}

TEST(Verify, SizesThatTheProgramDoesNotHaveAreTheCallersMistake) {
  EXPECT_THAT(
      [] {
        verify(copies_rows(), {.sizes = {{"m", 2}}});
      },
      testing::ThrowsMessage<Error>(HasSubstr("program p has no size m; its sizes are n")));
}

// Those with a trap or a broken part beside them too.
TEST(Verify, CorrectProgramsHaveNoFaults) {
  const std::filesystem::path source = RESHARD_SOURCE;
  int programs = 0;
  for (const char* folder : {"tests/corpus/programs", "examples/ladder"})
    for (const auto& entry : std::filesystem::directory_iterator(source / folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".rp") || path.ends_with(".trap.rp") || path.ends_with(".broken.rp")) continue;
      ++programs;
      EXPECT_THAT(verify(parse_program(text_in(entry.path()), path), {.ranks = {1, 2, 3, 4, 5}}), IsEmpty()) << path;
    }
  EXPECT_GE(programs, 50);
}

TEST(Verify, TheListOfRulesInTheDocsIsTheListOfRules) {
  std::string table = "| rule | what it says | the fix |\n|---|---|---|\n";
  for (const VerifyRule& rule : verify_rules())
    table += "| " + std::string(rule.name) + " | " + std::string(rule.says) + " | " + std::string(rule.fix) + " |\n";
  EXPECT_THAT(text_in(std::filesystem::path(RESHARD_SOURCE) / "docs/design/programs.md"), HasSubstr(table));
}

}  // namespace
}  // namespace reshard
