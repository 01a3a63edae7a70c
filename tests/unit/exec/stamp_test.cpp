#include "reshard/stamp.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "reshard/error.h"
#include "reshard/layout.h"
#include "reshard/world.h"

namespace reshard {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Optional;

constexpr std::byte poison{0xa5};

struct Buffer {
  Buffer(const Layout& l, RankId rank)
      : layout(l),
        bytes(static_cast<std::size_t>(l.local_bytes(rank)), poison),
        part{l.dtype(), l.storage(rank), l.region(rank), layout.shape()} {}
  Layout layout;
  std::vector<std::byte> bytes;
  StampedPart part;
};

Layout of(std::string_view text) { return layout(text); }

TEST(Stamp, EveryDtypeIsReadBack) {
  for (const Dtype dtype : all_dtypes()) {
    Buffer b(of("f32[7,5] on (x=3) {0: x}").with_dtype(dtype), RankId(1));
    stamp_bytes(b.bytes, b.part, 4);
    EXPECT_EQ(stamp_fault(b.bytes, b.part, 4), std::nullopt) << name_of(dtype);
    EXPECT_NE(stamp_fault(b.bytes, b.part, 5), std::nullopt) << name_of(dtype);
    if (dtype == Dtype::boolean) {
      EXPECT_THAT(b.bytes, Each(testing::AnyOf(std::byte{0}, std::byte{1})));
    }
  }
}

TEST(Stamp, ValuesOfWideElementsAreDistinct) {
  Buffer b(of("u32[300,300] on (x=1) {}"), RankId(0));
  std::set<std::uint32_t> seen;
  for (const std::uint64_t epoch : {0u, 1u}) {
    stamp_bytes(b.bytes, b.part, epoch);
    for (std::size_t i = 0; i < b.bytes.size(); i += 4) {
      std::uint32_t v = 0;
      std::memcpy(&v, b.bytes.data() + i, 4);
      seen.insert(v);
    }
  }
  EXPECT_GT(seen.size(), 179980u);  // of 180000; a few of 2^32 may coincide
}

// 8 rows on 4 ranks, row 2 of rank 3 would be out of range, so rank 1 holds rows 2 and 3.
TEST(Stamp, FaultSaysWhatIsThereInstead) {
  for (const char* text : {"f32[8,4] on (x=4) {0: x}", "f64[8,4] on (x=4) {0: x}", "complex128[8,4] on (x=4) {0: x}"}) {
    Buffer b(of(text), RankId(1));
    const auto element = static_cast<std::size_t>(bytes_of(b.part.dtype));
    stamp_bytes(b.bytes, b.part, 3);
    Buffer other(of(text), RankId(3));
    stamp_bytes(other.bytes, other.part, 2);
    // Local (1,2) of rank 1 is global (3,2); local (1,1) of rank 3 is global (7,1).
    std::memcpy(b.bytes.data() + 6 * element, other.bytes.data() + 5 * element, element);
    EXPECT_THAT(stamp_fault(b.bytes, b.part, 3),
                Optional(std::string("[1,2] holds global (7,1) of epoch 2, expected (3,2) of epoch 3")))
        << text;
  }
}

TEST(Stamp, FaultShowsValuesThatNoStampMakes) {
  Buffer b(of("u16[3] on (x=1) {}"), RankId(0));
  stamp_bytes(b.bytes, b.part, 1);
  b.bytes[2] ^= std::byte{0xff};
  const auto fault = stamp_fault(b.bytes, b.part, 1);
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault,
              testing::MatchesRegex("\\[1\\] holds 0x[0-9a-f]+, expected 0x[0-9a-f]+, global \\(1\\) of epoch 1"));
  Buffer wide(of("i64[3] on (x=1) {}"), RankId(0));
  stamp_bytes(wide.bytes, wide.part, 1);
  wide.bytes[8] ^= std::byte{0xff};
  EXPECT_THAT(stamp_fault(wide.bytes, wide.part, 1), Optional(HasSubstr("[1] holds 0x")));
}

TEST(Stamp, TouchesNothingBesidesTheElements) {
  // Rows of 3 elements that are 8 apart.
  Buffer b(of("u8[4,6] on (x=2) {1: x} strides(8,1)"), RankId(1));
  stamp_bytes(b.bytes, b.part, 7);
  std::set<std::size_t> held;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 3; ++column) held.insert(8 * row + column);
  }
  for (std::size_t i = 0; i < b.bytes.size(); ++i) {
    if (!held.contains(i)) {
      EXPECT_EQ(b.bytes[i], poison) << i;
    }
  }
  EXPECT_EQ(stamp_fault(b.bytes, b.part, 7), std::nullopt);
}

TEST(Stamp, ScalarsAndEmptyShards) {
  Buffer scalar(of("f32[] on (x=2) {}"), RankId(1));
  stamp_bytes(scalar.bytes, scalar.part, 1);
  EXPECT_EQ(stamp_fault(scalar.bytes, scalar.part, 1), std::nullopt);
  EXPECT_THAT(stamp_fault(scalar.bytes, scalar.part, 2), Optional(HasSubstr("[] holds global () of epoch 1")));
  Buffer empty(of("f32[2,3] on (x=4) {0: x}"), RankId(3));
  stamp_bytes(empty.bytes, empty.part, 1);
  EXPECT_EQ(stamp_fault(empty.bytes, empty.part, 9), std::nullopt);
  Buffer outside(of("f32[2,3] on (x=2) {0: x}"), RankId(5));
  stamp_bytes(outside.bytes, outside.part, 1);
  EXPECT_EQ(stamp_fault(outside.bytes, outside.part, 9), std::nullopt);
}

// The description says (128,32) whole, the buffer has half of it.
TEST(Stamp, SmallBufferIsRefused) {
  Buffer b(of("f32[128,32] on (x=1) {}"), RankId(0));
  b.bytes.resize(64 * 32 * 4);
  EXPECT_THROW(stamp_bytes(b.bytes, b.part), Error);
  EXPECT_THROW(stamp_fault(b.bytes, b.part), Error);
}

TEST(Stamp, ExpectNamesTheRank) {
  thread_ranks(2, [](World& world) {
    Tensor a = world.allocate(of("i64[4] on (x=2) {0: x}"));
    stamp(a, 2);
    expect_stamped(a, 2);
    try {
      expect_stamped(a, 3);
      ADD_FAILURE() << "no fault found";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::corrupt);
      const std::string rank = std::to_string(world.rank().value());
      const std::string global = std::to_string(2 * world.rank().value());
      EXPECT_EQ(error.what(),
                "rank " + rank + " [0] holds global (" + global + ") of epoch 2, expected (" + global + ") of epoch 3");
    }
  });
}

}  // namespace
}  // namespace reshard
