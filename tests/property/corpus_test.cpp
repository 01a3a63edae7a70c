// Every broken program of the corpus is caught at the least number of ranks and calls at which it can fail, and not
// below; every fixed twin holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corpus_files.h"
#include "reshard/check.h"

namespace reshard {
namespace {

std::string printed(const testing::TestParamInfo<CorpusProgram>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, '.', '_');
  return name;
}

std::vector<CorpusProgram> with(bool broken) {
  std::vector<CorpusProgram> programs = corpus_programs(RESHARD_CORPUS);
  std::erase_if(programs, [&](const CorpusProgram& program) { return program.broken != broken; });
  return programs;
}

class Broken : public testing::TestWithParam<CorpusProgram> {};
class Fixed : public testing::TestWithParam<CorpusProgram> {};

TEST_P(Broken, IsCaughtAtTheLeastNumberOfRanksWithATrace) {
  const CorpusProgram& p = GetParam();
  const CheckReport report = check(p.program, {.ranks = p.least_ranks, .calls = p.calls});
  ASSERT_TRUE(report.fault) << report.text();
  EXPECT_THAT(p.faults, testing::Contains(std::string(name_of(*report.fault)))) << report.text();
  EXPECT_FALSE(report.trace.empty()) << report.text();
  EXPECT_FALSE(report.message.empty());
  EXPECT_TRUE(std::ranges::any_of(report.trace, [](const TraceStep& step) { return step.culprit || step.blocked; }))
      << report.text();
}

TEST_P(Broken, HoldsBelow) {
  const CorpusProgram& p = GetParam();
  for (Index ranks = 1; ranks < p.least_ranks; ++ranks)
    EXPECT_TRUE(check(p.program, {.ranks = ranks, .calls = 3, .suggest = false}).passed) << ranks << " ranks";
  if (p.calls > 1) {
    EXPECT_TRUE(check(p.program, {.ranks = p.least_ranks, .calls = p.calls - 1, .suggest = false}).passed);
  }
}

TEST_P(Fixed, HoldsAtTwoThreeAndFourRanksWithThreeCalls) {
  for (Index ranks = 1; ranks <= 4; ++ranks) {
    const CheckReport report = check(GetParam().program, {.ranks = ranks, .calls = 3});
    EXPECT_TRUE(report.passed && !report.bounded) << ranks << " ranks\n" << report.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Broken, testing::ValuesIn(with(true)), printed);
INSTANTIATE_TEST_SUITE_P(Corpus, Fixed, testing::ValuesIn(with(false)), printed);

TEST(Corpus, HasATwinForEach) {
  const auto stem = [](const CorpusProgram& p) { return p.name.substr(0, p.name.find('.')); };
  std::vector<std::string> broken, fixed;
  for (const CorpusProgram& p : with(true)) broken.push_back(stem(p));
  for (const CorpusProgram& p : with(false)) fixed.push_back(stem(p));
  EXPECT_EQ(broken, fixed);
  EXPECT_GE(broken.size(), 25u);
}

}  // namespace
}  // namespace reshard
