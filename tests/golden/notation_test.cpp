// DTensor and JAX notations, in and out.
#include <gtest/gtest.h>

#include "golden/show.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

using Sizes = std::vector<Index>;

Layout dtensor(Sizes shape, const char* on, const char* placements, StridedReading reading = StridedReading::literal) {
  return from_dtensor(Dtype::f32, std::move(shape), mesh(on), placements, reading);
}
Layout jax(Sizes shape, const char* on, const char* spec) {
  return from_jax(Dtype::f32, std::move(shape), mesh(on), spec);
}
void expect_unsupported(const Layout& l, std::string (*write)(const Layout&)) {
  try {
    FAIL() << l.text() << " was written as " << write(l);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported) << error.what();
  }
}

TEST(Dtensor, ReadsLongAndShortForms) {
  const Layout expected = layout("f32[8,6] on (dp=2, tp=2) {0: dp, 1: tp}");
  EXPECT_EQ(dtensor({8, 6}, "(dp=2, tp=2)", "[Shard(dim=0), Shard(dim=1)]"), expected);
  EXPECT_EQ(dtensor({8, 6}, "(dp=2, tp=2)", "(Shard(0), Shard(-1))"), expected);
  EXPECT_EQ(dtensor({8, 6}, "(dp=2, tp=2)", "S(0) S(1)"), expected);
  EXPECT_EQ(dtensor({8, 6}, "(dp=2, tp=2)", "R P(max)"), layout("f32[8,6] on (dp=2, tp=2) {tp: partial(max)}"));
  EXPECT_EQ(dtensor({8, 6}, "(dp=2, tp=2)", "[Replicate(), Partial()]"),
            layout("f32[8,6] on (dp=2, tp=2) {tp: partial(sum)}"));
}

TEST(Dtensor, ShardsOfOneDimensionNestLeftToRight) {
  EXPECT_EQ(dtensor({5}, "(a=2, b=2)", "S(0) S(0)"), layout("f32[5] on (a=2, b=2) {0: a b}"));
  EXPECT_EQ(dtensor({5}, "(a=2, b=2)", "S(0)[1] S(0)[0]"), layout("f32[5] on (a=2, b=2) {0: b a}"));
}

TEST(Dtensor, StridedShardHasTwoReadings) {
  const char* const on = "(dp=3, tp=2)";
  const char* const fsdp = "[_StridedShard(dim=0, sf=2), Shard(dim=0)]";
  EXPECT_EQ(dtensor({7}, on, fsdp), layout("f32[7] on (dp=3, tp=2) {0: dp:strided-shard(2) tp}"));
  EXPECT_EQ(dtensor({7}, on, fsdp, StridedReading::ordered), layout("f32[7] on (dp=3, tp=2) {0: tp dp}"));
  EXPECT_EQ(dtensor({7}, on, "_S(0,2) S(0)"), dtensor({7}, on, fsdp));
  EXPECT_THROW(dtensor({7}, on, "_S(0,3) S(0)", StridedReading::ordered), Error);
}

TEST(Dtensor, WritesWhatItReads) {
  for (const char* text :
       {"f32[5,7] on (a=2, b=2) {0: a b}", "f32[5,7] on (a=2, b=2) {0: b a}",
        "f32[5,7] on (a=2, b=2, c=2) {0: c, 1: b a}", "f32[5,7] on (a=2, b=2) {1: b, a: partial(sum)}",
        "f32[7,2] on (dp=3, tp=2) {0: dp:strided-shard(2) tp}", "f32[] on (a=2)"}) {
    const Layout l = layout(text);
    EXPECT_EQ(from_dtensor(l.dtype(), l.shape(), l.mesh(), to_dtensor(l)), l) << text << " as " << to_dtensor(l);
  }
}

TEST(Dtensor, AFlatCutConvertsOnlyWhereItDivides) {
  EXPECT_TRUE(same_ownership(dtensor({8}, "(a=2, b=2)", to_dtensor(layout("f32[8] on (a=2, b=2) {0: (a b)}")).c_str()),
                             layout("f32[8] on (a=2, b=2) {0: (a b)}")));
  expect_unsupported(layout("f32[5] on (a=2, b=2) {0: (a b)}"), to_dtensor);
}

TEST(Dtensor, RefusesWhatItCannotSay) {
  for (const char* text :
       {"f32[7] on (a=4) {0: a:balanced}", "f32[8] on (a=2) {0: a:strided(2)}", "f32[8] on (a=2) {0: a:cyclic(1)}",
        "f32[8] on (a=2, b=2) {0: a, b: at(1)}", "f32[8][0:4] on (a=2) {0: a}", "f32[8,2] on (a=2) {0: a} order(1,0)"})
    expect_unsupported(layout(text), to_dtensor);
  EXPECT_THROW(dtensor({8}, "(a=2)", "S(0) R"), Error);
  EXPECT_THROW(dtensor({8}, "(a=2)", "S(1)"), Error);
  EXPECT_THROW(dtensor({8}, "(a=2)", "T(0)"), Error);
}

TEST(Jax, ReadsPartitionSpecs) {
  EXPECT_EQ(jax({8, 4, 6}, "(x=2, y=2, z=3)", "PartitionSpec('x', None, ('y', 'z'))"),
            layout("f32[8,4,6] on (x=2, y=2, z=3) {0: x, 2: (y z)}"));
  EXPECT_EQ(jax({8, 4}, "(x=2, y=2)", "P()"), layout("f32[8,4] on (x=2, y=2)"));
  EXPECT_EQ(jax({8, 4}, "(x=2, y=2)", "P(None, \"y\", unreduced={'x'})"),
            layout("f32[8,4] on (x=2, y=2) {1: y, x: partial(sum)}"));
}

TEST(Jax, ATupleIsOneFlatCut) {
  const Layout flat = jax({5}, "(x=2, y=2)", "P(('x', 'y'))");
  EXPECT_EQ(sizes_of(flat), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes_of(dtensor({5}, "(x=2, y=2)", "S(0) S(0)")), (Sizes{2, 1, 1, 1}));
  EXPECT_EQ(held_by(jax({4}, "(x=2, y=2)", "P(('y', 'x'))"), 1), (Sizes{2}));
}

TEST(Jax, WritesWhatItReads) {
  for (const char* text : {"f32[5,7] on (a=2, b=2) {0: (b a)}", "f32[5,7,2] on (a=2, b=2) {1: a}",
                           "f32[5,7] on (a=2, b=2) {1: b, a: partial(sum)}", "f32[] on (a=2)"}) {
    const Layout l = layout(text);
    EXPECT_EQ(from_jax(l.dtype(), l.shape(), l.mesh(), to_jax(l)), l) << text << " as " << to_jax(l);
  }
}

TEST(Jax, ANestedCutConvertsOnlyWhereItDivides) {
  EXPECT_TRUE(same_ownership(jax({8}, "(a=2, b=2)", to_jax(layout("f32[8] on (a=2, b=2) {0: b a}")).c_str()),
                             layout("f32[8] on (a=2, b=2) {0: b a}")));
  expect_unsupported(layout("f32[5] on (a=2, b=2) {0: a b}"), to_jax);
  expect_unsupported(layout("f32[6] on (a=2) {a: partial(max)}"), to_jax);
}

// Whatever is written is read back with the same owners; what differs is refused, never converted silently.
TEST(Notations, NeverConvertSilently) {
  int written = 0, refused = 0;
  for (Index n = 0; n <= 24; ++n)
    for (const char* cut :
         {"a b", "b a", "(a b)", "(b a)", "a:balanced b", "a:even", "a/2 b", "b:strided-shard(2) a"}) {
      Layout l = layout("f32[1] on (a=2, b=3)");
      try {
        l = layout("f32[" + std::to_string(n) + "] on (a=2, b=3) {0: " + cut + "}");
      } catch (const Error&) {
        continue;  // even, or a unit that does not divide
      }
      for (const bool as_jax : {false, true}) try {
          const Layout again = as_jax ? from_jax(l.dtype(), l.shape(), l.mesh(), to_jax(l))
                                      : from_dtensor(l.dtype(), l.shape(), l.mesh(), to_dtensor(l));
          EXPECT_TRUE(same_ownership(again, l)) << l.text() << " became " << again.text();
          ++written;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), Code::unsupported) << error.what();
          ++refused;
        }
    }
  EXPECT_GT(written, 100);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace reshard
