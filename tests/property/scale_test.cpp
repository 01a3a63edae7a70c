// Cost that is counted, not timed: edges per rank, transfers per tensor, descriptions of huge meshes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "property/random.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

const char* const big_source = "bf16[16384,53248] on (a=64, b=16, c=128) {0: a b, 1: c}";
const char* const big_target = "bf16[16384,53248] on (a=256, b=8, c=64) {0: a b, 1: c}";

const Transfer* transfer_from(const std::vector<Transfer>& transfers, RankId source, RankId target) {
  const auto found =
      std::ranges::find_if(transfers, [&](const Transfer& t) { return t.source == source && t.target == target; });
  return found == transfers.end() ? nullptr : &*found;
}

// O16: 131,072 devices to as many, four edges each, known from one's own coordinate.
TEST(Scale, OwnEdgesOf131072Ranks) {
  const Layout source = layout(big_source), target = layout(big_target);
  EXPECT_LT(source.text().size(), 1024u);
  EXPECT_EQ(source.mesh().size(), 131072);
  Random random(seed_from_environment());
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    const RankId rank(k < 2 ? k * 131071 : random.below(131072));
    const std::vector<Transfer> receives = plan_receives(source, target, rank);
    const std::vector<Transfer> sends = plan_sends(source, target, rank);
    EXPECT_EQ(receives.size(), 2u) << rank.value();
    EXPECT_EQ(sends.size(), 2u) << rank.value();
    for (const Transfer& t : receives) {
      const std::vector<Transfer> of_sender = plan_sends(source, target, t.source);
      const Transfer* same = transfer_from(of_sender, t.source, rank);
      ASSERT_NE(same, nullptr) << t.source.value() << " does not know that it sends to " << rank.value();
      EXPECT_EQ(*same, t);
    }
  }
}

// The target's axis b replicates, so a source copy serves some of the eight readers of its shard.
TEST(Scale, ReplicasOf131072RanksAgree) {
  const Layout source = layout("bf16[16384,53248] on (a=64, b=16, c=128) {0: a, 1: c}");
  const Layout target = layout("bf16[16384,53248] on (a=256, b=8, c=64)@131072 {0: a, 1: c}");
  Random random(seed_from_environment() + 1);
  for (const SenderPolicy policy : {SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo})
    for (int k = 0; k < 200 && !HasFailure(); ++k) {
      const RankId rank(131072 + random.below(131072));
      const std::vector<Transfer> receives = plan_receives(source, target, rank, {.policy = policy});
      EXPECT_GE(receives.size(), 2u);
      Index elements = 0;
      for (const Transfer& t : receives) {
        elements += t.elements();
        const std::vector<Transfer> of_sender = plan_sends(source, target, t.source, {.policy = policy});
        const Transfer* same = transfer_from(of_sender, t.source, rank);
        ASSERT_NE(same, nullptr) << name_of(policy) << ": " << t.source.value() << " -> " << rank.value();
        EXPECT_EQ(*same, t);
      }
      EXPECT_EQ(elements, 64 * 832);
    }
}

// Would never end if anything listed the ranks.
TEST(Scale, AMeshOfATrillionRanksIsDescribed) {
  const std::string text = "f32[4194304,4194304] on (a=1048576, b=1048576) {0: a, 1: b}";
  const Layout l = layout(text);
  EXPECT_EQ(l.text(), text);
  EXPECT_EQ(layout(text).fingerprint(), l.fingerprint());
  EXPECT_EQ(layout(text), l);
  const RankId last = l.mesh().rank_at(Coordinate{1048575, 1048575});
  EXPECT_EQ(last.value(), (Index{1} << 40) - 1);
  EXPECT_EQ(l.mesh().coordinate_of(last), (Coordinate{1048575, 1048575}));
  EXPECT_EQ(l.region(last).elements(), 16);
  const Layout moved = layout("f32[4194304,4194304] on (b=1048576, a=1048576) {0: a, 1: b}");
  EXPECT_EQ(plan_receives(l, moved, RankId(12345678901)).size(), 1u);
}

// O3: each of 64 ranks talks to 10, and nothing is said of the other pairs.
TEST(Scale, SparsePlansHaveNoEmptyTransfers) {
  const Plan p = plan(layout("f32[640] on (r=64) {0: r}"), layout("f32[640] on (r=64)@64 {0: r:strided(10)}"));
  EXPECT_EQ(p.transfers().size(), 640u);
  for (const RankBytes& rank : p.certificate().ranks)
    EXPECT_EQ(rank.messages_in + rank.messages_out, 10) << rank.rank.value();
}

std::vector<std::vector<Index>> shapes_in(const std::string& file) {
  std::ifstream in(std::string(RESHARD_TEST_DATA) + "/real/" + file);
  std::vector<std::vector<Index>> shapes;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream numbers(line.substr(line.rfind('\t') + 1));
    std::vector<Index> shape;
    for (std::string n; std::getline(numbers, n, ',');) shape.push_back(std::stoll(n));
    shapes.push_back(shape);
  }
  return shapes;
}

// O4: 723 tensors of a 70B model, 512 source shards, 384 target shards.
TEST(Scale, PlansOfAWholeModelGrowWithShardsPlusTransfers) {
  const std::vector<std::vector<Index>> shapes = shapes_in("llama3.1-70b.shapes.tsv");
  ASSERT_EQ(shapes.size(), 723u);
  const auto start = std::chrono::steady_clock::now();
  std::size_t transfers = 0;
  for (const std::vector<Index>& shape : shapes) {
    std::string dims;
    for (const Index n : shape) dims += (dims.empty() ? "" : ",") + std::to_string(n);
    const Plan p =
        plan(layout("f32[" + dims + "] on (fsdp=512) {0: fsdp}"), layout("f32[" + dims + "] on (tp=384)@512 {0: tp}"));
    EXPECT_LE(p.transfers().size(), 512u + 384u - 1) << dims;
    transfers += p.transfers().size();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} transfers of {} tensors planned in {:.2f} s\n", transfers, shapes.size(), took.count());
}

}  // namespace
}  // namespace reshard
