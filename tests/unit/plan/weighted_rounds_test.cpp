// Rounds of chunks: no time lost at the busiest rank, every byte once, as few rounds as asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property/random.h"
#include "property/rounds_check.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RankMessage weighted(Index source, Index target, Index bytes) { return {RankId(source), RankId(target), bytes}; }

ChunkRounds checked(const std::vector<RankMessage>& messages, const ChunkOptions& options) {
  ChunkRounds rounds = weighted_rounds(messages, options);
  EXPECT_THAT(oracle::chunk_faults(rounds, messages), IsEmpty());
  return rounds;
}

// Messages between `senders` and `receivers` whose sizes are the digits of `code` in base `sizes`.
std::vector<RankMessage> decoded(Index code, Index senders, Index receivers, Index sizes) {
  std::vector<RankMessage> messages;
  for (Index s = 0; s < senders; ++s)
    for (Index r = 0; r < receivers; ++r, code /= sizes) messages.push_back(weighted(s, senders + r, code % sizes));
  return messages;
}

struct Graphs {
  Index senders, receivers, sizes;
};

TEST(WeightedRounds, TakeTheGreatestLoadInAllSmallGraphs) {
  for (const auto& [senders, receivers, sizes] :
       {Graphs{1, 3, 5}, Graphs{2, 2, 7}, Graphs{2, 3, 4}, Graphs{3, 2, 4}, Graphs{3, 3, 3}}) {
    Index count = 1;
    for (Index k = 0; k < senders * receivers; ++k) count *= sizes;
    for (Index code = 0; code < count && !testing::Test::HasFailure(); ++code) {
      const std::vector<RankMessage> messages = decoded(code, senders, receivers, sizes);
      const ChunkRounds rounds = checked(messages, {.least = 1});
      EXPECT_EQ(rounds.length(), rounds.greatest_bytes) << code;
      for (const Index least : {2, 3}) checked(messages, {.least = least});
    }
  }
}

// Ranks that send and receive, several messages between two of them, and to themselves.
TEST(WeightedRounds, TakeTheGreatestLoadInRandomGraphs) {
  Random random(seed_from_environment());
  for (int k = 0; k < 1500 && !testing::Test::HasFailure(); ++k) {
    std::vector<RankMessage> messages;
    const Index places = random.between(1, 12), sizes = random.among(std::vector<Index>{2, 9, 1000});
    for (Index count = random.below(60); count > 0; --count)
      messages.push_back(weighted(random.below(places), random.below(places), random.below(sizes)));
    const ChunkRounds exact = checked(messages, {.least = 1});
    EXPECT_EQ(exact.length(), exact.greatest_bytes);
    const ChunkOptions options{.least = random.between(1, sizes)};
    const ChunkRounds rounds = checked(messages, options);
    EXPECT_EQ(rounds.least, options.least);
    EXPECT_EQ(weighted_rounds(messages, options), rounds);

    // Down to the fewest rounds that any order takes.
    std::map<RankId, Index> out, in;
    Index degree = 1;
    for (const RankMessage& m : messages)
      if (m.source != m.target && m.bytes > 0) degree = std::max({degree, ++out[m.source], ++in[m.target]});
    const Index most = random.between(degree, degree + 3);
    EXPECT_LE(std::ssize(checked(messages, {.least = 1, .most_rounds = most}).rounds), most);
  }
}

// A circle of six messages is two rounds of whole messages, and each has a message of 6. No rank has more than 8.
TEST(WeightedRounds, CutWhatWouldKeepOthersWaiting) {
  const std::vector<RankMessage> circle = {weighted(0, 3, 6), weighted(0, 4, 2), weighted(1, 4, 1),
                                           weighted(1, 5, 6), weighted(2, 5, 2), weighted(2, 3, 1)};
  EXPECT_EQ(rank_rounds(circle).length(), 12);
  EXPECT_EQ(checked(circle, {.least = 1}).length(), 8);
  EXPECT_EQ(checked(circle, {.least = 2}).length(), 8);
}

// One rank's messages leave one after another, none of them cut.
TEST(WeightedRounds, DoNotCutWhatDisturbsNobody) {
  const ChunkRounds rounds = checked({weighted(0, 1, 5), weighted(0, 2, 70), weighted(0, 3, 9)}, {.least = 1});
  EXPECT_EQ(rounds.rounds.size(), 3u);
  EXPECT_EQ(rounds.length(), 84);
}

// Messages of one byte more than the chunk: whole, they lose nothing although each counts as two chunks.
TEST(WeightedRounds, AnUncutMessageLastsAsLongAsItIs) {
  std::vector<RankMessage> messages;
  for (Index k = 0; k < 10; ++k) messages.push_back(weighted(0, 1 + k, 1025));
  EXPECT_EQ(checked(messages, {.least = 1024}).length(), 10 * 1025);
}

TEST(WeightedRounds, FewerRoundsTakeLongerChunks) {
  std::vector<RankMessage> messages;
  for (Index s = 0; s < 8; ++s)
    for (Index r = 0; r < 8; ++r) messages.push_back(weighted(s, 8 + r, 1000 + (s * 37 + r * 101) % 300));
  const ChunkRounds fine = checked(messages, {.least = 1});
  const ChunkRounds coarse = checked(messages, {.least = 1, .most_rounds = 8});
  EXPECT_EQ(fine.length(), fine.greatest_bytes);
  EXPECT_GT(fine.rounds.size(), 8u);
  EXPECT_EQ(coarse.rounds.size(), 8u);
  EXPECT_GT(coarse.least, 1);
}

TEST(WeightedRounds, ChunksOfOneMessageMayGoFar) {
  const Index far = Index{1} << 60, large = INT64_MAX / 2;
  EXPECT_EQ(checked({weighted(far, 5, large), weighted(5, far, large)}, {.least = (Index{1} << 62) + 1}).length(),
            large);
  EXPECT_EQ(weighted_rounds(std::vector{weighted(0, 1, INT64_MAX)}, {.least = INT64_MAX - 1}).length(), INT64_MAX);
}

TEST(WeightedRounds, NothingToSendTakesNone) {
  EXPECT_EQ(checked({}, {}).rounds.size(), 0u);
  EXPECT_EQ(checked({weighted(3, 3, 10), weighted(4, 5, 0)}, {}).rounds.size(), 0u);
}

std::string refusal(const std::vector<RankMessage>& messages, const ChunkOptions& options) {
  try {
    weighted_rounds(messages, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "accepted";
}

TEST(WeightedRounds, RefuseWhatCannotBe) {
  EXPECT_THAT(refusal({weighted(0, 1, -1)}, {}), HasSubstr("rank 0 to rank 1 has -1 bytes"));
  EXPECT_THAT(refusal({weighted(0, 1, 1)}, {.least = 0}), HasSubstr("chunks of at least 0 bytes"));
  EXPECT_THAT(refusal({weighted(0, 1, 1), weighted(0, 2, 1)}, {.most_rounds = 1}),
              HasSubstr("one rank sends or receives 2 messages, which no 1 rounds hold"));
}

}  // namespace
}  // namespace reshard
