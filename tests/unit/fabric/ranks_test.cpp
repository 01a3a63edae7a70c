#include "reshard/ranks.h"

#include <gtest/gtest.h>

namespace reshard {
namespace {

RankOutcome ended(RankOutcome::End end, std::optional<Code> code = Code::peer_lost) {
  return {.end = end, .code = code};
}
const RankOutcome kReturned{};

TEST(FirstFailure, NoneWhenAllReturned) {
  EXPECT_FALSE(first_failure({}));
  EXPECT_FALSE(first_failure({kReturned, kReturned}));
}

TEST(FirstFailure, ACauseComesBeforeItsConsequences) {
  using End = RankOutcome::End;
  const auto consequence = ended(End::threw);
  EXPECT_EQ(first_failure({consequence, kReturned, ended(End::threw, Code::corrupt)}), RankId(2));
  EXPECT_EQ(first_failure({consequence, ended(End::threw, Code::timeout), ended(End::killed)}), RankId(2));
  EXPECT_EQ(first_failure({ended(End::abandoned), ended(End::threw, Code::timeout)}), RankId(1));
  EXPECT_EQ(first_failure({kReturned, consequence}), RankId(1));
}

TEST(FirstFailure, TheLowestOfEquals) {
  using End = RankOutcome::End;
  EXPECT_EQ(first_failure({kReturned, ended(End::threw, Code::io), ended(End::threw, Code::corrupt)}), RankId(1));
  EXPECT_EQ(first_failure({kReturned, ended(End::exited), ended(End::killed)}), RankId(1));
}

}  // namespace
}  // namespace reshard
