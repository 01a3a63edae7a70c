// What only some ranks find wrong is refused by all of them, in one wording, and the world goes on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <set>

#include "reshard/batch_move.h"
#include "reshard/error.h"
#include "reshard/stamp.h"
#include "reshard/world.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What each rank was told: one wording, from every rank.
class Refusals {
 public:
  template <class Act>
  void expect(Act act) {
    std::string told = "nothing";
    try {
      act();
    } catch (const Error& error) {
      told = error.what();
    }
    const std::lock_guard lock(mutex_);
    wordings_.insert(told);
    ++ranks_;
  }
  std::string of(Index ranks) const {
    EXPECT_EQ(ranks_, ranks);
    EXPECT_EQ(wordings_.size(), 1u) << fmt::format("{}", fmt::join(wordings_, "\n"));
    return *wordings_.begin();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> wordings_;
  Index ranks_ = 0;
};

// That the ranks are still in step: a move, three times, of values that name their epoch.
void expect_moves(World& world) {
  Tensor rows = world.allocate(layout(fmt::format("i32[11,3] on (r={}) {{0: r}}", world.ranks())));
  Tensor columns = world.allocate(layout(fmt::format("i32[11,3] on (r={}) {{1: r}}", world.ranks())));
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    stamp(rows, epoch);
    world.move(rows, columns);
    expect_stamped(columns, epoch);
  }
}

// Two copies of each of two shards: the first has 20 receivers of different sizes, which is too hard to deal exactly;
// the second has one, and its ranks alone would find nothing wrong.
TEST(SharedRefusal, APlanThatOnlySomeRanksCannotMake) {
  std::string sizes;
  Index first = 0;
  for (Index k = 0, size = 1009; k < 20; ++k) {
    size += 37 + (k * k * 13) % 101;
    sizes += std::to_string(size) + ",";
    first += size;
  }
  const Layout source = layout(fmt::format("f32[{}] on (s=2, r=2) {{0: s:sizes[{},500]}}", first + 500, first));
  const Layout target = layout(fmt::format("f32[{}] on (t=21)@4 {{0: t:sizes[{}500]}}", first + 500, sizes));
  Refusals refusals;
  thread_ranks(25, [&](World& world) {
    Tensor a = world.allocate(source, "a"), b = world.allocate(target, "b");
    for (int time = 0; time < 2; ++time) refusals.expect([&] { world.move(a, b, {.policy = SenderPolicy::optimal}); });
    stamp(a, 7);
    world.move(a, b);
    expect_stamped(b, 7);
    expect_moves(world);
  });
  EXPECT_THAT(refusals.of(2 * 25), AllOf(HasSubstr("rank 0: "), HasSubstr("balanced")));
}

TEST(SharedRefusal, ATensorMovedFromOnOneRank) {
  Refusals refusals;
  thread_ranks(3, [&](World& world) {
    Tensor a = world.allocate(layout("f32[8] on (r=3) {0: r}"), "a"),
           b = world.allocate(layout("f32[8] on (r=3)"), "b");
    std::optional<Tensor> elsewhere;
    if (world.rank() == RankId(1)) elsewhere = std::move(b);
    refusals.expect([&] { world.move(a, b); });
    expect_moves(world);
  });
  EXPECT_THAT(refusals.of(3), HasSubstr("one that was moved from"));
}

TEST(SharedRefusal, ABatchThatIsWrongOnOneRank) {
  Refusals refusals;
  thread_ranks(3, [&](World& world) {
    Tensor a = world.allocate(layout("i32[8] on (r=3) {0: r}"), "a"),
           b = world.allocate(layout("i32[8] on (r=3)"), "b");
    Tensor* const target = world.rank() == RankId(2) ? nullptr : &b;
    refusals.expect([&] { BatchMove(world, {{&a, target}}); });
    expect_moves(world);
    BatchMove batch(world, {{&a, &b}});
    for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
      stamp(a, epoch);
      batch.run();
      expect_stamped(b, epoch);
    }
  });
  EXPECT_THAT(refusals.of(3), HasSubstr("rank 2"));
}

TEST(SharedRefusal, ABatchOfATensorThatWasMovedFrom) {
  Refusals refusals;
  thread_ranks(2, [&](World& world) {
    Tensor a = world.allocate(layout("i32[8] on (r=2) {0: r}"), "a"),
           b = world.allocate(layout("i32[8] on (r=2)"), "b");
    const Tensor elsewhere = std::move(b);
    refusals.expect([&] { BatchMove(world, {{&a, &b}}); });
    expect_moves(world);
  });
  EXPECT_THAT(refusals.of(2), HasSubstr("moved from"));
}

TEST(SharedRefusal, MemoryThatNoRankHas) {
  Refusals refusals;
  thread_ranks(2, [&](World& world) {
    refusals.expect([&] { world.allocate(layout("u8[4611686018427387904] on (r=2) {0: r}"), "huge"); });
    expect_moves(world);
  });
  EXPECT_THAT(refusals.of(2), HasSubstr("huge"));
}

// After a timeout nobody knows what the staging holds: the batch and its world say so instead of moving torn data.
TEST(SharedRefusal, ABatchThatFailedIsNotRunAgain) {
  thread_ranks(2, [&](World& world) {
    Tensor a = world.allocate(layout("i32[8] on (r=2) {0: r}"), "a"),
           b = world.allocate(layout("i32[8] on (r=2)"), "b");
    BatchMove batch(world, {{&a, &b}});
    world.set_timeout(std::chrono::milliseconds(100));
    if (world.rank() == RankId(1)) return;
    EXPECT_THROW(batch.run(), Error);
    try {
      batch.run();
      ADD_FAILURE() << "ran again";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("this world cannot go on since an earlier call failed"));
    }
  });
}

}  // namespace
}  // namespace reshard
