#include "reshard/world.h"

#include <gmock/gmock.h>

#include <mutex>
#include <thread>

#include "reshard/error.h"
#include "reshard/stamp.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

const char* const rows = "f32[8,8] on (r=4) {0: r}";
const char* const blocks = "f32[8,8] on (y=2, x=2) {0: y, 1: x}";

// What `body` throws on each rank; empty where it does not.
std::vector<std::string> errors_of(Index ranks, const std::function<void(World&)>& body, WorldOptions options = {}) {
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  thread_ranks(
      ranks,
      [&](World& world) {
        try {
          body(world);
        } catch (const Error& error) {
          errors[static_cast<std::size_t>(world.rank().value())] = error.what();
        }
      },
      options);
  return errors;
}

TEST(World, MovesATensor) {
  thread_ranks(4, [](World& world) {
    Tensor a = world.allocate(layout(rows));
    stamp(a);
    Tensor b = redistribute(world, a, layout(blocks));
    expect_stamped(b);
  });
}

TEST(World, ElementsAreFoundByLocalIndex) {
  thread_ranks(4, [](World& world) {
    Tensor a = world.allocate(layout("i32[8,8] on (r=4) {0: r}"), "weight");
    const auto r = static_cast<std::int32_t>(world.rank().value());
    for (std::int32_t i = 0; i < 2; ++i) {
      for (std::int32_t j = 0; j < 8; ++j) a.at<std::int32_t>({i, j}) = 10 * (2 * r + i) + j;
    }
    const Tensor b = redistribute(world, a, layout("i32[8,8] on (y=2, x=2) {0: y, 1: x} order(1,0)"));
    for (std::int32_t i = 0; i < 4; ++i) {
      for (std::int32_t j = 0; j < 4; ++j)
        EXPECT_EQ(b.at<std::int32_t>({i, j}), 10 * (4 * (r / 2) + i) + 4 * (r % 2) + j);
    }
    EXPECT_THROW(b.at<std::int32_t>({4, 0}), Error);
    EXPECT_THROW(b.at<std::int32_t>({0}), Error);
    EXPECT_THROW(b.at<double>({0, 0}), Error);
    EXPECT_EQ(b.name(), "weight");
    EXPECT_EQ(b.bytes().size(), 64u);
  });
}

TEST(World, RanksOutsideTheMeshHoldAnEmptyTensor) {
  thread_ranks(3, [](World& world) {
    Tensor a = world.allocate(layout("i32[4] on (x=2)@1 {0: x}"));
    EXPECT_EQ(a.bytes().size(), world.rank() == RankId(0) ? 0u : 8u);
    EXPECT_EQ(a.region().held, world.rank() != RankId(0));
    stamp(a);
    expect_stamped(a);
    if (world.rank() == RankId(0)) {
      EXPECT_THROW(a.at<std::int32_t>({0}), Error);
    }
  });
}

TEST(World, TrafficIsThatOfTheCertificate) {
  const Layout source = layout("f32[13,7] on (x=5) {0: x}"), target = layout("f32[13,7] on (y=2, x=2)@2 {0: x, 1: y}");
  const Certificate certificate = plan(source, target).certificate();
  thread_ranks(7, [&](World& world) {
    Tensor a = world.allocate(source), b = world.allocate(target);
    RankBytes mine{.rank = world.rank()};
    for (const RankBytes& r : certificate.ranks) {
      if (r.rank == world.rank()) mine = r;
    }
    for (int call = 0; call < 3; ++call) {
      const Traffic traffic = redistribute(world, a, b);
      EXPECT_EQ(traffic.bytes_got, mine.received);
      EXPECT_EQ(traffic.bytes_copied, mine.copied);
      EXPECT_EQ(traffic.gets, mine.messages_in);
      EXPECT_EQ(traffic.bytes_put, 0);
      EXPECT_EQ(traffic.notifications, mine.messages_in + mine.messages_out);
      EXPECT_EQ(traffic.waits, mine.messages_in + mine.messages_out);
    }
  });
}

// The same sizes on other ranks are another plan.
TEST(World, CacheKnowsAllThatAPlanDependsOn) {
  thread_ranks(8, [](World& world) {
    const auto go = [&](const char* from, const char* to, PlanOptions options = {}) {
      Tensor a = world.allocate(layout(from));
      stamp(a, 1);
      expect_stamped(redistribute(world, a, layout(to), options), 1);
    };
    go("i32[8] on (x=2) {0: x}", "i32[8] on (x=2)@2 {0: x}");
    go("i32[8] on (x=2)@4 {0: x}", "i32[8] on (x=2)@6 {0: x}");
    EXPECT_EQ(world.cached_programs(), 2);
    go("i32[8] on (x=2) {0: x}", "i32[8] on (x=2)@2 {0: x}");
    EXPECT_EQ(world.cached_programs(), 2);
    go("i32[8] on (x=2) {0: x}", "i32[8] on (x=2)@2 {0: x}", {.policy = SenderPolicy::modulo});
    go("i32[8] on (x=2) {0: x}", "i32[8] on (x=2)@2 {0: x} strides(2)");
    EXPECT_EQ(world.cached_programs(), 4);
  });
}

TEST(World, DifferentCallsAreFoundByAll) {
  const auto errors = errors_of(4, [](World& world) {
    const bool odd = world.rank() == RankId(2);
    world.allocate(layout(odd ? blocks : rows));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("ranks 0 and 2 made different calls"), HasSubstr(rows), HasSubstr(blocks))));
  EXPECT_THAT(errors, Each(errors[0]));
}

TEST(World, GoesOnAfterAMisuse) {
  thread_ranks(3, [](World& world) {
    for (int round = 0; round < 3; ++round) {
      if (world.rank() == RankId(round)) {
        EXPECT_THROW(world.barrier(), Error);
      } else {
        EXPECT_THROW(world.allocate(layout("f32[3] on (x=3) {0: x}")), Error);
      }
      Tensor a = world.allocate(layout("f32[3] on (x=3) {0: x}"));
      stamp(a, 1);
      expect_stamped(redistribute(world, a, layout("f32[3] on (x=3) {}")), 1);
    }
  });
}

TEST(World, WrongMovesAreRefusedOnEveryRank) {
  const auto refused = [](const char* what, const std::function<void(World&)>& body) {
    EXPECT_THAT(errors_of(4, body), Each(HasSubstr(what)));
  };
  refused("the world has 4 ranks", [](World& world) { world.allocate(layout("f32[8] on (x=5) {0: x}")); });
  refused("cannot be moved into itself", [](World& world) {
    Tensor a = world.allocate(layout(rows));
    redistribute(world, a, a);
  });
  refused("", [](World& world) {
    Tensor a = world.allocate(layout(rows));
    Tensor b = world.allocate(layout("f32[8,4] on (r=4) {0: r}"));
    redistribute(world, a, b);
  });
  const auto shapes = errors_of(4, [](World& world) {
    Tensor a = world.allocate(layout(rows));
    redistribute(world, a, layout("bf16[8,8] on (r=4) {0: r}"));
  });
  EXPECT_THAT(shapes, Each(testing::Not("")));
}

TEST(World, AbsentRankIsATimeoutThatNamesIt) {
  const auto errors = errors_of(
      3,
      [](World& world) {
        Tensor a = world.allocate(layout("f32[3] on (x=3) {0: x}"));
        if (world.rank() == RankId(1)) {
          std::this_thread::sleep_for(300ms);
          return;
        }
        try {
          redistribute(world, a, layout("f32[3] on (x=3) {}"));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), Code::timeout);
          EXPECT_THAT(error.what(), AllOf(HasSubstr("allocate tensor f32[3]"), HasSubstr("calls"), HasSubstr("1")));
        }
        world.barrier();
      },
      {.timeout = 100ms});
  EXPECT_THAT(errors[0], HasSubstr("this world cannot go on since an earlier call failed"));
  EXPECT_THAT(errors[2], HasSubstr("this world cannot go on since an earlier call failed"));
}

TEST(World, LetGoTensorsAreFreedOnceAllRanksHave) {
  thread_ranks(3, [](World& world) {
    std::vector<WindowId> windows;
    std::optional<Tensor> kept;
    for (int i = 0; i < 200; ++i) {
      Tensor t = world.allocate(layout("f32[3000] on (x=3) {0: x}"));
      windows.push_back(t.window());
      if (i == 100 && world.rank() == RankId(1)) kept.emplace(std::move(t));
    }
    world.barrier();
    EXPECT_THROW(world.endpoint().memory(windows[0]), Error);
    EXPECT_THROW(world.endpoint().memory(windows[199]), Error);
    EXPECT_EQ(world.endpoint().memory(windows[100]).size(), 4000u);
    kept.reset();
    world.barrier();
    EXPECT_THROW(world.endpoint().memory(windows[100]), Error);
  });
}

TEST(World, TensorMayOutliveItsWorld) {
  std::mutex mutex;
  std::vector<Tensor> kept;
  thread_ranks(2, [&](World& world) {
    Tensor t = world.allocate(layout("f32[2] on (x=2) {0: x}"));
    const std::scoped_lock lock(mutex);
    kept.push_back(std::move(t));
  });
  EXPECT_EQ(kept.size(), 2u);
}

TEST(World, ManyWorldsInARow) {
  for (int i = 0; i < 8; ++i) {
    thread_ranks(3, [&](World& world) {
      Tensor a = world.allocate(layout("i64[7] on (x=3) {0: x}"));
      stamp(a, static_cast<std::uint64_t>(i));
      expect_stamped(redistribute(world, a, layout("i64[7] on (x=2)@1 {0: x}")), static_cast<std::uint64_t>(i));
    });
  }
}

}  // namespace
}  // namespace reshard
