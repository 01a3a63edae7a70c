// What goes wrong: ranks that disagree, calls that are refused, and waits that nobody ends.
#include "program/every_world.h"
#include "program/exchanges.h"

namespace reshard::multi {
namespace {

class ProgramRefusal : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(ProgramRefusal, {1, 2, 3, 4, 7});

TEST_P(ProgramRefusal, RanksThatDisagreeAreAllTold) {
  run_worlds([](World& world) {
    if (world.ranks() == 1) return;
    const bool last = world.rank().value() + 1 == world.ranks();
    expect_error(world.endpoint(), Code::invalid_argument, {"rank 0 \"program ring", "made different calls"},
                 [&] { const ProgramRun run(world, last ? broadcast_by_get() : ring_shift()); });
    expect_error(world.endpoint(), Code::invalid_argument, {"program ring, n = 5", "program ring, n = 6"}, [&] {
      const ProgramRun run(world, ring_shift(), {{"n", last ? 6 : 5}});
    });
    ProgramRun run(world, ring_shift());
    expect_calls(run);
  });
}

TEST_P(ProgramRefusal, WhatCannotBeUnrolledIsRefusedByAll) {
  run_worlds([](World& world) {
    expect_error(world.endpoint(), Code::invalid_argument, {"has no size m"}, [&] {
      const ProgramRun run(world, ring_shift(), {{"m", 1}});
    });
    ProgramRun run(world, ring_shift());
    expect_calls(run);
  });
}

// A shift that requires its flag to be 0: at its end, or in the middle, where signals are left as they should not be.
SymbolicProgram guarded_shift(bool in_the_middle) {
  return program("guarded", [&](Kernel& k) {
    const auto flag = k.input("flag", Dtype::i32, {1});
    const auto n = k.size("n", 5);
    const auto x = k.input("x", Dtype::f32, {n}), y = k.output("y", Dtype::f32, {n});
    const auto data = k.window("data", Dtype::f32, {n});
    const auto ready = k.signal("ready", {1}), done = k.signal("done", {1});
    const auto left = (k.me() - 1) % k.ranks(), right = (k.me() + 1) % k.ranks();
    k.init(flag, [](auto) { return 0; });
    k.expect(y, [&](auto j) { return x.on(left).at(j).value(); });
    const auto require = [&] { k.require(equals(flag.at(0).value(), 0), "the flag is {flag[0]}"); };
    k.notify(ready[0].on(left), Add, 1);
    if (in_the_middle) require();
    k.wait(ready[0], Ge, k.call());
    k.put(data.on(right), x);
    k.fence();
    k.notify(done[0].on(right), Add, 1);
    k.wait(done[0], Ge, k.call());
    k.copy(y, data);
    if (!in_the_middle) require();
  });
}

TEST_P(ProgramRefusal, AllRanksAreRefusedAndCallAgain) {
  run_worlds([](World& world) {
    for (const bool in_the_middle : {false, true}) {
      ProgramRun run(world, guarded_shift(in_the_middle));
      for (int round = 0; round < 3; ++round) {
        expect_calls(run, 2);
        expect_equal(world.endpoint(), "calls", run.calls(), 2);
        run.span<std::int32_t>("flag")[0] = 4711;
        expect_error(world.endpoint(), Code::invalid_argument, {"program guarded: the flag is 4711"},
                     [&] { run.call(); });
        expect_equal(world.endpoint(), "calls after a refusal", run.calls(), 0);
      }
    }
  });
}

// The others go on, and wait in the next call for one that was refused; it waits for them to have been refused too.
TEST_P(ProgramRefusal, WhereOnlyOneRankIsRefusedTheNextCallEnds) {
  run_worlds([](World& world) {
    if (world.ranks() == 1) return;
    ProgramRun run(world, guarded_shift(false));
    const bool is_refused = world.rank() == RankId(0);
    run.fill_inputs();
    if (is_refused) run.span<std::int32_t>("flag")[0] = 1;
    if (is_refused) {
      expect_error(world.endpoint(), Code::invalid_argument, {"the flag is 1"}, [&] { run.call(); });
    } else {
      run.call();
    }
    world.set_timeout(100ms);
    try {
      for (int call = 0; call < 10; ++call) run.call();
    } catch (const Error& error) {
      if (error.code() != Code::timeout) report(world.endpoint(), error.what());
      return;
    }
    report(world.endpoint(), "ten calls went well");
  });
}

// Rank 1 waits for rank 0, which does not notify it.
TEST_P(ProgramRefusal, AWaitInVainNamesCellAndNotifier) {
  run_worlds([](World& world) {
    if (world.ranks() == 1) return;
    const SymbolicProgram waits = program("waits", [](Kernel& k) {
      const auto there = k.signal("there", {k.ranks()});
      k.each_peer([&](auto p) { k.notify(there[k.me()].on(p), Add, 1); });
      k.each_peer([&](auto s) { k.wait(there[s], Ge, k.call()); });
    });
    ProgramRun run(world, waits);
    run.call();
    world.endpoint().barrier(in_time());
    if (world.rank() == RankId(0)) return world.endpoint().barrier(in_time());  // never calls again
    world.set_timeout(50ms);
    const std::string me = std::to_string(world.rank().value());
    expect_error(world.endpoint(), Code::timeout,
                 {"program waits", "of rank " + me + " (wait there[0])", "for >= 2, seen 1",
                  "`wait there[0] >= 2` is for rank 0: `notify there@" + me + "[0] += 1`"},
                 [&] { run.call(); });
    expect_error(world.endpoint(), Code::peer_lost, {"cannot be called again", "wait there[0]"}, [&] { run.call(); });
    world.endpoint().barrier(in_time());
  });
}

}  // namespace
}  // namespace reshard::multi
