// Counts are what was asked for, peer by peer, and what the executor counts itself.
#include "every_fabric.h"
#include "kernel/accumulate.h"
#include "kernel/copy.h"
#include "reshard/executor.h"
#include "reshard/layout.h"
#include "reshard/notation.h"
#include "reshard/plan.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

class Counted : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Counted, {1, 2, 3, 7});

void expect_count(const Endpoint& e, const CallCounts& counts, CallKind kind, RankId peer, CallCount expected) {
  const CallCount actual = counts.of(kind, peer);
  const auto what = std::string(name_of(kind)) + " with rank " + std::to_string(peer.value());
  expect_equal(e, "calls of " + what, actual.calls, expected.calls);
  expect_equal(e, "bytes of " + what, actual.bytes, expected.bytes);
}

// Rank r gets r + 1 times from each peer, puts one row of 24 bytes in 3 rows, adds 8 bytes.
TEST_P(Counted, EveryKindByPeer) {
  run([](Endpoint& inner) {
    CallCounts counts(inner.ranks());
    const std::unique_ptr<Endpoint> e = counted(inner, counts);
    const Index me = inner.rank().value();
    const WindowId window = e->create_window("data", 512, in_time());
    const SignalId signal = e->create_signal("signal", 2, in_time());
    std::vector<std::byte> local(512);
    const Index mine = 64 + 48 * me;  // each rank puts into a place of its own
    const Stride rows[] = {{3, 16, 8}};
    for (Index p = 0; p < e->ranks(); ++p) {
      for (Index i = 0; i <= me; ++i) e->get(RankId(p), window, {.row_bytes = 5}, local);
      e->put(RankId(p), window, {.target_offset = mine, .row_bytes = 8, .loops = rows}, local);
      e->accumulate(RankId(p), window, {.target_offset = 448, .row_bytes = 8}, local,
                    accumulate_kernel(ReduceOp::sum, Dtype::i64), in_time());
    }
    e->fence();
    e->notify(next_of(*e), signal, 1, 1, Endpoint::Update::add);
    e->wait(signal, 1, 1, Endpoint::Until::equal, in_time());
    e->barrier(in_time());
    expect_error(*e, Code::timeout, {}, [&] { e->wait(signal, 0, 1, Endpoint::Until::equal, Clock::now()); });
    expect_error(*e, Code::invalid_argument, {}, [&] { e->get(RankId(0), window, {.row_bytes = 999}, local); });
    for (Index p = 0; p < e->ranks(); ++p) {
      expect_count(*e, counts, CallKind::get, RankId(p), {me + 1, 5 * (me + 1)});
      expect_count(*e, counts, CallKind::put, RankId(p), {1, 24});
      expect_count(*e, counts, CallKind::accumulate, RankId(p), {1, 8});
      const bool is_next = RankId(p) == next_of(*e), is_me = p == me;
      expect_count(*e, counts, CallKind::notify, RankId(p), {is_next ? 1 : 0, 0});
      expect_count(*e, counts, CallKind::wait, RankId(p), {is_me ? 1 : 0, 0});
      expect_count(*e, counts, CallKind::fence, RankId(p), {is_me ? 1 : 0, 0});
      expect_count(*e, counts, CallKind::barrier, RankId(p), {is_me ? 1 : 0, 0});
      expect_count(*e, counts, CallKind::collective, RankId(p), {is_me ? 2 : 0, 0});
    }
    expect_equal(*e, "gets of all peers", counts.of(CallKind::get).calls, (me + 1) * e->ranks());
    counts.clear();
    expect_equal(*e, "gets after clear", counts.of(CallKind::get).calls, 0);
    inner.barrier(in_time());
  });
}

// What the simulator predicts for a program equals Traffic (unit/program/simulate_traffic_test): so all three agree.
TEST_P(Counted, EqualTheTrafficOfAProgram) {
  const Index n = ranks();
  const Layout source = layout("i32[40,13] on (x=" + std::to_string(n) + ") {0: x}");
  const Layout target = layout("i32[40,13] on (x=" + std::to_string(n) + ") {1: x}");
  run(
      [&](Endpoint& inner) {
        CallCounts counts(inner.ranks());
        const std::unique_ptr<Endpoint> e = counted(inner, counts);
        World world(*e, {.timeout = 120s});
        Tensor a = world.allocate(source), b = world.allocate(target);
        Executor executor(redistribute_program(source, target, world.rank(), n), *e);
        executor.bind({.windows = {a.window(), b.window()},
                       .signals = {e->create_signal("ready", n, in_time()), e->create_signal("done", n, in_time())}});
        for (std::uint64_t run = 0; run < 3; ++run) {
          counts.clear();
          executor.run(run, in_time());
          const Traffic& traffic = executor.traffic();
          expect_equal(*e, "gets", counts.of(CallKind::get).calls, traffic.gets);
          expect_equal(*e, "bytes got", counts.of(CallKind::get).bytes, traffic.bytes_got);
          expect_equal(*e, "puts", counts.of(CallKind::put).calls, traffic.puts);
          expect_equal(*e, "bytes put", counts.of(CallKind::put).bytes, traffic.bytes_put);
          expect_equal(*e, "notifications", counts.of(CallKind::notify).calls, traffic.notifications);
          expect_equal(*e, "waits", counts.of(CallKind::wait).calls, traffic.waits);
        }
        e->barrier(in_time());
      },
      {.copy = copy_strided});
}

}  // namespace
}  // namespace reshard::multi
