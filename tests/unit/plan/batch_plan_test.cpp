#include "reshard/batch_plan.h"

#include <gmock/gmock.h>

#include <map>

#include "plan/packing.h"
#include "property/random_batch.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const BatchPlan& plan) {
  std::vector<std::string> names;
  for (const BatchTensor& tensor : plan.tensors()) names.push_back(tensor.name);
  return names;
}

const char* const kRows = "f32[8,8] on (r=4) {0: r}";
const char* const kBlocks = "f32[8,8] on (y=2, x=2) {0: y, 1: x}";

TEST(BatchPlan, TensorsThatMoveAlikeAreOneClass) {
  Batch batch;
  for (const char* name : {"d", "b", "c"}) batch.add(name, layout(kRows), layout(kBlocks));
  batch.add("a", layout(kBlocks), layout(kRows));
  const BatchPlan plan(batch);
  EXPECT_THAT(names(plan), ElementsAre("a", "b", "c", "d"));
  ASSERT_EQ(plan.classes().size(), 2u);
  EXPECT_EQ(plan.classes()[0].count, 1);
  EXPECT_EQ(plan.classes()[1].count, 3);
  EXPECT_EQ(plan.source(plan.classes()[1]), layout(kRows));
  EXPECT_EQ(plan.plan(plan.classes()[1]), reshard::plan(layout(kRows), layout(kBlocks)));
}

// 6 copies, 4 tensors of one layout and 5 of another: 9 turns, so no copy is begun with more than twice.
TEST(BatchPlan, TurnsGoOnFromOneLayoutToTheNext) {
  Batch batch;
  const Layout small = layout("f32[4] on (dp=6) {}"), other = layout("f32[5] on (dp=6) {}");
  for (int k = 0; k < 4; ++k) batch.add("a" + std::to_string(k), small, layout("f32[4] on (one=1)@6 {}"));
  for (int k = 0; k < 5; ++k) batch.add("b" + std::to_string(k), other, layout("f32[5] on (one=1)@6 {}"));
  const BatchPlan plan(batch);
  std::vector<Index> turns;
  for (const BatchClass& c : plan.classes()) turns.push_back(c.turn);
  EXPECT_THAT(turns, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2));
  std::vector<Index> sent;
  for (const RankBytes& rank : plan.certificate().totals.ranks) sent.push_back(rank.sent);
  EXPECT_THAT(sent, ElementsAre(16 + 20, 16 + 20, 16 + 20, 16, 20, 20, 0));
}

// One rank lists the tensors in another order and a layout twice.
TEST(BatchPlan, OrderFollowsFromTheNames) {
  Random random(seed_from_environment());
  for (int round = 0; round < 40; ++round) {
    const Batch given = random_batch(random, 20);
    Batch other = given;
    random.shuffle(other.tensors);
    other.sources.push_back(given.sources.back());
    for (BatchTensor& tensor : other.tensors)
      if (tensor.source + 1 == std::ssize(given.sources) && random.one_in(2)) ++tensor.source;
    std::ranges::reverse(other.targets);
    for (BatchTensor& tensor : other.tensors)
      tensor.target = static_cast<int>(std::ssize(other.targets)) - 1 - tensor.target;
    const BatchPlan a(given), b(other);
    EXPECT_EQ(names(a), names(b));
    for (Index r = 0; r < world_of(given); ++r) {
      const RankBatch mine = a.of_rank(RankId(r)), theirs = b.of_rank(RankId(r));
      EXPECT_EQ(mine.copies, theirs.copies);
      EXPECT_EQ(mine.sends, theirs.sends);
      EXPECT_EQ(mine.receives, theirs.receives);
    }
  }
}

PlanOptions random_senders(Random& random) {
  const auto policies = all_sender_policies();
  PlanOptions options;
  options.policy = policies[static_cast<std::size_t>(random.below(std::ssize(policies)))];
  if (options.policy == SenderPolicy::local) options.ranks_per_host = random.below(5);
  options.rotation = random.below(4);
  return options;
}

TEST(BatchPlan, BothEndsOfAPairAgree) {
  Random random(seed_from_environment());
  for (int round = 0; round < 60; ++round) {
    const Batch batch = random_batch(random, 12);
    BatchOptions options;
    options.plan = random_senders(random);
    const BatchPlan plan(batch, options);
    std::map<std::pair<Index, Index>, std::vector<ClassTransfer>> sent, received;
    for (Index r = 0; r < world_of(batch); ++r) {
      const RankBatch own = plan.of_rank(RankId(r));
      for (const PeerTransfers& to : own.sends) sent[{r, to.peer.value()}] = to.transfers;
      for (const PeerTransfers& from : own.receives) received[{from.peer.value(), r}] = from.transfers;
    }
    EXPECT_EQ(sent, received) << "round " << round;
  }
}

// Everything once more, tensor by tensor.
void expect_certified(const Batch& batch, const BatchOptions& options) {
  const BatchPlan plan(batch, options);
  const BatchCertificate certificate = plan.certificate();
  const Packing packing(options.plan.staging_limit, options.pack_below);
  std::map<RankId, RankBytes> ranks;
  std::map<std::pair<RankId, RankId>, PackedMessages> channels;  // target, source
  std::map<std::pair<RankId, RankId>, Index> bytes;
  std::map<RankId, Index> in;
  std::map<RankId, std::array<Index, 2>> out;
  Index transfers = 0, direct = 0;
  for (const BatchClass& c : plan.classes())
    for (Index k = 0; k < c.count; ++k) {
      const Plan each = reshard::plan(plan.source(c), plan.target(c), plan.options(c));
      for (const RankBytes& rank : each.certificate().ranks) {
        ranks[rank.rank].rank = rank.rank;
        ranks[rank.rank].sent += rank.sent;
        ranks[rank.rank].received += rank.received;
        ranks[rank.rank].copied += rank.copied;
        ranks[rank.rank].needed += rank.needed;
      }
      for (const Transfer& t : each.transfers()) {
        if (t.is_local()) continue;
        ++transfers;
        const Index each_bytes = bytes_of(plan.source(c).dtype()), moved = t.elements() * each_bytes;
        bytes[{t.target, t.source}] += moved;
        if (!packing.packs(moved)) {
          ++direct;
          continue;
        }
        PackedMessages& channel = channels[{t.target, t.source}];
        const Index message = channel.add(packing, moved, each_bytes).message;
        Index& slot = out[t.source][static_cast<std::size_t>(Packing::slot_out(t.source, t.target, message))];
        slot = std::max(slot, channel.used);
        in[t.target] = std::max(in[t.target], channel.used);
      }
    }
  Index messages = direct, staged = 0;
  for (const auto& [pair, channel] : channels) messages += channel.messages;
  for (const auto& [rank, unused] : ranks) staged = std::max(staged, in[rank] + out[rank][0] + out[rank][1]);
  std::vector<RankMessage> pairs;
  for (const auto& [pair, sum] : bytes) {
    pairs.push_back({pair.second, pair.first, sum});
    ++ranks[pair.second].messages_out;
    ++ranks[pair.first].messages_in;
  }
  std::vector<RankBytes> expected;
  for (const auto& [rank, sums] : ranks) expected.push_back(sums);
  EXPECT_EQ(certificate.totals.ranks, expected);
  EXPECT_EQ(certificate.totals.messages, messages);
  EXPECT_EQ(certificate.totals.peak_staging, staged);
  EXPECT_LE(certificate.totals.peak_staging, options.plan.staging_limit);
  EXPECT_EQ(certificate.transfers, transfers);
  EXPECT_EQ(certificate.pairs, pairs);
  EXPECT_TRUE(certificate.totals.optimal());
}

TEST(BatchPlan, TheCertificateIsTheSumOverTensors) {
  Random random(seed_from_environment());
  for (int round = 0; round < 80; ++round) {
    BatchOptions options{.plan = random_senders(random)};
    options.plan.staging_limit = random.one_in(3) ? random.below(200) : random.below(4000);
    options.pack_below = random.among(std::vector<Index>{0, 1, 40, 300, 1 << 20});
    SCOPED_TRACE(testing::Message() << "round " << round << ", staging " << options.plan.staging_limit << ", below "
                                    << options.pack_below);
    expect_certified(random_batch(random, 30), options);
  }
}

void expect_refused(const Batch& batch, std::initializer_list<const char*> parts, BatchOptions options = {}) {
  try {
    const BatchPlan plan(batch, options);
    FAIL() << "not refused";
  } catch (const Error& error) {
    for (const char* part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(BatchPlan, RefusesWhatItCannotMove) {
  const Layout rows = layout(kRows), blocks = layout(kBlocks);
  Batch twice;
  twice.add("w", rows, blocks);
  twice.add("v", rows, blocks);
  twice.add("w", blocks, rows);
  expect_refused(twice, {"tensor w is in the batch twice"});
  Batch shapes;
  shapes.add("a", rows, blocks);
  shapes.add("b", rows, layout("f32[8,9] on (r=4) {0: r}"));
  expect_refused(shapes, {"tensor b", "[8,8]", "[8,9]"});
  Batch pending;
  pending.add("g", layout("f32[8] on (r=4) {r: partial(sum)}"), layout("f32[8] on (r=4) {0: r}"));
  expect_refused(pending, {"tensor g", "partial(sum)", "alone"});
  expect_refused({.sources = {rows}, .targets = {blocks}, .tensors = {{"x", 0, 1}}},
                 {"tensor x", "target", "layout 1"});
  expect_refused({}, {"-1"}, {.pack_below = -1});
  EXPECT_TRUE(BatchPlan(Batch{}).certificate().totals.ranks.empty());
}

}  // namespace
}  // namespace reshard
