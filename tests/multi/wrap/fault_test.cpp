// Each fault does what it says, at the call that it names, and nothing else.
#include <signal.h>

#include "every_fabric.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

using What = InjectedFault::What;

class Faulty : public EveryFabric {
 protected:
  // Rank 0 puts 1..5 into elements 0..4 of the next rank and adds 1 to its counter after each, with a fence between.
  static void send_five(Endpoint& e, WindowId window, SignalId signal) {
    static const std::vector<std::uint64_t> values{1, 2, 3, 4, 5};
    for (Index i = 0; i < 5; ++i) {
      e.put(next_of(e), window, {.source_offset = 8 * i, .target_offset = 8 * i, .row_bytes = 8},
            std::as_bytes(std::span(values)));
      e.fence();
      e.notify(next_of(e), signal, 0, 1, Endpoint::Update::add);
    }
  }
  // What the rank after rank 0 holds in the end: five elements, and its counter.
  void expect_received(const InjectedFault& fault, std::vector<std::uint64_t> expected) const {
    run([&](Endpoint& inner) {
      const WindowId window = inner.create_window("data", 40, in_time());
      const SignalId signal = inner.create_signal("sent", 1, in_time());
      const std::unique_ptr<Endpoint> e = faulty(inner, fault);
      if (e->rank() == RankId(0)) send_five(*e, window, signal);
      inner.fence();
      inner.barrier(in_time());
      if (e->rank().value() != 1 % e->ranks()) return;
      for (Index i = 0; i < 5; ++i) expect_equal(*e, "element", elements(*e, window)[i], expected[i]);
      // Notifications may come after a barrier of another path.
      e->wait(signal, 0, expected[5], Endpoint::Until::equal, in_time());
    });
  }
};
RESHARD_ON_EVERY_FABRIC(Faulty, {1, 2, 3});

TEST_P(Faulty, PutsAndNotificationsAreDropped) {
  expect_received({.what = What::drop, .at = 2, .kind = CallKind::put}, {1, 2, 0, 4, 5, 5});
  expect_received({.what = What::drop, .at = 2, .kind = CallKind::notify}, {1, 2, 3, 4, 5, 4});
  expect_received({.what = What::drop, .at = 2}, {1, 0, 3, 4, 5, 5});  // put, notify, put
  expect_received({.what = What::drop, .at = 10}, {1, 2, 3, 4, 5, 5});
  expect_received({.what = What::drop, .rank = RankId(ranks()), .at = 0}, {1, 2, 3, 4, 5, 5});
}

TEST_P(Faulty, NotificationsAreDoubled) {
  expect_received({.what = What::duplicate, .at = 4, .kind = CallKind::notify}, {1, 2, 3, 4, 5, 6});
  expect_received({.what = What::duplicate, .at = 4, .kind = CallKind::put}, {1, 2, 3, 4, 5, 5});
}

// The put that is the last of all has nothing behind which it could come.
TEST_P(Faulty, CallsChangeTheirOrder) {
  expect_received({.what = What::reorder, .at = 1, .kind = CallKind::put}, {1, 2, 3, 4, 5, 5});
  expect_received({.what = What::reorder, .at = 9, .kind = {}}, {1, 2, 3, 4, 5, 4});
}

// The notification overtakes the put: what it announces is not there.
TEST_P(Faulty, AReorderedPutIsNotThereWhenItIsAnnounced) {
  if (ranks() < 2) return;
  run([](Endpoint& inner) {
    const WindowId window = inner.create_window("data", 8, in_time());
    const SignalId sent = inner.create_signal("sent", 1, in_time()), seen = inner.create_signal("seen", 1, in_time());
    const std::unique_ptr<Endpoint> e = faulty(inner, {.what = What::reorder, .at = 0});
    const std::vector<std::uint64_t> value{7};
    if (e->rank() == RankId(0)) {
      e->put(RankId(1), window, {.row_bytes = 8}, std::as_bytes(std::span(value)));
      inner.notify(RankId(1), sent, 0, 1, Endpoint::Update::add);
      inner.wait(seen, 0, 1, Endpoint::Until::equal, in_time());
      e->notify(RankId(1), sent, 0, 1, Endpoint::Update::add);  // and with it the put
      e->fence();
      inner.notify(RankId(1), sent, 0, 1, Endpoint::Update::add);
    } else if (e->rank() == RankId(1)) {
      e->wait(sent, 0, 1, Endpoint::Until::greater_equal, in_time());
      expect_equal(*e, "element before", elements(*e, window)[0], 0);
      e->notify(RankId(0), seen, 0, 1, Endpoint::Update::add);
      e->wait(sent, 0, 3, Endpoint::Until::greater_equal, in_time());
      expect_equal(*e, "element after", elements(*e, window)[0], 7);
    }
    inner.barrier(in_time());
  });
}

TEST_P(Faulty, FailsWithItsName) {
  const RankId last(ranks() - 1);
  const auto outcomes = try_run([last](Endpoint& inner) {
    const std::unique_ptr<Endpoint> e = faulty(inner, {.what = What::fail, .rank = last, .at = 3});
    e->create_window("not counted", 8, in_time());
    for (int i = 0; i < 5; ++i) e->barrier(in_time());
  });
  EXPECT_EQ(outcomes.back().code, Code::io);
  EXPECT_EQ(outcomes.back().message, "rank " + std::to_string(last.value()) + ": fail at call 3");
  for (Index r = 0; r + 1 < ranks(); ++r) EXPECT_EQ(outcomes[r].code, Code::peer_lost) << outcomes[r].message;
}

TEST_P(Faulty, SlowsEveryCallFromThenOn) {
  run([](Endpoint& inner) {
    const std::unique_ptr<Endpoint> e =
        faulty(inner, {.what = What::slow, .at = 2, .kind = CallKind::fence, .pause = 30ms});
    e->fence();
    e->fence();
    e->barrier(in_time());
    const auto begin = Clock::now();
    for (int i = 0; i < 3; ++i) e->fence();
    if (e->rank() == RankId(0)) expect_equal(*e, "slowed", Clock::now() - begin >= 90ms, true);
    e->barrier(in_time());
  });
}

class FaultyProcesses : public EveryFabric {};
RESHARD_ON_FABRICS_WHERE(traits.may_die, FaultyProcesses, {2, 3});

TEST_P(FaultyProcesses, AreKilledAndStopped) {
  for (const What what : {What::kill, What::stop}) {
    const auto outcomes = try_run(
        [what](Endpoint& inner) {
          const std::unique_ptr<Endpoint> e = faulty(inner, {.what = what, .rank = RankId(1), .at = 2});
          for (int i = 0; i < 3; ++i) e->barrier(Clock::now() + 3s);
        },
        {.grace = 300ms});
    EXPECT_EQ(outcomes[1].end, what == What::kill ? RankOutcome::End::killed : RankOutcome::End::abandoned);
    Index naming = 0;
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
      if (r == 1) continue;
      EXPECT_TRUE(outcomes[r].code == Code::timeout || outcomes[r].code == Code::peer_lost) << r;
      naming += outcomes[r].message.find("rank 1") != std::string::npos;
    }
    // The first to wait in vain; those after it lose it in turn, and may not be told why it left.
    EXPECT_GE(naming, traits().tells_causes ? ranks() - 1 : 1) << outcomes[0].message;
  }
}

TEST(RandomFault, IsTheSameForTheSameSeed) {
  std::vector<Index> at_rank(4), at_call(10);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const InjectedFault fault = random_fault(What::drop, seed, 4, 10), again = random_fault(What::drop, seed, 4, 10);
    EXPECT_EQ(to_string(fault), to_string(again));
    ++at_rank.at(fault.rank.value());
    ++at_call.at(fault.at);
  }
  for (const Index count : at_rank) EXPECT_GT(count, 150);
  for (const Index count : at_call) EXPECT_GT(count, 50);
  EXPECT_THROW(random_fault(What::drop, 0, 0, 1), Error);
  EXPECT_THROW(random_fault(What::drop, 0, 1, 0), Error);
}

}  // namespace
}  // namespace reshard::multi
