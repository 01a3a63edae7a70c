// Class F: sizes beyond 32 bits, plan only.
#include <gtest/gtest.h>

#include "golden/show.h"
#include "reshard/error.h"

namespace reshard {
namespace {

TEST(CaseF, F1OneMessageBeyondTwoToThe31Bytes) {
  const Plan p = plan(layout("f32[536870913] on (only=1)"), layout("f32[536870913] on (only=1)@1"));
  EXPECT_EQ(p.certificate().sent, 2147483652);
  EXPECT_EQ(p.certificate().messages, 1);
  EXPECT_EQ(received_by(p, 1), "(0,[0:536870913]->[0:536870913])");
  EXPECT_TRUE(verify(p).empty());
  EXPECT_EQ(plan_from_json(p.json()), p);
}

TEST(CaseF, F1BytesOnBothSidesOfTheMark) {
  const Layout l = layout("u8[2147483656] on (r=2) {0: r:sizes[2147483647,9]}");
  EXPECT_EQ(segments_of(l, 1), "(0,2147483647,9)");
  EXPECT_EQ(l.local_bytes(RankId(0)), 2147483647);
}

TEST(CaseF, F4CountsBeyond32Bits) {
  const Layout source = layout("u8[3218569051] on (r=3) {0: r:balanced}");
  const Layout target = layout("u8[3218569051] on (r=2)@3 {0: r}");
  EXPECT_EQ(sizes_of(source), (std::vector<Index>{1072856351, 1072856350, 1072856350}));
  const Plan p = plan(source, target);
  EXPECT_TRUE(verify(p).empty());
  EXPECT_EQ(p.certificate().sent, 3218569051);
  EXPECT_EQ(plan_from_json(p.json()).certificate().sent, 3218569051);
  EXPECT_EQ(layout(source.text()).elements(), 3218569051);
}

// An offset of 2^31 and more inside a matrix: row 239674 of 8960 columns (F3, on a layout).
TEST(CaseF, F3RowTimesWidth) {
  const Layout l = layout("u8[262144,8960][239674, :] on (only=1)");
  EXPECT_EQ(l.storage(RankId(0)).offset, 2147479040);
  EXPECT_EQ(l.storage(RankId(0)).offset + 8959, 2147487999);
}

TEST(CaseF, ProductsBeyond63BitsAreRefused) {
  EXPECT_THROW(layout("f32[4294967296,4294967296] on (r=2) {0: r}"), Error);
  EXPECT_THROW(layout("f32[9223372036854775808] on (r=2) {0: r}"), Error);
  EXPECT_THROW(layout("f32[0,4294967296,4294967296] on (a=4294967296, b=4294967296) {1: a}"), Error);
}

}  // namespace
}  // namespace reshard
