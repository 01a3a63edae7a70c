// Orders that fabrics may show: what is right stays right, and what is wrong shows.
#include "program/every_world.h"
#include "program/exchanges.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

class Delayed : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(Delayed, {1, 2, 3, 4, 7});

TEST_P(Delayed, RightProgramsStayRight) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    run([seed](Endpoint& inner) {
      const std::unique_ptr<Endpoint> e = delayed(inner, {.seed = seed});
      World world(*e, {.timeout = 120s});
      for (const SymbolicProgram& program : {all_to_all_by_credits(), all_to_all_by_epochs(), all_to_all_by_parity(),
                                             ring_shift(), broadcast_by_get(), sum_by_accumulate(Dtype::i32)}) {
        ProgramRun program_run(world, program);
        expect_calls(program_run);
      }
    });
  }
}

// Without a fence, what was put before may come after: at least once in a hundred rounds.
TEST_P(Delayed, AMissingFenceShows) {
  if (ranks() < 2) return;
  for (const bool fences : {true, false}) {
    run([fences](Endpoint& inner) {
      const std::unique_ptr<Endpoint> e = delayed(inner, {.seed = 5, .longest = 20us});
      const WindowId window = e->create_window("data", 8, in_time());
      const SignalId full = e->create_signal("full", 1, in_time()), empty = e->create_signal("empty", 1, in_time());
      std::vector<std::uint64_t> sources(101);
      Index stale = 0;
      for (std::uint64_t round = 1; round <= 100; ++round) {
        sources[round] = round;
        e->put(next_of(*e), window, {.row_bytes = 8}, std::as_bytes(std::span(&sources[round], 1)));
        if (fences) e->fence();
        e->notify(next_of(*e), full, 0, 1, Endpoint::Update::add);
        e->wait(full, 0, round, Endpoint::Until::greater_equal, in_time());
        if (elements(*e, window)[0] != round) ++stale;
        e->notify(previous_of(*e), empty, 0, 1, Endpoint::Update::add);
        e->wait(empty, 0, round, Endpoint::Until::greater_equal, in_time());
      }
      e->fence();
      e->barrier(in_time());
      expect_equal(*e, "stale reads seen", stale > 0, !fences);
    });
  }
}

// Errors are those of the call, not of the fence at which it would be done.
TEST_P(Delayed, BoundsAreCheckedAtTheCall) {
  run([](Endpoint& inner) {
    const std::unique_ptr<Endpoint> e = delayed(inner, {});
    const WindowId window = e->create_window("data", 8, in_time());
    const std::vector<std::byte> local(16);
    expect_error(*e, Code::invalid_argument, {"put", "data"},
                 [&] { e->put(next_of(*e), window, {.row_bytes = 9}, local); });
    expect_error(*e, Code::invalid_argument, {"window id 9"},
                 [&] { e->put(next_of(*e), {9}, {.row_bytes = 1}, local); });
    e->put(next_of(*e), window, {.target_offset = 99, .row_bytes = 0}, {});
    e->fence();
    e->barrier(in_time());
  });
}

// Puts that nobody fenced are done before their window goes.
TEST_P(Delayed, NothingIsWrittenAfterAWindowIsDestroyed) {
  run([](Endpoint& inner) {
    const std::unique_ptr<Endpoint> e = delayed(inner, {.seed = 3});
    std::vector<std::uint64_t> source{7};
    for (int i = 0; i < 20; ++i) {
      const WindowId window = e->create_window("short-lived", 8, in_time());
      e->put(next_of(*e), window, {.row_bytes = 8}, std::as_bytes(std::span(source)));
      e->destroy_window(window, in_time());
    }
    e->fence();
    e->barrier(in_time());
  });
}

}  // namespace
}  // namespace reshard::multi
