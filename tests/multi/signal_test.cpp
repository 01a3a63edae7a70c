// notify and wait: values, comparisons, ordering with data, deadlines.
#include "every_fabric.h"

namespace reshard::multi {
namespace {

using Until = Endpoint::Until;
using Update = Endpoint::Update;

class Signal : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Signal, {1, 2, 3, 4, 6, 7, 8});

TEST_P(Signal, SetReplacesAndAddAccumulates) {
  run([](Endpoint& e) {
    const SignalId signal = e.create_signal("signal", 3, in_time());
    expect_equal(e, "fresh slot", e.peek(signal, 2), 0);
    e.barrier(in_time());
    e.notify(next_of(e), signal, 0, 7, Update::set);
    e.notify(next_of(e), signal, 0, 5, Update::set);
    e.notify(next_of(e), signal, 2, 7, Update::add);
    e.notify(next_of(e), signal, 2, 5, Update::add);
    e.wait(signal, 2, 12, Until::equal, in_time());
    e.wait(signal, 2, 11, Until::greater_equal, in_time());
    expect_equal(e, "slot 0", e.peek(signal, 0), 5);
    expect_equal(e, "slot 1", e.peek(signal, 1), 0);
  });
}

// All ranks add to one slot of every rank at once; none is lost. The last addition is -1 in two's complement.
TEST_P(Signal, AddsOfAllRanksCount) {
  run([](Endpoint& e) {
    const SignalId signal = e.create_signal("sum", 1, in_time());
    for (Index i = 0; i < 200; ++i) {
      for (Index peer = 0; peer < e.ranks(); ++peer)
        e.notify(RankId(peer), signal, 0, e.rank().value() + 2, Update::add);
    }
    for (Index peer = 0; peer < e.ranks(); ++peer) e.notify(RankId(peer), signal, 0, ~std::uint64_t{0}, Update::add);
    const Index sum = e.ranks() * (e.ranks() - 1) / 2 + 2 * e.ranks();
    e.wait(signal, 0, 200 * sum - e.ranks(), Until::equal, in_time());
  });
}

// G1: add 1 per tile, wait for the count; the producer is late at tile 2.
TEST_P(Signal, ConsumerBlocksUntilTheLateTile) {
  run([](Endpoint& e) {
    const WindowId tiles = e.create_window("tiles", 5 * 8, in_time());
    const SignalId full = e.create_signal("full", 1, in_time());
    for (Index k = 0; k < 5; ++k) {
      if (k == 2) std::this_thread::sleep_for(50ms);
      put_one(e, next_of(e), tiles, k, stamp(e.rank(), k, 1));
      e.fence();
      e.notify(next_of(e), full, 0, 1, Update::add);
    }
    for (Index k = 0; k < 5; ++k) {
      e.wait(full, 0, k + 1, Until::greater_equal, in_time());
      expect_equal(e, "tile " + std::to_string(k), elements(e, tiles)[k], stamp(previous_of(e), k, 1));
    }
  });
}

// A consumer that is there long before the producer has gone to sleep, and is woken.
TEST_P(Signal, SleepersAreWoken) {
  run([](Endpoint& e) {
    const SignalId token = e.create_signal("token", 1, in_time());
    for (std::uint64_t lap = 1; lap <= 3; ++lap) {
      if (e.rank().value() == 0) {
        std::this_thread::sleep_for(20ms);
        e.notify(next_of(e), token, 0, lap, Update::set);
        e.wait(token, 0, lap, Until::equal, in_time());
      } else {
        e.wait(token, 0, lap, Until::equal, in_time());
        e.notify(next_of(e), token, 0, lap, Update::set);
      }
    }
  });
}

// G2: the same signal twice; the second call's data is late on rank 1.
TEST_P(Signal, SecondCallDoesNotPassOnTheFirstCallsValue) {
  run([](Endpoint& e) {
    const WindowId data = e.create_window("data", e.ranks() * 8, in_time());
    const SignalId full = e.create_signal("full", e.ranks(), in_time());
    for (Index epoch = 1; epoch <= 2; ++epoch) {
      if (epoch == 2 && e.rank().value() == 1) std::this_thread::sleep_for(50ms);
      for (Index p = 0; p < e.ranks(); ++p) {
        put_one(e, RankId(p), data, e.rank().value(), stamp(e.rank(), p, epoch));
        e.fence();
        e.notify(RankId(p), full, e.rank().value(), 1, Update::add);
      }
      for (Index s = 0; s < e.ranks(); ++s) {
        e.wait(full, s, epoch, Until::greater_equal, in_time());
        expect_equal(e, "row " + std::to_string(s), elements(e, data)[s], stamp(RankId(s), e.rank().value(), epoch));
      }
      e.barrier(in_time());
    }
  });
}

// G5: a rank that is late to create, or late after creation, still sees what came at once.
TEST_P(Signal, ArrivesBeforeTheOwnerLooks) {
  run([](Endpoint& e) {
    const bool is_late = e.rank().value() == e.ranks() - 1;
    if (is_late) std::this_thread::sleep_for(20ms);
    const WindowId data = e.create_window("data", 8, in_time());
    const SignalId full = e.create_signal("full", 1, in_time());
    if (is_late) std::this_thread::sleep_for(50ms);
    put_one(e, next_of(e), data, 0, stamp(e.rank(), 0, 1));
    e.fence();
    e.notify(next_of(e), full, 0, 1, Update::add);
    e.wait(full, 0, 1, Until::equal, in_time());
    expect_equal(e, "data", elements(e, data)[0], stamp(previous_of(e), 0, 1));
  });
}

// F5: counters preset so that value = 16 (i + 1) crosses 2^31 in the third of six exchanges; and again across 2^63.
TEST_P(Signal, CountersCrossPowersOfTwo) {
  run([](Endpoint& e) {
    const SignalId signal = e.create_signal("epoch", 1, in_time());
    for (std::uint64_t first : {std::uint64_t{134217725}, (std::uint64_t{1} << 59) - 3}) {
      e.notify(e.rank(), signal, 0, 16 * first, Update::set);
      e.barrier(in_time());
      for (std::uint64_t i = first; i < first + 6; ++i) {
        e.notify(next_of(e), signal, 0, 16, Update::add);
        e.wait(signal, 0, 16 * (i + 1), Until::greater_equal, in_time());
        e.barrier(in_time());
      }
    }
    expect_equal(e, "counter", e.peek(signal, 0), (std::uint64_t{1} << 63) + 48);
  });
}

TEST_P(Signal, DeadlineNamesWhatWasWaitedFor) {
  run([](Endpoint& e) {
    const SignalId signal = e.create_signal("ready", 3, in_time());
    e.notify(e.rank(), signal, 2, 4, Update::set);
    const std::string me = "rank " + std::to_string(e.rank().value());
    expect_error(e, Code::timeout, {me, "\"ready\" slot 2", ">= 5", "seen 4"},
                 [&] { e.wait(signal, 2, 5, Until::greater_equal, Clock::now() + 30ms); });
    expect_error(e, Code::timeout, {me, "\"ready\" slot 2", "== 3", "seen 4"},
                 [&] { e.wait(signal, 2, 3, Until::equal, Clock::now() - 1s); });
    e.wait(signal, 2, 4, Until::equal, Clock::now() - 1s);  // what is there already needs no time
    expect_error(e, Code::invalid_argument, {"ready", "3 slots", "slot 3"},
                 [&] { e.wait(signal, 3, 0, Until::equal, in_time()); });
    expect_error(e, Code::invalid_argument, {"ready", "slot -1"},
                 [&] { e.notify(next_of(e), signal, -1, 0, Update::set); });
    e.barrier(in_time());
  });
}

// G12: an operation of notify is no comparison of wait.
template <class Operation>
concept IsAComparison = requires(Endpoint& e, Operation o) {
  e.wait(SignalId{}, 0, 0, o, Clock::time_point{});
};
static_assert(IsAComparison<Endpoint::Until> && !IsAComparison<Endpoint::Update> && !IsAComparison<int>);

}  // namespace
}  // namespace reshard::multi
