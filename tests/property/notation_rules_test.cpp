// DTensor cuts dimension after dimension by the ceil of what is left, JAX and XLA by one ceil over all axes: for sizes
// that do not divide these are different layouts. Over all small layouts, no notation turns one into the other
// silently.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "oracle/ownership.h"
#include "property/all_layouts.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

using Owners = std::vector<std::uint64_t>;

Owners owners_of(const Layout& l) { return oracle::owner_bits(oracle::ownership_of(l)); }

// All cuts of a dimension as one over the product of their axes.
Layout flattened(const Layout& nested) {
  LayoutSpec spec = nested.spec();
  for (std::vector<Cut>& cuts : spec.cuts) {
    for (std::size_t k = 1; k < cuts.size(); ++k)
      cuts[0].axes.insert(cuts[0].axes.end(), cuts[k].axes.begin(), cuts[k].axes.end());
    if (!cuts.empty()) cuts.resize(1);
  }
  return Layout(spec);
}

struct Notation {
  const char* name;
  std::string (*write)(const Layout&);
  Layout (*read)(const Layout& of, const std::string& text);
};

const Notation notations[] = {
    {"DTensor", to_dtensor,
     [](const Layout& of, const std::string& text) { return from_dtensor(of.dtype(), of.shape(), of.mesh(), text); }},
    {"JAX", to_jax,
     [](const Layout& of, const std::string& text) { return from_jax(of.dtype(), of.shape(), of.mesh(), text); }},
    {"XLA", to_hlo,
     [](const Layout& of, const std::string& text) {
       return from_hlo(of.dtype(), of.shape(), text, of.mesh().size());
     }},
};

class Tally {
 public:
  // `rule`: what the notation always means. It is refused exactly where that is another layout, up to sizes for which
  // the two rules happen to agree.
  void check(const Layout& l, const Notation& notation, const Owners& owners, const Owners& rule) {
    const std::string where = fmt::format("{} in {}", l.text(), notation.name);
    try {
      const std::string text = notation.write(l);
      EXPECT_EQ(owners_of(notation.read(l, text)), owners) << where << " as " << text;
      EXPECT_EQ(owners, rule) << where << " is another layout, and was written as " << text;
      ++written_;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unsupported) << where << ": " << error.what();
      EXPECT_FALSE(divides(l)) << where << ": " << error.what();
      ++refused_;
    }
  }
  Index written() const { return written_; }
  Index refused() const { return refused_; }

 private:
  static bool divides(const Layout& l) {
    for (std::size_t dim = 0; dim < l.shape().size(); ++dim) {
      Index ranks = 1;
      for (const Cut& cut : l.spec().cuts[dim])
        for (const int axis : cut.axes) ranks *= l.mesh().axes()[static_cast<std::size_t>(axis)].size;
      if (l.shape()[dim] % ranks != 0) return false;
    }
    return true;
  }
  Index written_ = 0;
  Index refused_ = 0;
};

TEST(NotationRules, NoneConvertsSilently) {
  Tally tally;
  for (const int dims : {1, 2})
    for (const SmallLayout& small : all_small_layouts(dims))
      for (const Index n : {small.ranks(), small.ranks() + 1, Index{13}, Index{5}, Index{0}}) {
        std::vector<Index> shape = {n, 2 * n + 1};
        shape.resize(static_cast<std::size_t>(dims));
        const Layout nested = layout_of(small, shape, RankId(0)), flat = flattened(nested);
        const Owners by_nested = owners_of(nested), by_flat = owners_of(flat);
        for (const Notation& notation : notations) {
          const Owners& rule = std::string_view(notation.name) == "DTensor" ? by_nested : by_flat;
          tally.check(nested, notation, by_nested, rule);
          tally.check(flat, notation, by_flat, rule);
        }
      }
  EXPECT_EQ(tally.written() + tally.refused(), (57 + 128) * 5 * 2 * 3);
  EXPECT_GT(tally.refused(), 300);
}

}  // namespace
}  // namespace reshard
