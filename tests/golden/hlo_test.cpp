// HLO sharding text, in and out, against XLA's definition in plain loops.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "golden/show.h"
#include "property/random.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

using Sizes = std::vector<Index>;

Layout hlo(Sizes shape, const std::string& text, Index devices = 0) {
  return from_hlo(Dtype::f32, std::move(shape), text, devices);
}
void expect_refused(const std::string& text, const char* word, Index devices = 0) {
  try {
    FAIL() << text << " was read as " << hlo({8, 8}, text, devices).text();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Hlo, ReadsIotaForms) {
  EXPECT_EQ(hlo({8, 6}, "{devices=[4,2]<=[8]}"), layout("f32[8,6] on (d0=4, d1=2) {0: d0, 1: d1}"));
  EXPECT_EQ(hlo({8, 6}, "{devices=[4,2]<=[2,4]T(1,0)}"), layout("f32[8,6] on (d0=4:1, d1=2:4) {0: d0, 1: d1}"));
  EXPECT_EQ(hlo({8, 6}, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"), layout("f32[8,6] on (d0=2, d2=4) {0: d0}"));
  EXPECT_EQ(hlo({8, 6}, "sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"),
            layout("f32[8,6] on (d1=2:1, d2=4:2) {1: d1}"));
  EXPECT_EQ(hlo({8, 6}, "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}"),
            layout("f32[8,6] on (d0=2, d2=2, d3=2) {0: d0, d2: partial(sum)}"));
  EXPECT_EQ(hlo({8, 6}, "{ devices = [ 4 , 2 ] <= [ 8 ] }"), hlo({8, 6}, "{devices=[4,2]<=[8]}"));
}

// Tile dimensions that end inside a transposed dimension become sub-axes; what has no strides is listed.
TEST(Hlo, TilesMayCutAcrossTransposedDimensions) {
  EXPECT_EQ(hlo({8, 8}, "{devices=[2,4]<=[2,4]T(1,0)}"),
            layout("f32[8,8] on (d0=2:2, d1=4 as (d1_0=2:1, d1_1=2:4)) {0: d0, 1: (d1_0 d1_1)}"));
  EXPECT_EQ(hlo({8, 8}, "{devices=[3,2]<=[2,3]T(1,0)}").mesh().text(), "(d0=3:1, d1=2:3)");
  EXPECT_EQ(hlo({8, 8}, "{devices=[2,3]<=[2,3]T(1,0)}").mesh().text(), "(d0=2, d1=3)@[0,3,1,4,2,5]");
}

TEST(Hlo, ReadsListsAndFormsWithoutTiles) {
  EXPECT_EQ(hlo({8, 6}, "{devices=[2,2]0,3,1,2}"), layout("f32[8,6] on (d0=2, d1=2)@[0,3,1,2] {0: d0, 1: d1}"));
  EXPECT_EQ(hlo({8, 6}, "{devices=[2,1]4,5}"), layout("f32[8,6] on (d0=2)@4 {0: d0}"));
  EXPECT_EQ(hlo({8, 6}, "{replicated}", 4), layout("f32[8,6] on (d2=4)"));
  EXPECT_EQ(hlo({8, 6}, "{unreduced}", 4), layout("f32[8,6] on (d2=4) {d2: partial(sum)}"));
  const Layout maximal = hlo({8, 6}, "{maximal device=3}");
  EXPECT_EQ(maximal.region(RankId(3)).elements(), 48);
  EXPECT_EQ(maximal.mesh().size(), 1);
  EXPECT_EQ(hlo({}, "{devices=[4]<=[4] last_tile_dim_replicate}"), layout("f32[] on (d0=4)"));
}

TEST(Hlo, UnevenSizesAreCutByOneFlatCeil) {
  EXPECT_EQ(sizes_of(hlo({5}, "{devices=[4]<=[2,2]T(1,0)}")), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(held_by(hlo({5}, "{devices=[4]<=[2,2]T(1,0)}"), 2), (Sizes{2, 3}));
}

TEST(Hlo, BadProductsAreRefusedAtOnce) {
  expect_refused("{devices=[2,3]<=[8]}", "6 tiles");
  expect_refused("{devices=[2,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "8 tiles");
  expect_refused("{devices=[2,2]0,1,2}", "3 devices");
  expect_refused("{devices=[2,2]0,1,2,2}", "twice");
  expect_refused("{devices=[4294967296,4294967296]<=[8]}", "devices");
  expect_refused("{devices=[0,2]<=[0]}", "at least 1");
  expect_refused("{devices=[2,4]<=[8]}", "not for 16", 16);
}

TEST(Hlo, OtherFaultsAreNamed) {
  expect_refused("{devices=[2,1,4]<=[8]T(1,0) last_tile_dim_replicate}", "each of the 1 dimensions");
  expect_refused("{devices=[2,4]<=[2,4]T(1,1)}", "once");
  expect_refused("{devices=[2,4]<=[2,4]T(1)}", "names 1 dimensions");
  expect_refused("{devices=[8]<=[8]}", "1 dimensions");
  expect_refused("{devices=[2,2,2]<=[8]}", "3 dimensions");
  expect_refused("{devices=[2,2,2]<=[8] last_tile_dims={manual}}", "replicated or unreduced");
  expect_refused("{devices=[2,4]<=[8] metadata={op_name=\"x\"}}", "expected '}'");
  expect_refused("{replicated}", "how many devices");
  expect_refused("{manual}", "which device");
  expect_refused("{{replicated}, {replicated}}", "expected");
  expect_refused("{maximal device=-1}", "negative");
  expect_refused("{devices=[2,4]<=[8]", "expected '}'");
}

TEST(Hlo, WritesCanonicalText) {
  for (const char* text :
       {"{devices=[4,2]<=[8]}", "{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
        "{devices=[2,4]<=[2,2,2]T(1,0,2)}", "{devices=[2,2]0,3,1,2}", "{devices=[2,1]4,5}", "{maximal device=3}",
        "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}",
        "{devices=[1,1,4]<=[4] last_tile_dims={unreduced}}",
        "{devices=[2,2,2]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}", "{devices=[1048576,1]<=[1024,1024]T(1,0)}"})
    EXPECT_EQ(to_hlo(hlo({4194304, 6}, text)), text);
  EXPECT_EQ(to_hlo(hlo({8, 8}, "{devices=[1,1,8]<=[8] last_tile_dim_replicate}")), "{replicated}");
  EXPECT_EQ(to_hlo(hlo({8, 8}, "{replicated}", 8)), "{replicated}");
  EXPECT_EQ(to_hlo(hlo({8, 8}, "{devices=[2,4]<=[2,1,2,2]T(0,1,2,3)}")), "{devices=[2,4]<=[8]}");
  EXPECT_EQ(to_hlo(hlo({8, 8}, "{devices=[2,4]<=[2,2,2]T(1,2,0)}")), "{devices=[2,4]<=[2,4]T(1,0)}");
  EXPECT_EQ(to_hlo(layout("f32[8,8] on (dp=2, tp=4) {1: tp}")),
            "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(to_hlo(layout("f32[8,8] on (dp=2, tp=4) {0: tp dp}")), "{devices=[8,1]<=[2,4]T(1,0)}");
}

TEST(Hlo, RefusesWhatItCannotSay) {
  for (const char* text :
       {"f32[5,8] on (a=2, b=2) {0: a b}", "f32[7,8] on (a=4) {0: a:balanced}", "f32[8,8] on (a=2) {a: partial(max)}",
        "f32[8,8] on (a=2, b=2) {0: a, b: at(1)}", "f32[8,8][0:4, :] on (a=2) {0: a}",
        "f32[8,8] on (a=2) {0: a} order(1,0)", "f32[8,8] on (a=2) {0: a:cyclic(1)}"})
    try {
      FAIL() << text << " was written as " << to_hlo(layout(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unsupported) << error.what();
    }
}

// --- The definition: device array = reshape(transpose(reshape(iota))), element ranges by one ceil per dimension.

struct Tiles {
  Sizes dims;  // of the tensor, then one that replicates
  bool replicates = false;
  Sizes reshape;
  std::vector<std::size_t> transpose;
  bool listed = false;
  std::string text() const {
    std::string out = fmt::format("{{devices=[{}]", fmt::join(dims, ","));
    out += listed ? fmt::format("{}", fmt::join(devices(), ","))
                  : fmt::format("<=[{}]T({})", fmt::join(reshape, ","), fmt::join(transpose, ","));
    return out + (replicates ? " last_tile_dim_replicate}" : "}");
  }
  Sizes devices() const {
    Sizes flat;
    Sizes index(reshape.size(), 0);  // of the transposed array
    const std::function<void(std::size_t)> fill = [&](std::size_t k) {
      if (k == transpose.size()) {
        Sizes before(reshape.size());
        for (std::size_t j = 0; j < transpose.size(); ++j) before[transpose[j]] = index[j];
        Index number = 0;
        for (std::size_t j = 0; j < reshape.size(); ++j) number = number * reshape[j] + before[j];
        flat.push_back(number);
        return;
      }
      for (index[k] = 0; index[k] < reshape[transpose[k]]; ++index[k]) fill(k + 1);
    };
    fill(0);
    return flat;
  }
};

Sizes random_factors(Random& random, Index product, std::size_t count) {
  Sizes factors(count, 1);
  for (Index p = 2; product > 1;)
    if (product % p == 0) {
      factors[static_cast<std::size_t>(random.below(static_cast<Index>(count)))] *= p;
      product /= p;
    } else {
      ++p;
    }
  return factors;
}

void expect_as_defined(const Layout& read, const Sizes& shape, const Tiles& tiles) {
  const Sizes devices = tiles.devices();
  for (std::size_t at = 0; at < devices.size(); ++at) {
    Sizes tile(tiles.dims.size());
    for (std::size_t k = tiles.dims.size(), rest = at; k-- > 0; rest /= static_cast<std::size_t>(tiles.dims[k]))
      tile[k] = static_cast<Index>(rest) % tiles.dims[k];
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const Index size = (shape[dim] + tiles.dims[dim] - 1) / tiles.dims[dim];
      Sizes expected;
      for (Index element = tile[dim] * size; element < std::min((tile[dim] + 1) * size, shape[dim]); ++element)
        expected.push_back(element);
      ASSERT_EQ(held_by(read, devices[at], static_cast<int>(dim)), expected)
          << tiles.text() << " device " << devices[at] << " dimension " << dim;
    }
  }
}

TEST(Hlo, AgreesWithTheDefinitionAndSurvivesARoundTrip) {
  Random random(seed_from_environment());
  int listed = 0, sub_axes = 0;
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    Tiles tiles;
    const Index count = random.among(Sizes{1, 2, 3, 4, 6, 8, 12, 16, 18, 24, 30, 36});
    const std::size_t dims = static_cast<std::size_t>(random.between(1, 3));
    tiles.replicates = random.one_in(2);
    tiles.dims = random_factors(random, count, dims + (tiles.replicates ? 1 : 0));
    tiles.reshape = random_factors(random, count, static_cast<std::size_t>(random.between(1, 4)));
    tiles.transpose.resize(tiles.reshape.size());
    std::iota(tiles.transpose.begin(), tiles.transpose.end(), std::size_t{0});
    random.shuffle(tiles.transpose);
    tiles.listed = random.one_in(4);
    Sizes shape;
    for (std::size_t dim = 0; dim < dims; ++dim) shape.push_back(random.below(40));
    const Layout read = hlo(shape, tiles.text(), count);
    expect_as_defined(read, shape, tiles);
    EXPECT_EQ(layout(read.text()), read);
    const std::string written = to_hlo(read);
    const Layout again = hlo(shape, written, count);
    EXPECT_TRUE(same_ownership(again, read)) << tiles.text() << " became " << written;
    EXPECT_EQ(to_hlo(again), written) << tiles.text();
    listed += read.mesh().is_regular() ? 0 : 1;
    sub_axes += read.mesh().groups().empty() ? 0 : 1;
  }
  EXPECT_GT(listed, 20);
  EXPECT_GT(sub_axes, 20);
}

// Whatever the text: a layout or an error, never anything else.
TEST(Hlo, BrokenTextIsAnError) {
  Random random(seed_from_environment() + 1);
  const std::string whole = "{devices=[2,1,2,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated}}";
  int read = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text = whole;
    for (Index changes = random.between(1, 3); changes > 0; --changes) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<Index>(text.size())));
      if (random.one_in(2))
        text.erase(at, static_cast<std::size_t>(random.between(1, 3)));
      else
        text[at] = "0123456789[]{}(),=<T -"[random.below(22)];
      if (text.empty()) break;
    }
    try {
      hlo({8, 8}, text);
      ++read;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Code::invalid_argument || error.code() == Code::unsupported) << error.what();
    }
  }
  EXPECT_LT(read, 10000);
}

}  // namespace
}  // namespace reshard
