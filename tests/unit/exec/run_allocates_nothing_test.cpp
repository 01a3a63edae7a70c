// Counts every call of operator new on the thread of a rank.
#include <gtest/gtest.h>

#include "counting/allocations.h"
#include "reshard/executor.h"
#include "reshard/layout.h"
#include "reshard/thread_fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;

TEST(Executor, SecondRunAllocatesNothing) {
  const Layout source = layout("f32[61,47] on (x=4) {0: x:cyclic(3)}");
  const Layout target = layout("f32[61,47] on (y=2, x=2) {0: y, 1: x} order(1,0)");
  run_threads(4, [&](Endpoint& endpoint) {
    const auto deadline = Clock::now() + 20s;
    Executor executor(redistribute_program(source, target, endpoint.rank(), 4), endpoint);
    Binding binding;
    binding.windows = {endpoint.create_window("source", source.local_bytes(endpoint.rank()), deadline),
                       endpoint.create_window("target", target.local_bytes(endpoint.rank()), deadline)};
    binding.signals = {endpoint.create_signal("ready", 4, deadline), endpoint.create_signal("done", 4, deadline)};
    executor.bind(binding);
    executor.run(0, deadline);
    const long before = own_allocations();
    for (std::uint64_t run = 1; run < 4; ++run) executor.run(run, deadline);
    EXPECT_EQ(own_allocations(), before);
    EXPECT_GT(executor.traffic().bytes_got, 0);
    EXPECT_GT(before, 0) << "the counter does not count";
  });
}

// Terms that come in pieces, and the identity where the value is not.
TEST(Executor, SecondReducingRunAllocatesNothing) {
  const std::pair<const char*, const char*> moves[] = {
      {"bf16[61,47] on (x=4) {x: partial(avg)}", "bf16[61,47] on (y=2, x=2) {0: y, 1: x} order(1,0)"},
      {"f32[61,47] on (x=4)", "f32[61,47] on (x=4) {x: partial(max)}"},
  };
  for (const auto& [from, to] : moves) {
    const Layout source = layout(from), target = layout(to);
    run_threads(4, [&](Endpoint& endpoint) {
      const auto deadline = Clock::now() + 20s;
      const Program program = redistribute_program(source, target, endpoint.rank(), 4, {.staging_limit = 1000});
      Executor executor(program, endpoint);
      Binding binding;
      for (const WindowSpec& window : program.windows)
        binding.windows.push_back(endpoint.create_window(
            window.name, window.bytes[static_cast<std::size_t>(endpoint.rank().value())], deadline));
      binding.signals = {endpoint.create_signal("ready", 4, deadline), endpoint.create_signal("done", 4, deadline)};
      executor.bind(binding);
      executor.run(0, deadline);
      const long before = own_allocations();
      for (std::uint64_t run = 1; run < 4; ++run) executor.run(run, deadline);
      EXPECT_EQ(own_allocations(), before);
      EXPECT_EQ(executor.traffic().bytes_reduced > 0, source.has_partial());
    });
  }
}

}  // namespace
}  // namespace reshard
