// Windows and signals over messages, on a wire between threads: what only such fabrics can get wrong. What every fabric
// does is tested in tests/multi.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "fabric/message/loop_wire.h"
#include "fabric/message/message_endpoint.h"
#include "reshard/error.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;
using Until = Endpoint::Until;
using Update = Endpoint::Update;

Clock::time_point soon() { return Clock::now() + 120s; }

void expect_all_return(Index ranks, const RankBody& body, LoopOptions loop = {}) {
  const auto outcomes = try_loop(ranks, body, {}, loop);
  for (const RankOutcome& outcome : outcomes) EXPECT_EQ(outcome.message, "") << "seed " << loop.seed;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

std::uint64_t stamp_of(RankId rank, Index epoch, Index index) {
  return static_cast<std::uint64_t>(epoch * 1'000'000 + rank.value() * 1'000 + index);
}

// Payloads land late and in any order; whoever has been notified sees all that was put before.
TEST(Message, ANotificationNeverOvertakesThePayloadsBeforeIt) {
  for (std::uint64_t seed : {1, 2, 3}) {
    for (Index ranks : {2, 3, 8}) {
      expect_all_return(
          ranks,
          [](Endpoint& e) {
            constexpr Index puts = 9;
            const WindowId window = e.create_window("data", puts * e.ranks() * 8, soon());
            const SignalId full = e.create_signal("full", e.ranks(), soon());
            const SignalId empty = e.create_signal("empty", e.ranks(), soon());
            const auto here = std::span(reinterpret_cast<std::uint64_t*>(e.memory(window).data()), puts * e.ranks());
            for (Index epoch = 1; epoch <= 20; ++epoch) {
              std::vector<std::uint64_t> values(puts);
              for (Index i = 0; i < puts; ++i) values[i] = stamp_of(e.rank(), epoch, i);
              for (Index peer = 0; peer < e.ranks(); ++peer) {
                e.wait(empty, peer, epoch - 1, Until::greater_equal, soon());
                for (Index i = 0; i < puts; ++i)
                  e.put(RankId(peer), window,
                        {.source_offset = i * 8, .target_offset = (e.rank().value() * puts + i) * 8, .row_bytes = 8},
                        std::as_bytes(std::span(values)));
                e.notify(RankId(peer), full, e.rank().value(), 1, Update::add);
              }
              for (Index source = 0; source < e.ranks(); ++source) {
                e.wait(full, source, epoch, Until::greater_equal, soon());
                for (Index i = 0; i < puts; ++i)
                  require(here[source * puts + i] == stamp_of(RankId(source), epoch, i),
                          "stale element after a notification");
                e.notify(RankId(source), empty, e.rank().value(), 1, Update::add);
              }
              e.fence();
            }
          },
          {.seed = seed});
    }
  }
}

// Many more messages than may be on their way, to a rank that is not inside the fabric for a while.
TEST(Message, FloodsAreHeldBackAndNothingIsLost) {
  expect_all_return(3, [](Endpoint& e) {
    constexpr std::uint64_t count = 5000;
    const SignalId signal = e.create_signal("count", 1, soon());
    if (e.rank() == RankId(0)) {
      std::this_thread::sleep_for(20ms);
      e.wait(signal, 0, 2 * count, Until::equal, soon());
    } else {
      for (std::uint64_t i = 0; i < count; ++i) e.notify(RankId(0), signal, 0, 1, Update::add);
    }
    e.barrier(soon());
  });
}

// All flood all at once: each serves while it is held back.
TEST(Message, FloodsInAllDirectionsDoNotBlockEachOther) {
  for (std::uint64_t seed : {0, 5}) {
    expect_all_return(4,
                      [](Endpoint& e) {
                        constexpr Index count = 700;
                        const WindowId window = e.create_window("data", e.ranks() * 8, soon());
                        const SignalId signal = e.create_signal("count", e.ranks(), soon());
                        std::vector<std::uint64_t> values(count);
                        std::iota(values.begin(), values.end(), 1);
                        for (Index i = 0; i < count; ++i) {
                          for (Index peer = 0; peer < e.ranks(); ++peer) {
                            e.put(RankId(peer), window,
                                  {.source_offset = i * 8, .target_offset = e.rank().value() * 8, .row_bytes = 8},
                                  std::as_bytes(std::span(values)));
                            e.notify(RankId(peer), signal, e.rank().value(), 1, Update::add);
                          }
                        }
                        e.fence();
                        for (Index peer = 0; peer < e.ranks(); ++peer)
                          e.wait(signal, peer, count, Until::equal, soon());
                        e.barrier(soon());
                      },
                      {.seed = seed});
  }
}

// A barrier comes after the puts before it, whoever they went to.
TEST(Message, ABarrierComesAfterThePutsBeforeIt) {
  for (std::uint64_t seed : {11, 12}) {
    expect_all_return(5,
                      [](Endpoint& e) {
                        const WindowId window = e.create_window("data", e.ranks() * 8, soon());
                        const auto* here = reinterpret_cast<const std::uint64_t*>(e.memory(window).data());
                        for (Index epoch = 1; epoch <= 30; ++epoch) {
                          const std::uint64_t value = stamp_of(e.rank(), epoch, 0);
                          for (Index peer = 0; peer < e.ranks(); ++peer)
                            e.put(RankId(peer), window, {.target_offset = e.rank().value() * 8, .row_bytes = 8},
                                  std::as_bytes(std::span(&value, 1)));
                          e.barrier(soon());
                          for (Index r = 0; r < e.ranks(); ++r)
                            require(here[r] == stamp_of(RankId(r), epoch, 0), "stale element");
                          e.barrier(soon());
                        }
                      },
                      {.seed = seed});
  }
}

// Functions that no other process would know; each addition reads what the last has left.
TEST(Message, AccumulatesTakeTurnsPieceByPiece) {
  for (std::uint64_t seed : {0, 21}) {
    expect_all_return(
        4,
        [](Endpoint& e) {
          constexpr Index count = 70'001;  // three pieces, the last of odd length
          const WindowId window = e.create_window("sums", count * 8, soon());
          const CopyKernel add = [](std::byte* target, const std::byte* source, const StridedCopy& copy) {
            require(copy.loops.empty() && copy.row_bytes % 8 == 0, "a row that was cut inside an element");
            auto* to = reinterpret_cast<std::uint64_t*>(target + copy.target_offset);
            const auto* from = reinterpret_cast<const std::uint64_t*>(source + copy.source_offset);
            for (Index i = 0; i < copy.row_bytes / 8; ++i) to[i] += from[i];
          };
          std::vector<std::uint64_t> mine(count);
          for (Index i = 0; i < count; ++i) mine[i] = stamp_of(e.rank(), 0, i);
          for (int round = 0; round < 3; ++round)
            e.accumulate(RankId(1), window, {.row_bytes = count * 8}, std::as_bytes(std::span(mine)), add, soon());
          e.barrier(soon());
          if (e.rank() != RankId(1)) return;
          const auto* sums = reinterpret_cast<const std::uint64_t*>(e.memory(window).data());
          for (Index i = 0; i < count; ++i) {
            std::uint64_t expected = 0;
            for (Index r = 0; r < e.ranks(); ++r) expected += 3 * stamp_of(RankId(r), 0, i);
            require(sums[i] == expected, "element " + std::to_string(i) + " is " + std::to_string(sums[i]));
          }
        },
        {.seed = seed});
  }
}

// The error of a rank's body reaches all others, with its text, in whatever they are.
TEST(Message, TheFailureOfABodyEndsTheWaitsOfAll) {
  const auto outcomes = try_loop(4, [](Endpoint& e) {
    const SignalId signal = e.create_signal("never", 1, soon());
    const WindowId window = e.create_window("data", 8, soon());
    std::byte local[8] = {};
    if (e.rank() == RankId(2)) throw std::runtime_error("out of luck");
    if (e.rank() == RankId(0)) e.wait(signal, 0, 1, Until::equal, soon());
    if (e.rank() == RankId(1)) e.barrier(soon());
    for (;;) {
      e.get(RankId(1), window, {.row_bytes = 8}, local);
      e.check_peers();
    }
  });
  for (Index r : {0, 1, 3}) {
    EXPECT_EQ(outcomes[r].code, Code::peer_lost);
    EXPECT_NE(outcomes[r].message.find("lost rank 2 (it failed: rank 2: out of luck)"), std::string::npos)
        << outcomes[r].message;
  }
  EXPECT_EQ(outcomes[2].message, "rank 2: out of luck");
}

TEST(Message, ADeadlineSaysWhoWasSilent) {
  expect_all_return(3, [](Endpoint& e) {
    const SignalId signal = e.create_signal("slow", 1, soon());
    const SignalId end = e.create_signal("end", 1, soon());
    if (e.rank() == RankId(0)) {
      try {
        e.wait(signal, 0, 7, Until::greater_equal, Clock::now() + 100ms);
        throw std::logic_error("no error was thrown");
      } catch (const Error& error) {
        require(std::string(error.what()) ==
                    "rank 0: wait on signal \"slow\" slot 0 for >= 7, seen 0: deadline passed; nothing came meanwhile "
                    "from rank 1, 2",
                error.what());
      }
      for (Index r : {1, 2}) e.notify(RankId(r), end, 0, 1, Update::set);
    } else {
      e.wait(end, 0, 1, Until::equal, soon());
    }
  });
}

// Endpoints without bodies: a peer that the wire has lost.
TEST(Message, ALostPeerIsNamedAndToldToOthers) {
  LoopNetwork net(3);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(3);
  for (Index r : {0, 1, 2}) {
    threads.emplace_back([&, r] {
      const auto wire = net.wire(RankId(r));
      MessageEndpoint e(*wire, {});
      const SignalId signal = e.create_signal("never", 1, soon());
      const SignalId created = e.create_signal("created", 1, soon());
      if (r == 2) {
        e.wait(created, 0, 2, Until::equal, soon());
        return net.lose(RankId(2), "its cable was cut");
      }
      e.notify(RankId(2), created, 0, 1, Update::add);
      try {
        e.wait(signal, 0, 1, Until::equal, soon());
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(r)] = error.what();
      }
      e.leave({}, soon());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Index r : {0, 1})
    EXPECT_NE(errors[static_cast<std::size_t>(r)].find("lost rank 2 (its cable was cut)"), std::string::npos)
        << errors[static_cast<std::size_t>(r)];
}

// What is under way when a get is given up never reaches the caller's memory.
TEST(Message, AGetThatWasGivenUpWritesNothingLater) {
  LoopNetwork net(2);
  std::atomic<bool> is_outside = false, is_given_up = false;
  std::jthread owner([&] {
    const auto wire = net.wire(RankId(1));
    MessageEndpoint e(*wire, {});
    const WindowId window = e.create_window("data", 8, soon());
    std::fill_n(e.memory(window).data(), 8, std::byte{9});
    e.barrier(soon());
    is_outside = true;  // of the fabric: it answers nobody
    is_outside.notify_one();
    is_given_up.wait(false);
    e.leave({}, soon());
  });
  std::byte local[8] = {};
  {
    const auto wire = net.wire(RankId(0));
    MessageEndpoint e(*wire, {.patience = 20ms});
    const WindowId window = e.create_window("data", 8, soon());
    e.barrier(soon());
    is_outside.wait(false);
    EXPECT_THROW(e.get(RankId(1), window, {.row_bytes = 8}, local), Error);
    is_given_up = true;
    is_given_up.notify_one();
    e.leave({}, soon());
  }
  owner.join();
  for (std::byte byte : local) EXPECT_EQ(byte, std::byte{0});
}

// All ranks have left only when all have ended; those that are done serve the others.
TEST(Message, WhoIsDoneServesTheOthers) {
  expect_all_return(4, [](Endpoint& e) {
    const WindowId window = e.create_window("data", 1000, soon());
    std::fill_n(e.memory(window).data(), 1000, static_cast<std::byte>(e.rank().value() + 1));
    e.barrier(soon());
    if (e.rank() != RankId(3)) return;
    std::this_thread::sleep_for(30ms);
    for (Index r = 0; r < 3; ++r) {
      std::vector<std::byte> got(1000);
      e.get(RankId(r), window, {.row_bytes = 1000}, got);
      for (std::byte byte : got) require(byte == static_cast<std::byte>(r + 1), "wrong byte");
    }
  });
}

}  // namespace
}  // namespace reshard::fabric
