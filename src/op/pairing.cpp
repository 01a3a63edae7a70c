#include "op/pairing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "base/fail.h"
#include "op/elements.h"
#include "op/kinds.h"
#include "op/values.h"

namespace reshard::op {
namespace {

constexpr std::size_t kWords = 4;  // of a dot

// Low bits are the same whether numbers have a sign or not.
std::uint64_t masked(std::uint64_t bits, Dtype dtype) {
  const Index unused = 64 - 8 * bytes_of(dtype);
  return unused <= 0 ? bits : bits << unused >> unused;
}

// All ranks' dots: of rank r, as many as there are `own`, from r * own.size() on.
std::vector<Dot> gathered(World& world, const std::vector<Dot>& own) {
  std::vector<std::uint64_t> words;
  for (const Dot& dot : own)
    words.insert(words.end(), {std::bit_cast<std::uint64_t>(dot.real), std::bit_cast<std::uint64_t>(dot.imaginary),
                               std::bit_cast<std::uint64_t>(dot.absolute), dot.bits});
  const std::string text = fmt::format("i64[{},{}] on (rank={})", world.ranks(), words.size(), world.ranks());
  Tensor mine = world.allocate(layout(text + " {0: rank}"), "products");
  std::ranges::copy(std::as_bytes(std::span(words)), mine.bytes().begin());
  const Tensor all = redistribute(world, mine, layout(text));
  std::vector<Dot> dots(own.size() * static_cast<std::size_t>(world.ranks()));
  for (std::size_t k = 0; k < dots.size(); ++k) {
    std::uint64_t read[kWords];
    std::memcpy(read, all.bytes().data() + k * sizeof read, sizeof read);
    dots[k] = {std::bit_cast<double>(read[0]), std::bit_cast<double>(read[1]), std::bit_cast<double>(read[2]), read[3]};
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

// `dot_of` gives the dot of a rank.
template <class DotOf>
Dot summed(const Layout& value, DotOf dot_of, const std::string& what) {
  Dot sum;
  for (Index ordinal = 0; ordinal < value.mesh().size(); ++ordinal) {
    const RankId rank = value.mesh().rank_at_ordinal(ordinal);
    const RankId first = counting(value, value.mesh().coordinate_at(ordinal));
    const Dot& dot = dot_of(rank);
    if (rank != first) {
      if (!same(dot, dot_of(first)))
        fail(Code::corrupt, "{}: ranks {} and {} hold one invariant value, or its gradient, but not the same one", what,
             first.value(), rank.value());
      continue;
    }
    sum.real += dot.real;
    sum.imaginary += dot.imaginary;
    sum.absolute += dot.absolute;
    sum.bits += dot.bits;
  }
  sum.bits = masked(sum.bits, value.dtype());
  return sum;
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

std::vector<Dot> paired(World& world, const std::vector<Pair>& pairs, const std::string& what) {
  std::vector<Dot> own, sums;
  for (const Pair& pair : pairs) own.push_back(local_dot(pair.value, pair.gradient));
  const std::vector<Dot> dots = gathered(world, own);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto dot_of = [&](RankId rank) -> const Dot& {
      return dots[static_cast<std::size_t>(rank.value()) * pairs.size() + k];
    };
    sums.push_back(summed(pairs[k].value.layout(), dot_of, what));
  }
  return sums;
}

}  // namespace reshard::op
