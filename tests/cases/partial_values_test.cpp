// Pending values and reductions. Every value names its rank and index unless the case gives it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <mutex>

#include "reshard/error.h"
#include "reshard/world.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const auto* first = reinterpret_cast<const T*>(bytes.data());
  return {first, first + bytes.size() / sizeof(T)};
}

template <class T>
void set(Tensor& tensor, const std::vector<T>& values) {
  ASSERT_EQ(values.size() * sizeof(T), tensor.bytes().size());
  std::ranges::copy(std::as_bytes(std::span(values)), tensor.bytes().begin());
}

std::vector<std::string> errors_of(Index ranks, const std::function<void(World&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  thread_ranks(ranks, [&](World& world) {
    try {
      body(world);
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(world.rank().value())] = error.what();
    }
  });
  return errors;
}

TEST(D1, WhatStaysPendingIsReducedOnceAndLater) {
  thread_ranks(4, [](World& world) {
    Tensor pending = world.allocate(layout("f32[4,4] on (a=2, b=2) {b: partial(sum)}"));
    set(pending, std::vector<float>(16, 1.0f));
    Tensor cut = world.allocate(layout("f32[4,4] on (a=2, b=2) {1: a, b: partial(sum)}"));
    const Traffic traffic = world.move(pending, cut);
    EXPECT_EQ(traffic.bytes_reduced, 0);
    EXPECT_EQ(traffic.bytes_got, 0);
    EXPECT_THAT(elements<float>(cut), Each(1.0f));
    const Tensor value = redistribute(world, cut, layout("f32[4,4] on (a=2, b=2) {1: a}"));
    EXPECT_THAT(elements<float>(value), Each(2.0f));
  });
}

TEST(D1, AReplicatedValueIsTheSumOfItsTerms) {
  thread_ranks(4, [](World& world) {
    Tensor value = world.allocate(layout("f32[1] on (x=4)"));
    set<float>(value, {8.0f});
    const Tensor pending = redistribute(world, value, layout("f32[1] on (x=4) {x: partial(sum)}"));
    EXPECT_THAT(elements<float>(pending), ElementsAre(world.rank() == RankId(0) ? 8.0f : 0.0f));
    EXPECT_THAT(elements<float>(redistribute(world, pending, layout("f32[1] on (x=4)"))), ElementsAre(8.0f));
  });
}

// Ranks are numbers of the world: coordinate 0 need not be the least of them.
TEST(D2, TheMeshCoordinateDecidesWhoKeepsTheValue) {
  for (const bool turned : {false, true})
    thread_ranks(4, [turned](World& world) {
      const std::string mesh = turned ? " on (x=2)@[3,1]" : " on (x=2)@[1,3]";
      Tensor value = world.allocate(layout("f32[1]" + mesh));
      if (world.rank() == RankId(1) || world.rank() == RankId(3)) set<float>(value, {5.0f});
      const Tensor pending = redistribute(world, value, layout("f32[1]" + mesh + " {x: partial(sum)}"));
      if (world.rank() == RankId(turned ? 3 : 1)) {
        EXPECT_THAT(elements<float>(pending), ElementsAre(5.0f));
      }
      if (world.rank() == RankId(turned ? 1 : 3)) {
        EXPECT_THAT(elements<float>(pending), ElementsAre(0.0f));
      }
    });
}

TEST(D4, MixedKindsAreRefusedAndTakenOneAtATime) {
  const char* const pending = "f32[1] on (a=2, b=2, c=2) {a: partial(sum), b: partial(max), c: partial(sum)}";
  const auto fill = [](Tensor& tensor, RankId rank) {
    set<float>(tensor, {rank == RankId(0) || rank == RankId(7) ? 10.0f : 0.0f});
  };
  const auto errors = errors_of(8, [&](World& world) {
    Tensor a = world.allocate(layout(pending));
    fill(a, world.rank());
    redistribute(world, a, layout("f32[1] on (a=2, b=2, c=2)"));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("partial(sum) along \"a\" and partial(max) along \"b\""),
                                 HasSubstr("one at a time"))));
  EXPECT_THAT(errors, Each(errors[0]));
  thread_ranks(8, [&](World& world) {
    Tensor a = world.allocate(layout(pending));
    fill(a, world.rank());
    const Tensor sums = redistribute(world, a, layout("f32[1] on (a=2, b=2, c=2) {b: partial(max)}"));
    const Tensor greatest = redistribute(world, sums, layout("f32[1] on (a=2, b=2, c=2)"));
    EXPECT_THAT(elements<float>(greatest), ElementsAre(10.0f));
  });
}

TEST(D5, EightBitFloatsAreSummedAsFloats) {
  thread_ranks(2, [](World& world) {
    Tensor a = world.allocate(layout("f8e4m3[1] on (x=2) {x: partial(sum)}"));
    set<std::uint8_t>(a, {0x38});
    EXPECT_THAT(elements<std::uint8_t>(redistribute(world, a, layout("f8e4m3[1] on (x=2)"))), ElementsAre(0x40));
  });
}

TEST(D5, ComplexNumbersHaveNoMaximum) {
  const auto errors = errors_of(2, [](World& world) {
    Tensor a = world.allocate(layout("complex64[1] on (x=2) {x: partial(max)}"));
    redistribute(world, a, layout("complex64[1] on (x=2)"));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("complex64"), HasSubstr("max"))));
  thread_ranks(2, [](World& world) {
    using Complex = std::complex<float>;
    const auto r = static_cast<float>(world.rank().value());
    Tensor a = world.allocate(layout("complex64[2] on (x=2) {x: partial(sum)}"));
    set<Complex>(a, {{1 + r, 10 + r}, {100 + r, 1000 + r}});
    EXPECT_THAT(elements<Complex>(redistribute(world, a, layout("complex64[2] on (x=2)"))),
                ElementsAre(Complex(3, 21), Complex(201, 2001)));
  });
}

TEST(D6, ToAnUnevenShard) {
  thread_ranks(2, [](World& world) {
    Tensor a = world.allocate(layout("i64[5] on (x=2) {x: partial(sum)}"));
    set<std::int64_t>(a, {0, 1, 2, 3, 4});
    const std::vector<std::int64_t> expected =
        world.rank() == RankId(0) ? std::vector<std::int64_t>{0, 2, 4} : std::vector<std::int64_t>{6, 8};
    EXPECT_THAT(elements<std::int64_t>(redistribute(world, a, layout("i64[5] on (x=2) {0: x}"))),
                ElementsAreArray(expected));
  });
}

TEST(D6, ToMoreRanksThanRows) {
  thread_ranks(5, [](World& world) {
    Tensor a = world.allocate(layout("i64[3] on (x=5) {x: partial(sum)}"));
    const Index r = world.rank().value();
    set<std::int64_t>(a, {100 * r, 100 * r + 1, 100 * r + 2});
    const Tensor b = redistribute(world, a, layout("i64[3] on (x=5) {0: x}"));
    if (r < 3) {
      EXPECT_THAT(elements<std::int64_t>(b), ElementsAre(1000 + 5 * r));
    } else {
      EXPECT_THAT(elements<std::int64_t>(b), IsEmpty());
    }
  });
}

// One division by the product of all averaged axes; dividing twice would truncate twice.
TEST(Average, DividesOnce) {
  thread_ranks(6, [](World& world) {
    Tensor a = world.allocate(layout("i32[2] on (a=2, b=3) {a: partial(avg), b: partial(avg)}"));
    const auto r = static_cast<std::int32_t>(world.rank().value());
    set<std::int32_t>(a, {r == 5 ? 6 : r < 2 ? 2 : 1, -r});  // sums 13 and -15
    EXPECT_THAT(elements<std::int32_t>(redistribute(world, a, layout("i32[2] on (a=2, b=3)"))), ElementsAre(2, -2));
  });
}

}  // namespace
}  // namespace reshard
