// An accumulate is the fold of two terms, row by row.
#include "kernel/accumulate.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "kernel/reduce.h"

namespace reshard {
namespace {

std::vector<std::byte> some_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((i * 37 + seed * 101 + i * i) % 251);
  return bytes;
}

TEST(Accumulate, IsTheFoldOfTwoTermsForEveryDtypeAndOp) {
  constexpr Index count = 300;  // more than the fold takes in one go
  for (const Dtype dtype : all_dtypes()) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
      const CopyKernel join = accumulate_kernel(op, dtype);
      ASSERT_EQ(join == nullptr, fold_kernel(op, dtype) == nullptr) << name_of(dtype) << " " << name_of(op);
      if (join == nullptr) continue;
      const Index width = bytes_of(dtype);
      std::vector<std::byte> target = some_bytes(static_cast<std::size_t>(count * width), 1), folded = target;
      const std::vector<std::byte> source = some_bytes(target.size(), 2);
      const std::array<FoldRow, 2> terms{{{target.data(), width}, {source.data(), width}}};
      fold_kernel(op, dtype)(folded.data(), width, terms, count, 1);
      join(target.data(), source.data(), {.row_bytes = count * width});
      EXPECT_EQ(target, folded) << name_of(dtype) << " " << name_of(op);
    }
    EXPECT_EQ(accumulate_kernel(ReduceOp::avg, dtype), nullptr);
  }
}

TEST(Accumulate, FollowsTheLoops) {
  std::vector<std::int32_t> target(40), source(40), expected(40);
  std::iota(target.begin(), target.end(), 100);
  std::iota(source.begin(), source.end(), 1);
  expected = target;
  // 2 x 3 rows of 2 elements, backwards along the first at the target, one source row again and again along the second.
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        expected[static_cast<std::size_t>(20 - 10 * i + 3 * j + k)] += source[static_cast<std::size_t>(5 + 7 * i + k)];
  const Stride loops[] = {{2, 28, -40}, {3, 0, 12}};
  accumulate_kernel(ReduceOp::sum, Dtype::i32)(
      reinterpret_cast<std::byte*>(target.data()), reinterpret_cast<const std::byte*>(source.data()),
      {.source_offset = 20, .target_offset = 80, .row_bytes = 8, .loops = loops});
  EXPECT_EQ(target, expected);
}

}  // namespace
}  // namespace reshard
