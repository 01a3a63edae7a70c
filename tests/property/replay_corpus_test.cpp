// Traces are real: each one that the checker finds in the corpus can be run step by step, and stays what it is.
#include <gtest/gtest.h>

#include "corpus_files.h"
#include "reshard/replay.h"

namespace reshard {
namespace {

TEST(ReplayOfTheCorpus, EveryTraceRuns) {
  for (const CorpusProgram& p : corpus_programs(RESHARD_CORPUS)) {
    if (!p.broken) continue;
    for (Index ranks = p.least_ranks; ranks <= p.least_ranks + 2; ++ranks) {
      const CheckReport report = check(p.program, {.ranks = ranks, .calls = 3, .suggest = false});
      ASSERT_TRUE(report.fault) << p.name << ", " << ranks << " ranks";
      std::vector<ReplayedStep> steps;
      ASSERT_NO_THROW(steps = replay(p.program, report.trace, {.ranks = ranks})) << p.name << "\n" << report.text();
      ASSERT_EQ(steps.size(), report.trace.size());
      for (std::size_t at = 0; at < steps.size(); ++at) EXPECT_EQ(steps[at].step, report.trace[at]);
    }
  }
}

}  // namespace
}  // namespace reshard
