// Runs of collective operations allocate nothing.
#include <atomic>
#include <cstdlib>
#include <new>

#include "collective/every_collective.h"

namespace {
std::atomic<long> made{0};

void* counted_memory(std::size_t bytes, std::size_t alignment) {
  ++made;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// Were one of a pair inlined without the other, gcc would take them for mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_memory(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_memory(bytes, std::size_t(alignment));
}
// Of the temporary buffers of std::stable_sort.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace reshard::multi {
namespace {

class NoAllocationInCollectives : public EveryCollective {};
RESHARD_ON_EVERY_FABRIC(NoAllocationInCollectives, {1, 2, 6});

void expect_none(World& world, std::string_view what, Collective& operation) {
  Endpoint& endpoint = world.endpoint();
  endpoint.barrier(in_time());  // threads share the counter
  const long before = made;
  endpoint.barrier(in_time());
  for (int i = 0; i < 5; ++i) operation.run();
  endpoint.barrier(in_time());
  const long after = made;
  endpoint.barrier(in_time());
  expect_equal(endpoint, fmt::format("allocations of {}", what), after - before, 0);
}

TEST_P(NoAllocationInCollectives, FromTheFirstRunOn) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      const CollectiveOptions options{.algorithm = algorithm};
      AllToAll all_to_all(world, 3000, options);
      AllToAllV all_to_all_v(world, std::vector<Index>(static_cast<std::size_t>(world.ranks()), 70), options);
      AllGather all_gather(world, 3000, options);
      Broadcast broadcast(world, 3000, RankId(0), options);
      ReduceScatter reduce_scatter(world, 3000, Dtype::bf16, ReduceOp::avg, options);
      AllReduce all_reduce(world, 50'000, Dtype::f32, ReduceOp::max, options);
      expect_none(world, "all_to_all", all_to_all);
      expect_none(world, "all_to_all_v", all_to_all_v);
      expect_none(world, "all_gather", all_gather);
      expect_none(world, "broadcast", broadcast);
      expect_none(world, "reduce_scatter", reduce_scatter);
      expect_none(world, "all_reduce", all_reduce);
    }
  });
}

// The counter counts.
TEST_P(NoAllocationInCollectives, ButTheCounterCounts) {
  const long before = made;
  const std::vector<int> one(100);
  EXPECT_EQ(made - before, 1);
}

}  // namespace
}  // namespace reshard::multi
