// Leading dimensions flattened, padded with zeros, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "global_values.h"
#include "refusal.h"
#include "reshard/check_adjoint.h"
#include "reshard/primitives.h"

namespace reshard {
namespace {

using op::flatten_and_pad_leading_dims;
using op::unpad_and_unflatten_leading_dims;
using testing::HasSubstr;

std::span<Index> memory_of(Tensor& tensor) {
  return {reinterpret_cast<Index*>(tensor.bytes().data()), tensor.bytes().size() / 8};
}

TEST(LeadingDims, ShapesPadUpToTheLeast) {
  const auto shape = [](std::string_view in, Index least, int trailing = 2) {
    return flatten_and_pad_leading_dims(layout(in), least, trailing).out().shape();
  };
  using Shape = std::vector<Index>;
  EXPECT_EQ(shape("f32[2,3,4,5] on (x=2)", 8), (Shape{8, 4, 5}));
  EXPECT_EQ(shape("f32[2,3,4,5] on (x=2)", 6), (Shape{6, 4, 5}));
  EXPECT_EQ(shape("f32[2,3,4,5] on (x=2)", 4), (Shape{6, 4, 5}));  // never up to a multiple
  EXPECT_EQ(shape("f32[4,5] on (x=2)", 3), (Shape{3, 4, 5}));      // no leading dimension is one row
  EXPECT_EQ(shape("f32[2,0,4,5] on (x=2)", 3), (Shape{3, 4, 5}));
  EXPECT_EQ(shape("f32[2,3] on (x=2)", 0, 0), (Shape{6}));
  EXPECT_EQ(flatten_and_pad_leading_dims(layout("complex64[2,3,4,5] on (x=2, y=2) {3: x, y: varying}"), 8).out().text(),
            "complex64[8,4,5] on (x=2, y=2) {2: x, y: varying}");
}

// The trailing dimensions may be cut, with padding of their own.
TEST(LeadingDims, ThereAndBackKeepsValuesAndZerosTheRest) {
  for (const char* text : {"i64[2,3,4,5] on (x=2, y=2) {2: x, 3: y}", "i64[2,3,4,5] on (x=2, y=2) {3: (x y)}",
                           "i64[2,3,4,6] on (x=2, y=2) {3: x:window(2), y: at(1)}", "i64[6,4,5] on (x=4)"})
    thread_ranks(4, [&](World& world) {
      const Layout in = layout(text);
      const std::vector<Index> lead(in.shape().begin(), in.shape().end() - 2);
      const LinearOp flatten = flatten_and_pad_leading_dims(in, 9);
      const LinearOp back = unpad_and_unflatten_leading_dims(flatten.out(), lead);
      Tensor x = world.allocate(in);
      fill_values(x, 1);
      Tensor flat = world.allocate(flatten.out());
      std::ranges::fill(memory_of(flat), -1);
      flatten.forward(world, x, flat);
      const std::size_t front = memory_of(x).size();
      for (std::size_t k = 0; k < memory_of(flat).size(); ++k)
        EXPECT_EQ(memory_of(flat)[k], k < front ? memory_of(x)[k] : 0)
            << "element " << k << " of rank " << world.rank().value();
      Tensor again = back.forward(world, flat);
      EXPECT_EQ(fault_of(again, in, 1), "");
      EXPECT_EQ(check_adjoint(world, flatten).error, 0);
      EXPECT_EQ(check_adjoint(world, back).error, 0);
      EXPECT_EQ(flatten.adjoint().out(), dual(in));
    });
}

TEST(LeadingDims, TrailingDimensionsMayHaveChanged) {
  const LinearOp back = unpad_and_unflatten_leading_dims(layout("f32[8,7,9] on (x=2) {1: x}"), {2, 3});
  EXPECT_EQ(back.out().text(), "f32[2,3,7,9] on (x=2) {2: x}");
  EXPECT_EQ(unpad_and_unflatten_leading_dims(layout("f32[8,7,9] on (x=2)"), {}).out().text(), "f32[7,9] on (x=2)");
}

TEST(LeadingDims, WhatCannotBeFlattenedIsRefused) {
  EXPECT_THAT(refusal_of([] { flatten_and_pad_leading_dims(layout("f32[4,3,2,2] on (x=2) {0: x}"), 4); }),
              HasSubstr("dimension 0 of f32[4,3,2,2] on (x=2) {0: x} is cut"));
  EXPECT_THAT(refusal_of([] { flatten_and_pad_leading_dims(layout("f32[4,3] on (x=2)"), 4, 3); }),
              HasSubstr("3 trailing dimensions of a tensor of 2"));
  EXPECT_THAT(refusal_of([] { flatten_and_pad_leading_dims(layout("f32[4,3,2] on (x=2)"), -1); }),
              HasSubstr("at least -1"));
  EXPECT_THAT(refusal_of([] { flatten_and_pad_leading_dims(layout("f32[4,3,2] on (x=2) order(2,1,0)"), 4); }),
              HasSubstr("not stored row-major"));
  EXPECT_THAT(refusal_of([] { unpad_and_unflatten_leading_dims(layout("f32[4,3,2] on (x=2)"), {5}); }),
              HasSubstr("have 5 rows together, but the tensor has 4"));
  EXPECT_THAT(refusal_of([] { unpad_and_unflatten_leading_dims(layout("f32[4,3] on (x=2)"), {4}); }),
              HasSubstr("a tensor of 2 dimensions is not one leading dimension and 2 trailing ones"));
  EXPECT_THAT(refusal_of([] { flatten_and_pad_leading_dims(layout("f32[4,3,2] on (x=2)"), 4).forward_program(1); }),
              HasSubstr("the world has 1 ranks"));
}

}  // namespace
}  // namespace reshard
