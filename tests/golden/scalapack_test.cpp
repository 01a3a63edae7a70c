// ScaLAPACK descriptors, in and out, against the definition in plain loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "property/random.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

struct Address {
  Index rank = 0;
  Index at = 0;  // in the local array
  friend auto operator<=>(const Address&, const Address&) = default;
};

// Where element (i, j) lies: INDXG2P and INDXG2L, counted from 0.
Address defined_address(const ScalapackMatrix& a, Index i, Index j) {
  const Index row = (a.rsrc + i / a.mb) % a.process_rows, column = (a.csrc + j / a.nb) % a.process_columns;
  const Index local_row = i / (a.mb * a.process_rows) * a.mb + i % a.mb;
  const Index local_column = j / (a.nb * a.process_columns) * a.nb + j % a.nb;
  Index lld = a.lld;
  if (lld == 0)
    for (Index k = 0; k < a.m; ++k) lld += (a.rsrc + k / a.mb) % a.process_rows == row ? 1 : 0;
  const Index rank = a.order == GridOrder::row_major ? row * a.process_columns + column : column * a.process_rows + row;
  return {a.base.value() + rank, local_row + local_column * lld};
}

// The same by the layout.
std::map<std::pair<Index, Index>, Address> addresses_of(const Layout& layout) {
  std::map<std::pair<Index, Index>, Address> addresses;
  for (RankId rank(0); rank < layout.mesh().end_rank(); ++rank) {
    const Region region = layout.region(rank);
    if (region.elements() == 0) continue;
    const LocalStorage storage = layout.storage(rank);
    for (const Segment& rows : region.dims[0])
      for (const Segment& columns : region.dims[1])
        for (Index i = 0; i < rows.length; ++i)
          for (Index j = 0; j < columns.length; ++j) {
            const Index at = storage.offset + (rows.local + i).value() * storage.strides[0] +
                             (columns.local + j).value() * storage.strides[1];
            EXPECT_LT(at, storage.elements);
            const bool fresh =
                addresses.insert({{(rows.global + i).value(), (columns.global + j).value()}, {rank.value(), at}})
                    .second;
            EXPECT_TRUE(fresh) << "two owners under " << layout.text();
          }
  }
  return addresses;
}

void expect_as_defined(const ScalapackMatrix& matrix) {
  const Layout read = from_scalapack(Dtype::f64, matrix);
  const auto addresses = addresses_of(read);
  ASSERT_EQ(std::ssize(addresses), matrix.m * matrix.n) << read.text();
  for (const auto& [element, address] : addresses)
    ASSERT_EQ(address, defined_address(matrix, element.first, element.second))
        << read.text() << " element " << element.first << ", " << element.second;
}

TEST(Scalapack, ReadsTheExampleOfItsUsersGuide) {
  // A 9x9 matrix in blocks of 2x2 on a 2x3 grid.
  const ScalapackMatrix matrix{.m = 9, .n = 9, .mb = 2, .nb = 2, .process_rows = 2, .process_columns = 3};
  const Layout read = from_scalapack(Dtype::f64, matrix);
  EXPECT_EQ(read, layout("f64[9,9] on (p=2, q=3) {0: p:cyclic(2), 1: q:cyclic(2)} order(1,0)"));
  // Process (0,0) has rows 1,2,5,6,9 and columns 1,2,7,8 of the guide.
  EXPECT_EQ(read.region(RankId(0)).elements(), 20);
  EXPECT_EQ(read.region(RankId(5)).elements(), 8);
  expect_as_defined(matrix);
}

TEST(Scalapack, TheFirstBlockMayLieAnywhere) {
  const ScalapackMatrix matrix{
      .m = 7, .n = 5, .mb = 2, .nb = 1, .rsrc = 1, .csrc = 2, .process_rows = 2, .process_columns = 3};
  EXPECT_EQ(from_scalapack(Dtype::f64, matrix).mesh().text(), "(p=2, q=3)@[5,3,4,2,0,1]");
  expect_as_defined(matrix);
}

TEST(Scalapack, AgreesWithTheDefinitionAndSurvivesARoundTrip) {
  Random random(seed_from_environment());
  int rolled = 0, padded = 0;
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    ScalapackMatrix matrix{.m = random.below(18),
                           .n = random.below(18),
                           .mb = random.between(1, 5),
                           .nb = random.between(1, 5),
                           .process_rows = random.between(1, 4),
                           .process_columns = random.between(1, 4),
                           .order = random.one_in(2) ? GridOrder::row_major : GridOrder::column_major,
                           .base = RankId(random.below(3))};
    matrix.rsrc = random.below(matrix.process_rows);
    matrix.csrc = random.below(matrix.process_columns);
    if (random.one_in(2)) matrix.lld = matrix.m + random.between(1, 3);
    expect_as_defined(matrix);
    const Layout read = from_scalapack(Dtype::f64, matrix);
    const ScalapackMatrix again = to_scalapack(read);
    if (matrix.process_rows > 1 && matrix.process_columns > 1) {
      EXPECT_EQ(again, matrix) << read.text();
    } else {
      EXPECT_EQ(from_scalapack(Dtype::f64, again), read) << read.text();
    }
    rolled += matrix.rsrc + matrix.csrc > 0 ? 1 : 0;
    padded += matrix.lld > 0 ? 1 : 0;
  }
  EXPECT_GT(rolled, 500);
  EXPECT_GT(padded, 500);
}

TEST(Scalapack, WritesChunksAsBlocks) {
  const ScalapackMatrix matrix = to_scalapack(layout("f64[10,6] on (a=2, b=4) {0: b, 1: a} order(1,0)"));
  EXPECT_EQ(matrix, (ScalapackMatrix{.m = 10,
                                     .n = 6,
                                     .mb = 3,
                                     .nb = 3,
                                     .process_rows = 4,
                                     .process_columns = 2,
                                     .order = GridOrder::column_major}));
  expect_as_defined(matrix);
  EXPECT_EQ(to_scalapack(layout("f64[10,6] on (a=2)@4 {1: a} strides(1,12)")),
            (ScalapackMatrix{.m = 10, .n = 6, .mb = 10, .nb = 3, .lld = 12, .process_columns = 2, .base = RankId(4)}));
}

TEST(Scalapack, RefusesWhatItCannotSay) {
  for (const char* text :
       {"f64[10,6] on (a=2) {0: a:cyclic(2)}", "f64[10,6] on (a=2, b=2) {0: a} order(1,0)", "f64[10] on (a=2) {0: a}",
        "f64[10,6] on (a=2, b=3)@[0,1,2,5,4,3] {0: a, 1: b} order(1,0)", "f64[10,6] on (a=2:10) {0: a} order(1,0)",
        "f64[10,6] on (a=4) {0: a:balanced} order(1,0)", "f64[10,6] on (a=2) {a: partial(sum)} order(1,0)",
        "f64[7,6] on (a=2, b=2) {0: a b} order(1,0)", "f64[10,6][0:4, :] on (a=2) {0: a} order(1,0)"})
    try {
      to_scalapack(layout(text));
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unsupported) << error.what();
    }
}

TEST(Scalapack, WrongDescriptorsNameTheField) {
  const ScalapackMatrix good{.m = 8, .n = 8, .mb = 2, .nb = 2, .process_rows = 2, .process_columns = 2};
  const auto refused = [&](auto change, const char* field) {
    ScalapackMatrix bad = good;
    change(bad);
    try {
      from_scalapack(Dtype::f64, bad);
      FAIL() << field;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), Code::invalid_argument);
    }
  };
  refused([](ScalapackMatrix& a) { a.m = -1; }, "M_");
  refused([](ScalapackMatrix& a) { a.nb = 0; }, "NB_");
  refused([](ScalapackMatrix& a) { a.rsrc = 2; }, "RSRC_");
  refused([](ScalapackMatrix& a) { a.csrc = -1; }, "CSRC_");
  refused([](ScalapackMatrix& a) { a.process_rows = 0; }, "process rows");
  refused([](ScalapackMatrix& a) { a.lld = 3; }, "LLD_");  // a rank has four rows
  const auto last_block_is_short = [](ScalapackMatrix& a) {
    a.m = 12;
    a.mb = 5;
    a.lld = 6;
  };
  refused(last_block_is_short, "LLD_ is 6, but a process has 7 rows");
}

}  // namespace
}  // namespace reshard
