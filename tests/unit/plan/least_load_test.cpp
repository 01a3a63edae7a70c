// Whole parts dealt to senders with the least greatest load: against trying all ways, in pools and without.
#include "plan/least_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "property/random.h"

namespace reshard {
namespace {

struct Question {
  std::vector<Pool> pools{{}};
  std::vector<Index> pool_of;  // of each sender
  std::vector<DealtPart> parts;

  bool may_send(std::size_t sender, const DealtPart& part) const {
    for (Index pool = pool_of[sender]; pool >= 0; pool = pools[static_cast<std::size_t>(pool)].parent)
      if (pool == part.pool) return true;
    return false;
  }
  std::string text() const {
    std::string out = "pools";
    for (const Pool& pool : pools) out += " " + std::to_string(pool.parent);
    out += ", senders in";
    for (const Index pool : pool_of) out += " " + std::to_string(pool);
    out += ", parts";
    for (const DealtPart& part : parts) out += " " + std::to_string(part.elements) + "@" + std::to_string(part.pool);
    return out;
  }
};

// Tries every way that is not worse already.
Index least_by_trying(const Question& question, std::vector<Index>& loads, std::size_t next, Index best) {
  if (next == question.parts.size()) return std::min(best, *std::ranges::max_element(loads));
  for (std::size_t sender = 0; sender < loads.size(); ++sender) {
    const DealtPart& part = question.parts[next];
    if (!question.may_send(sender, part) || loads[sender] + part.elements >= best) continue;
    loads[sender] += part.elements;
    best = least_by_trying(question, loads, next + 1, best);
    loads[sender] -= part.elements;
  }
  return best;
}

void expect_least(const Question& question) {
  const auto deal = least_load(question.pools, question.pool_of, question.parts);
  ASSERT_TRUE(deal) << question.text();
  std::vector<Index> loads(question.pool_of.size());
  for (std::size_t k = 0; k < question.parts.size(); ++k) {
    const std::size_t sender = static_cast<std::size_t>(deal->senders.at(k));
    EXPECT_TRUE(question.may_send(sender, question.parts[k])) << question.text() << ": part " << k;
    loads.at(sender) += question.parts[k].elements;
  }
  EXPECT_EQ(static_cast<Index>(deal->greatest), *std::ranges::max_element(loads)) << question.text();
  std::vector<Index> none(loads.size());
  EXPECT_EQ(static_cast<Index>(deal->greatest), least_by_trying(question, none, 0, std::numeric_limits<Index>::max()))
      << question.text();
}

// Every choice of up to 7 sizes of 1 to 5, for up to 4 senders.
void all_sizes(Question& question, Index greatest, int& count) {
  if (!question.parts.empty()) expect_least(question), ++count;
  if (question.parts.size() == 7 || testing::Test::HasFailure()) return;
  for (Index size = greatest; size > 0; --size) {
    question.parts.push_back({0, size});
    all_sizes(question, size, count);
    question.parts.pop_back();
  }
}

TEST(LeastLoad, IsTheLeastOfAllWays) {
  int count = 0;
  for (std::size_t senders = 1; senders <= 4; ++senders) {
    Question question;
    question.pool_of.assign(senders, 0);
    all_sizes(question, 5, count);
  }
  EXPECT_EQ(count, 4 * 791);
}

TEST(LeastLoad, IsTheLeastOfAllWaysInPools) {
  Random random(seed_from_environment());
  for (int k = 0; k < 6000 && !testing::Test::HasFailure(); ++k) {
    Question question;
    for (Index pool = random.below(5); pool > 0; --pool)
      question.pools.push_back({random.below(std::ssize(question.pools))});
    for (Index sender = random.between(1, 5); sender > 0; --sender)
      question.pool_of.push_back(random.below(std::ssize(question.pools)));
    const Index greatest = random.among(std::vector<Index>{1, 2, 6, 30, 1000});
    for (Index n = random.between(1, 7); n > 0; --n) {
      const DealtPart part{random.below(std::ssize(question.pools)), random.between(1, greatest)};
      for (std::size_t sender = 0; sender < question.pool_of.size(); ++sender)
        if (question.may_send(sender, part)) {
          question.parts.push_back(part);
          break;
        }
    }
    if (!question.parts.empty()) expect_least(question);
  }
}

// 3 3 2 2 2 on two senders: by rule 7, the optimum is 6.
TEST(LeastLoad, LargestFirstIsNotEnough) {
  Question question;
  question.pool_of = {0, 0};
  for (const Index size : {3, 3, 2, 2, 2}) question.parts.push_back({0, size});
  EXPECT_EQ(static_cast<Index>(least_load(question.pools, question.pool_of, question.parts)->greatest), 6);
}

// Host 1 has one copy and two receivers of its own: the other copy serves whoever is on no host with a copy.
TEST(LeastLoad, WhatMustStayInAPoolLeavesTheRestToOthers) {
  Question question;
  question.pools = {{-1}, {0}, {0}};
  question.pool_of = {1, 2};
  question.parts = {{1, 4}, {1, 4}, {0, 3}, {0, 3}, {0, 2}};
  const auto deal = least_load(question.pools, question.pool_of, question.parts);
  EXPECT_EQ(deal->senders, (std::vector<Index>{0, 0, 1, 1, 1}));
  EXPECT_EQ(static_cast<Index>(deal->greatest), 8);
}

TEST(LeastLoad, EqualPartsAreDealtAtAnyNumber) {
  Question question;
  question.pool_of.assign(7, 0);
  question.parts.assign(100000, DealtPart{0, 5});
  EXPECT_EQ(static_cast<Index>(least_load(question.pools, question.pool_of, question.parts)->greatest),
            (100000 + 6) / 7 * 5);
}

// Two sizes make 302 * 200 ways.
TEST(LeastLoad, FewSizesAreDecidedInGreatNumbers) {
  Question question;
  question.pool_of.assign(3, 0);
  for (Index k = 0; k < 500; ++k) question.parts.push_back({0, k < 301 ? 7 : 5});
  const auto deal = least_load(question.pools, question.pool_of, question.parts);
  ASSERT_TRUE(deal);
  EXPECT_EQ(static_cast<Index>(deal->greatest), (301 * 7 + 199 * 5 + 2) / 3);
}

// Sums beyond 64 bits.
TEST(LeastLoad, LoadsMayExceed64Bits) {
  Question question;
  question.pool_of.assign(2, 0);
  question.parts.assign(10, DealtPart{0, Index{1} << 62});
  EXPECT_EQ(least_load(question.pools, question.pool_of, question.parts)->greatest, Wide{5} << 62);
}

TEST(LeastLoad, TooManyDifferentSizesAreUnknown) {
  Random random(seed_from_environment());
  Question question;
  question.pool_of.assign(3, 0);
  for (Index k = 0; k < 40; ++k) question.parts.push_back({0, (Index{1} << 40) + random.below(Index{1} << 40)});
  EXPECT_FALSE(least_load(question.pools, question.pool_of, question.parts));
}

}  // namespace
}  // namespace reshard
