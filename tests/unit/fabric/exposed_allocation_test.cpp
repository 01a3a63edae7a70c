// Transfers with memory that was exposed allocate nothing, whoever copies.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "counting/allocations.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;

void replace(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  target[copy.target_offset] = source[copy.source_offset];
}

void transfer_without_allocation(Endpoint& e, Exposure how) {
  const auto deadline = Clock::now() + 120s;
  std::vector<std::byte> memory(300'000), local(300'000);
  const WindowId window = e.expose_window("memory", memory, how, deadline);
  const RankId next((e.rank().value() + 1) % e.ranks());
  const Stride rows[] = {{3000, 64, 100}, {2, 16, 8}};
  e.barrier(deadline);
  const long before = allocations();
  e.barrier(deadline);
  for (int call = 0; call < 5; ++call) {
    e.put(next, window, {.row_bytes = 8, .loops = rows}, local);
    e.get(next, window, {.row_bytes = 8, .loops = rows}, local);
    e.accumulate(next, window, {.row_bytes = 8, .loops = rows}, local, replace, deadline);
    e.fence();
    e.progress();
    e.barrier(deadline);
  }
  const long made = allocations() - before;
  e.barrier(deadline);
  if (made != 0) throw std::logic_error(std::to_string(made) + " allocations");
  e.destroy_window(window, deadline);
}

TEST(ExposedAllocation, ThereIsNone) {
  for (const Exposure how : {Exposure::shared, Exposure::in_place}) {
    const auto body = [how](Endpoint& e) { transfer_without_allocation(e, how); };
    for (const Index ranks : {1, 2, 5}) {
      EXPECT_NO_THROW(run_threads(ranks, body));
      EXPECT_NO_THROW(run_processes(ranks, body, {.kernel_copies = true}));
      EXPECT_NO_THROW(run_processes(ranks, body, {.kernel_copies = false}));
    }
  }
}

TEST(ExposedAllocation, ButTheCounterCounts) {
  const long before = allocations();
  const std::vector<int> one(100);
  EXPECT_EQ(allocations() - before, 1);
}

}  // namespace
}  // namespace reshard::fabric
