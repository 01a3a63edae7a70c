// Rounds: proper, as few as there can be, between ranks and between hosts.
#include "reshard/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property/random.h"
#include "property/rounds_check.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::IsEmpty;

RankId same(RankId rank) { return rank; }
RankMessage message(Index source, Index target, Index bytes = 1) { return {RankId(source), RankId(target), bytes}; }

Rounds<RankId> checked(const std::vector<RankMessage>& messages) {
  Rounds<RankId> rounds = rank_rounds(messages);
  EXPECT_THAT(oracle::rounds_faults(rounds, messages, false, same), IsEmpty());
  return rounds;
}

// Fewest rounds by trying: puts message k into each round that has room for it.
bool fits(const std::vector<RankMessage>& messages, std::vector<std::size_t>& round, std::size_t rounds) {
  const std::size_t k = round.size();
  if (k == messages.size()) return true;
  for (std::size_t r = 0; r < rounds; ++r) {
    bool free = true;
    for (std::size_t j = 0; j < k; ++j)
      free = free &&
             (round[j] != r || (messages[j].source != messages[k].source && messages[j].target != messages[k].target));
    if (!free) continue;
    round.push_back(r);
    if (fits(messages, round, rounds)) return true;
    round.pop_back();
  }
  return false;
}
std::size_t fewest_rounds(const std::vector<RankMessage>& messages) {
  for (std::size_t rounds = 0;; ++rounds) {
    std::vector<std::size_t> round;
    if (fits(messages, round, rounds)) return rounds;
  }
}

TEST(Rounds, AnAllToAllOfEightRanksTakesSeven) {
  const Plan plan = reshard::plan(layout("f32[8,8] on (a=8) {0: a}"), layout("f32[8,8] on (a=8) {1: a}"));
  const Rounds<RankId> rounds = checked(messages_of(plan));
  EXPECT_EQ(rounds.rounds.size(), 7u);
  for (const Round<RankId>& round : rounds.rounds) {
    EXPECT_EQ(round.exchanges.size(), 8u);
    EXPECT_EQ(round.bytes, 8 * 4);
  }
  EXPECT_EQ(rounds.local.size(), 8u);
  EXPECT_EQ(rounds.local_bytes, 8 * 4);
  EXPECT_EQ(rounds.greatest_bytes, 7 * 4);
  EXPECT_EQ(rounds.length(), 7 * 4);
}

TEST(Rounds, ARankSendsAndReceivesAtOnce) {
  EXPECT_EQ(checked({message(0, 1), message(1, 2), message(2, 0)}).rounds.size(), 1u);
}

TEST(Rounds, MessagesBetweenTheSameTwoRanksTakeTurns) {
  EXPECT_EQ(checked({message(0, 1, 5), message(0, 1, 7), message(0, 1, 2)}).rounds.size(), 3u);
  // Every pair of a triangle three times: in graphs with odd circles this would take more than the degree.
  std::vector<RankMessage> messages;
  for (int k = 0; k < 3; ++k)
    for (Index a = 0; a < 3; ++a)
      for (Index b = 0; b < 3; ++b)
        if (a != b) messages.push_back(message(a, b, 1 + k));
  EXPECT_EQ(checked(messages).rounds.size(), 6u);
}

TEST(Rounds, NothingToSendTakesNone) {
  EXPECT_EQ(checked({}).rounds.size(), 0u);
  const Rounds<RankId> rounds = checked({message(3, 3, 10), message(4, 4, 0)});
  EXPECT_EQ(rounds.rounds.size(), 0u);
  EXPECT_EQ(rounds.local_bytes, 10);
}

TEST(Rounds, OneRankMayHearFromManyWithoutATableOfAllRounds) {
  std::vector<RankMessage> messages;
  for (Index rank = 1; rank <= 50000; ++rank) messages.push_back(message(rank, 0, rank));
  const Rounds<RankId> rounds = checked(messages);
  EXPECT_EQ(rounds.rounds.size(), 50000u);
  EXPECT_EQ(rounds.length(), rounds.greatest_bytes);
}

TEST(Rounds, RanksMayBeFarApart) {
  EXPECT_EQ(checked({message(Index{1} << 60, 5), message(5, Index{1} << 60), message(7, 5)}).rounds.size(), 2u);
}

TEST(Rounds, LargeMessagesShareARoundWhereverTheyStandInTheList) {
  EXPECT_EQ(checked({message(0, 1, 1), message(0, 2, 1000), message(3, 4, 1000)}).length(), 1001);
}

TEST(Rounds, AreAsFewAsTryingFinds) {
  Random random(seed_from_environment());
  for (int k = 0; k < 3000 && !testing::Test::HasFailure(); ++k) {
    std::vector<RankMessage> messages;
    const Index places = random.between(1, 4);
    for (Index count = random.below(9); count > 0; --count) {
      const Index source = random.below(places);
      messages.push_back(message(source, places + random.below(places), random.below(50)));
    }
    EXPECT_EQ(checked(messages).rounds.size(), fewest_rounds(messages));
  }
}

// Large multigraphs: long alternating paths.
TEST(Rounds, AreProperInLargeRandomGraphs) {
  Random random(seed_from_environment() + 1);
  for (int k = 0; k < 100 && !testing::Test::HasFailure(); ++k) {
    std::vector<RankMessage> messages;
    const Index places = random.between(2, 60);
    for (Index count = random.below(600); count > 0; --count)
      messages.push_back(message(random.below(places), random.below(places), random.below(1000)));
    const Rounds<RankId> rounds = checked(messages);
    EXPECT_EQ(rank_rounds(messages), rounds);
    const Index hosts = random.between(1, 7);
    std::vector<Index> host_of(static_cast<std::size_t>(places));
    for (Index& host : host_of) host = random.below(hosts);
    const auto listed = [&](RankId rank) { return HostId(host_of[static_cast<std::size_t>(rank.value())]); };
    EXPECT_THAT(oracle::rounds_faults(host_rounds(messages, listed), messages, true, listed), IsEmpty());
    const auto divided = [&](RankId rank) { return HostId(rank.value() / hosts); };
    EXPECT_THAT(oracle::rounds_faults(host_rounds(messages, hosts), messages, true, divided), IsEmpty());
  }
}

TEST(HostRounds, MatchHostsAndLeaveLocalTrafficApart) {
  const Plan plan = reshard::plan(layout("f32[8,8] on (a=8) {0: a}"), layout("f32[8,8] on (a=8) {1: a}"));
  const std::vector<RankMessage> messages = messages_of(plan);
  const Rounds<HostId> rounds = host_rounds(messages, 2);
  EXPECT_THAT(oracle::rounds_faults(rounds, messages, true, [](RankId r) { return HostId(r.value() / 2); }), IsEmpty());
  ASSERT_EQ(rounds.rounds.size(), 3u);
  for (const Round<HostId>& round : rounds.rounds) {
    ASSERT_EQ(round.exchanges.size(), 4u);
    for (const Exchange<HostId>& exchange : round.exchanges) EXPECT_EQ(exchange.messages.size(), 4u);
  }
  EXPECT_EQ(rounds.local.size(), 16u);  // 8 to itself, 8 to the other rank of the host
}

TEST(Rounds, RefuseWhatIsNoSize) {
  EXPECT_THROW(rank_rounds(std::vector{message(0, 1, -1)}), Error);
  EXPECT_THROW(rank_rounds(std::vector{message(0, 1, INT64_MAX), message(0, 2, 1)}), Error);
  EXPECT_THROW(host_rounds(std::vector{message(0, 1)}, 0), Error);
}

}  // namespace
}  // namespace reshard
