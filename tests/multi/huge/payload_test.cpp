// One put, and one get, of more bytes than fit into 31 bits.
#include <fmt/format.h>

#include <memory>

#include "every_fabric.h"

namespace reshard::multi {
namespace {

// Rows of an odd number of elements, each of which begins one element behind the row before: 2^31 bytes and a bit, from
// 1 MiB of memory.
constexpr Index kRowElements = (Index{1} << 17) + 3;
constexpr Index kRows = 2049;
constexpr Index kElements = kRows * kRowElements;
static_assert(kElements * 8 > Index{1} << 31);

// Each element names its rank and its place in the source.
void expect_rows(const Endpoint& e, std::span<const std::uint64_t> seen, RankId from, Index epoch) {
  for (Index i = 0; i < kElements; ++i) {
    const std::uint64_t expected = stamp(from, i / kRowElements + i % kRowElements, epoch);
    if (seen[static_cast<std::size_t>(i)] == expected) continue;
    expect_equal(e, fmt::format("element {} of {}", i, kElements), seen[static_cast<std::size_t>(i)], expected);
  }
}

class HugePayload : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(HugePayload, {3});

// The first rank to the last, and back.
TEST_P(HugePayload, GoesThereAndBack) {
  run([](Endpoint& e) {
    const RankId first(0), last(e.ranks() - 1);
    const WindowId window = e.create_window("huge", e.rank() == last ? kElements * 8 : 0, in_time());
    if (e.rank() == first) {
      std::vector<std::uint64_t> source(static_cast<std::size_t>(kRowElements + kRows));
      for (std::size_t i = 0; i < source.size(); ++i) source[i] = stamp(first, static_cast<Index>(i), 1);
      const Stride rows[] = {{kRows, 8, kRowElements * 8}};
      e.put(last, window, {.row_bytes = kRowElements * 8, .loops = rows}, std::as_bytes(std::span(source)));
      e.fence();
    }
    e.barrier(in_time());
    if (e.rank() == last) {
      expect_rows(e, elements(e, window), first, 1);
      for (Index i = 0; i < kElements; ++i)
        elements(e, window)[static_cast<std::size_t>(i)] = stamp(last, i / kRowElements + i % kRowElements, 2);
    }
    e.barrier(in_time());
    if (e.rank() == first) {
      const auto target = std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(kElements));
      const std::span all(target.get(), static_cast<std::size_t>(kElements));
      e.get(last, window, {.row_bytes = kElements * 8}, std::as_writable_bytes(all));
      expect_rows(e, all, last, 2);
    }
    e.destroy_window(window, in_time());
  });
}

}  // namespace
}  // namespace reshard::multi
