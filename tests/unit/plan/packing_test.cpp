#include "plan/packing.h"

#include <gtest/gtest.h>

#include <array>

#include "property/random.h"

namespace reshard {
namespace {

// What is in the messages of one channel: the last one's bytes, and the greatest of the even and of the odd messages.
struct Seen {
  Index messages = 0;
  Index used = 0;
  std::array<Index, 2> greatest = {};
  friend bool operator==(const Seen&, const Seen&) = default;
};

void grow(Seen& seen, Index message, Index used) {
  Index& greatest = seen.greatest[static_cast<std::size_t>(message % 2)];
  greatest = std::max(greatest, used);
}

struct Alike {
  Index bytes, alignment, count;
};

Seen one_by_one(const Packing& packing, const std::vector<Alike>& runs) {
  PackedMessages packed;
  Seen seen;
  for (const Alike& run : runs)
    for (Index k = 0; k < run.count; ++k) {
      const auto [message, offset] = packed.add(packing, run.bytes, run.alignment);
      EXPECT_EQ(message, packed.messages - 1);
      EXPECT_EQ(offset % run.alignment, 0);
      EXPECT_LE(offset + run.bytes, packing.message_bytes());
      EXPECT_EQ(offset + run.bytes, packed.used);
      grow(seen, message, packed.used);
    }
  seen.messages = packed.messages, seen.used = packed.used;
  return seen;
}

Seen run_by_run(const Packing& packing, const std::vector<Alike>& runs) {
  PackedMessages packed;
  Seen seen;
  for (const Alike& run : runs)
    packed.add(packing, run.bytes, run.alignment, run.count,
               [&](Index message, Index used) { grow(seen, message, used); });
  seen.messages = packed.messages, seen.used = packed.used;
  return seen;
}

TEST(Packing, EqualTransfersAreAddedInOneStep) {
  for (const Index slot : {16, 32, 48}) {
    const Packing packing(3 * slot, slot + 1);
    for (Index before = 0; before <= slot; ++before)
      for (Index bytes = 1; bytes <= slot; ++bytes)
        for (Index count = 0; count <= 9; ++count) {
          const std::vector<Alike> runs = {{std::max<Index>(before, 1), 1, before == 0 ? 0 : 1}, {bytes, 1, count}};
          ASSERT_EQ(run_by_run(packing, runs), one_by_one(packing, runs))
              << slot << ": " << before << ", then " << count << " of " << bytes;
        }
  }
}

TEST(Packing, RandomRunsOfAllAlignments) {
  Random random(seed_from_environment());
  for (int round = 0; round < 2000; ++round) {
    const Packing packing(random.between(48, 2000), 1 << 20);
    std::vector<Alike> runs;
    for (Index k = random.between(1, 8); k > 0; --k) {
      const Index alignment = Index{1} << random.below(5);
      const Index most = packing.message_bytes() / alignment;
      runs.push_back({alignment * random.between(1, most), alignment, random.below(40)});
    }
    ASSERT_EQ(run_by_run(packing, runs), one_by_one(packing, runs)) << "round " << round;
  }
}

TEST(Packing, SlotsKeepTheLimit) {
  for (Index limit = 0; limit < 400; ++limit) {
    const Packing packing(limit, 1 << 20);
    EXPECT_LE(packing.staging_bytes(), limit);
    EXPECT_GE(packing.staging_bytes() + 48, limit);
    EXPECT_EQ(packing.message_bytes() % 16, 0);
    EXPECT_FALSE(packing.packs(packing.message_bytes() + 1));
    // One slot in, two out, none over another.
    EXPECT_EQ(packing.offset_in() + packing.message_bytes(), packing.offset_out(0));
    EXPECT_EQ(packing.offset_out(0) + packing.message_bytes(), packing.offset_out(1));
    EXPECT_EQ(packing.offset_out(1) + packing.message_bytes(), packing.staging_bytes());
  }
}

TEST(Packing, OnlySmallTransfersArePacked) {
  const Packing packing(3 << 10, 100);
  EXPECT_TRUE(packing.packs(99));
  EXPECT_FALSE(packing.packs(100));
  EXPECT_EQ(Packing(3 << 10, 0).staging_bytes(), 0);
  EXPECT_FALSE(Packing(3 << 10, 0).packs(1));
}

}  // namespace
}  // namespace reshard
