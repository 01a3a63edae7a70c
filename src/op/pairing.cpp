#include "op/pairing.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/fail.h"
#include "op/elements.h"
#include "op/kinds.h"
#include "op/values.h"

namespace reshard::op {
namespace {

constexpr Index kWords = 4;  // of a dot

// Low bits are the same whether numbers have a sign or not.
std::uint64_t masked(std::uint64_t bits, Dtype dtype) {
  const Index unused = 64 - 8 * bytes_of(dtype);
  return unused <= 0 ? bits : bits << unused >> unused;
}

// All ranks' dots, by rank.
std::vector<Dot> gathered(World& world, const Dot& own) {
  const std::string text = fmt::format("i64[{},{}] on (rank={})", world.ranks(), kWords, world.ranks());
  Tensor mine = world.allocate(layout(text + " {0: rank}"), "products");
  const std::uint64_t words[kWords] = {std::bit_cast<std::uint64_t>(own.real),
                                       std::bit_cast<std::uint64_t>(own.imaginary),
                                       std::bit_cast<std::uint64_t>(own.absolute), own.bits};
  std::memcpy(mine.bytes().data(), words, sizeof words);
  const Tensor all = redistribute(world, mine, layout(text));
  std::vector<Dot> dots(static_cast<std::size_t>(world.ranks()));
  for (std::size_t r = 0; r < dots.size(); ++r) {
    std::uint64_t read[kWords];
    std::memcpy(read, all.bytes().data() + r * sizeof read, sizeof read);
    dots[r] = {std::bit_cast<double>(read[0]), std::bit_cast<double>(read[1]), std::bit_cast<double>(read[2]), read[3]};
  }
  return dots;
}

// The rank that counts for `rank`: at coordinate 0 of every invariant axis.
RankId counting(const Layout& value, Coordinate coordinate) {
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
    if (kind_of(value.spec().kinds[axis]) == ValueKind::invariant) coordinate[axis] = 0;
  return value.mesh().rank_at(coordinate);
}

bool same(const Dot& a, const Dot& b) {
  return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) &&
         std::bit_cast<std::uint64_t>(a.imaginary) == std::bit_cast<std::uint64_t>(b.imaginary) && a.bits == b.bits;
}

}  // namespace

Dot local_dot(const Tensor& value, const Tensor& gradient) {
  const Dtype dtype = value.layout().dtype();
  const Index size = bytes_of(dtype);
  Dot dot;
  long double real = 0, imaginary = 0, absolute = 0;
  each_element(value, [&](Index address, Index) {
    const Number a = read_value(dtype, value.bytes().data() + address * size);
    const Number b = read_value(dtype, gradient.bytes().data() + address * size);
    dot.bits += a.bits * b.bits;
    real += static_cast<long double>(a.real) * b.real + static_cast<long double>(a.imaginary) * b.imaginary;
    imaginary += static_cast<long double>(a.real) * b.imaginary - static_cast<long double>(a.imaginary) * b.real;
    absolute += std::hypot(a.real, a.imaginary) * std::hypot(b.real, b.imaginary);
  });
  dot.bits = masked(dot.bits, dtype);
  dot.real = static_cast<double>(real);
  dot.imaginary = static_cast<double>(imaginary);
  dot.absolute = static_cast<double>(absolute);
  return dot;
}

Dot paired(World& world, const Tensor& value, const Tensor& gradient, const std::string& what) {
  const std::vector<Dot> dots = gathered(world, local_dot(value, gradient));
  const Layout& layout = value.layout();
  Dot sum;
  for (Index ordinal = 0; ordinal < layout.mesh().size(); ++ordinal) {
    const RankId rank = layout.mesh().rank_at_ordinal(ordinal);
    const RankId first = counting(layout, layout.mesh().coordinate_at(ordinal));
    const Dot& dot = dots[static_cast<std::size_t>(rank.value())];
    if (rank != first) {
      if (!same(dot, dots[static_cast<std::size_t>(first.value())]))
        fail(Code::corrupt, "{}: ranks {} and {} hold one invariant value, or its gradient, but not the same one", what,
             first.value(), rank.value());
      continue;
    }
    sum.real += dot.real;
    sum.imaginary += dot.imaginary;
    sum.absolute += dot.absolute;
    sum.bits += dot.bits;
  }
  sum.bits = masked(sum.bits, layout.dtype());
  return sum;
}

}  // namespace reshard::op
