// get, put, fence, notify, wait and barrier allocate nothing, ever; programs nothing from their second call on.

#include "counting/allocations.h"
#include "program/every_world.h"
#include "program/exchanges.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

class NoAllocation : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(NoAllocation, {1, 2, 7});

TEST_P(NoAllocation, InTheExecutePath) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("data", 4096, in_time());
    const SignalId full = e.create_signal("full", 1, in_time());
    std::vector<std::byte> local(4096);
    const Stride rows[] = {{10, 64, 100}};
    e.barrier(in_time());
    const long before = allocations();
    for (std::uint64_t i = 1; i <= 20; ++i) {
      e.put(next_of(e), window, {.row_bytes = 32, .loops = rows}, local);
      e.fence();
      e.notify(next_of(e), full, 0, 1, Endpoint::Update::add);
      e.wait(full, 0, i, Endpoint::Until::greater_equal, in_time());
      e.get(next_of(e), window, {.row_bytes = 32, .loops = rows}, local);
      e.barrier(in_time());
    }
    expect_equal(e, "allocations", allocations() - before, 0);
    e.barrier(in_time());
  });
}

// Counting never, tracing only for names.
TEST_P(NoAllocation, InCountsAndTraces) {
  run([](Endpoint& inner) {
    CallCounts counts(inner.ranks());
    TraceLog log(inner.rank(), 30);
    const std::unique_ptr<Endpoint> counting = counted(inner, counts), e = traced(*counting, log);
    const WindowId window = e->create_window("data", 4096, in_time());
    const SignalId full = e->create_signal("full", 1, in_time());
    const std::vector<std::byte> local(4096);
    e->barrier(in_time());
    const long before = allocations();
    for (std::uint64_t i = 1; i <= 20; ++i) {
      e->put(next_of(*e), window, {.row_bytes = 32}, local);
      e->fence();
      e->notify(next_of(*e), full, 0, 1, Endpoint::Update::add);
      e->wait(full, 0, i, Endpoint::Until::greater_equal, in_time());
      e->barrier(in_time());
    }
    expect_equal(*e, "allocations", allocations() - before, 0);
    e->barrier(in_time());
  });
}

class NoAllocationInPrograms : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(NoAllocationInPrograms, {1, 2, 7});

TEST_P(NoAllocationInPrograms, FromTheSecondCallOn) {
  run_worlds([](World& world) {
    const SymbolicProgram programs[] = {all_to_all_by_credits(), all_to_all_by_epochs(),
                                        all_to_all_by_parity(),  ring_shift(),
                                        broadcast_by_get(),      sum_by_accumulate(Dtype::bf16)};
    for (const SymbolicProgram& program : programs) {
      ProgramRun run(world, program);
      run.call();
      world.endpoint().barrier(in_time());  // threads share the counter
      const long before = allocations();
      world.endpoint().barrier(in_time());
      for (int call = 0; call < 5; ++call) run.call();
      world.endpoint().barrier(in_time());
      const long made = allocations() - before;
      world.endpoint().barrier(in_time());
      expect_equal(world.endpoint(), "allocations of " + program.name, made, 0);
    }
  });
}

// The counter counts.
TEST_P(NoAllocation, ButTheCounterCounts) {
  const long before = allocations();
  const std::vector<int> one(100);
  EXPECT_EQ(allocations() - before, 1);
}

}  // namespace
}  // namespace reshard::multi
