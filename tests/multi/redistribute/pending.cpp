#include "redistribute/pending.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "oracle/ownership.h"

namespace reshard::multi {
namespace {

float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// The nearer of the two neighbours, the even one in the middle.
std::uint16_t float_to_bf16(float value) {
  const auto below = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double down = std::fabs(static_cast<double>(value) - static_cast<double>(bf16_to_float(below)));
  const double up = std::fabs(static_cast<double>(bf16_to_float(above)) - static_cast<double>(value));
  if (down == up) return below % 2 == 0 ? below : above;
  return down < up ? below : above;
}

std::vector<std::byte> bytes_of_number(Dtype dtype, const Number& number) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(dtype)));
  const auto put = [&](auto value) { std::memcpy(bytes.data(), &value, sizeof(value)); };
  switch (dtype) {
    case Dtype::i32: put(static_cast<std::int32_t>(number.whole)); break;
    case Dtype::i64: put(number.whole); break;
    case Dtype::f32: put(static_cast<float>(number.real)); break;
    case Dtype::f64: put(number.real); break;
    case Dtype::bf16: put(float_to_bf16(static_cast<float>(number.real))); break;
    default: throw std::logic_error("the oracle does not know this dtype");
  }
  return bytes;
}

template <class T>
T step(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: return static_cast<T>(a + b);
    case ReduceOp::product: return static_cast<T>(a * b);
    case ReduceOp::min: return std::min(a, b);
    case ReduceOp::max: return std::max(a, b);
  }
  return a;
}

template <class T>
T folded(ReduceOp op, const std::vector<T>& terms, Index divisor) {
  T value = terms.front();
  for (std::size_t t = 1; t < terms.size(); ++t) value = step(op, value, terms[t]);
  return static_cast<T>(value / static_cast<T>(divisor));
}

Number fold(Dtype dtype, ReduceOp op, const std::vector<Number>& terms, Index divisor) {
  Number result;
  std::vector<std::int64_t> whole;
  std::vector<float> single;
  std::vector<double> exact;
  for (const Number& term : terms) {
    whole.push_back(term.whole);
    single.push_back(static_cast<float>(term.real));
    exact.push_back(term.real);
  }
  result.whole = folded(op, whole, divisor);
  result.real = dtype == Dtype::f64 ? folded(op, exact, divisor) : static_cast<double>(folded(op, single, divisor));
  return result;
}

struct PartialAxis {
  int axis;
  Index size;
  ReduceOp op;
};

std::vector<PartialAxis> partial_axes(const Layout& layout) {
  std::vector<PartialAxis> axes;
  for (std::size_t axis = 0; axis < layout.spec().kinds.size(); ++axis)
    if (layout.spec().kinds[axis].kind == AxisKind::Kind::partial)
      axes.push_back({static_cast<int>(axis), layout.mesh().axes()[axis].size, layout.spec().kinds[axis].op});
  return axes;
}

// The op decides the values only: sums and averages of one tensor are one kind.
ReduceOp kind_of(const std::vector<PartialAxis>& axes) { return axes.empty() ? ReduceOp::sum : axes.front().op; }

std::vector<Index> pending_contents(const World& world, const Layout& layout) {
  const auto parts = oracle::ownership_of(layout).parts;
  const auto part = parts.find(world.rank().value());
  return part == parts.end() ? std::vector<Index>{} : part->second.buffer;
}

// The element's value or term at `fixed` coordinates along kept axes, -1 along reduced ones.
Number expected_number(const Layout& source, const std::vector<Index>& fixed, Index linear, std::uint64_t epoch) {
  const std::vector<PartialAxis> axes = partial_axes(source);
  std::vector<Number> terms;
  Index all = 1, divisor = 1;
  ReduceOp op = kind_of(axes);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    all *= axes[k].size;
    if (fixed[k] < 0 && axes[k].op == ReduceOp::avg) divisor *= axes[k].size;
  }
  for (Index term = 0; term < all; ++term) {
    Index rest = term;
    bool wanted = true;
    for (std::size_t k = axes.size(); k-- > 0; rest /= axes[k].size)
      wanted = wanted && (fixed[k] < 0 || fixed[k] == rest % axes[k].size);
    if (wanted) terms.push_back(term_of(source.dtype(), op, term, linear, epoch));
  }
  return fold(source.dtype(), op, terms, divisor);
}

std::string hex(const std::byte* at, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[static_cast<unsigned>(at[i]) >> 4];
    text += digits[static_cast<unsigned>(at[i]) & 15];
  }
  return text;
}

}  // namespace

Number term_of(Dtype dtype, ReduceOp op, Index term, Index linear, std::uint64_t epoch) {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(linear) * 8 + static_cast<std::uint64_t>(term) + 1000 * epoch + 1) *
      0x9e3779b97f4a7c15u;
  const auto small = static_cast<std::int64_t>(mixed >> 40) % (op == ReduceOp::product ? 5 : 1999) -
                     (op == ReduceOp::product ? 2 : 999);
  Number number{static_cast<double>(small) / 7 + (op == ReduceOp::product ? 0.3 : 0), small};
  if (dtype == Dtype::f32) number.real = static_cast<double>(static_cast<float>(number.real));
  if (dtype == Dtype::bf16)
    number.real = static_cast<double>(bf16_to_float(float_to_bf16(static_cast<float>(number.real))));
  return number;
}

void fill_terms(World& world, Tensor& tensor, std::uint64_t epoch, std::byte poison) {
  poison_all(tensor, poison);
  const Layout& layout = tensor.layout();
  const auto coordinate = layout.mesh().coordinate_of(world.rank());
  if (!coordinate) return;
  const std::vector<PartialAxis> axes = partial_axes(layout);
  Index term = 0;
  for (const PartialAxis& axis : axes) term = term * axis.size + (*coordinate)[static_cast<std::size_t>(axis.axis)];
  std::byte* at = tensor.bytes().data();
  for (const Index linear : pending_contents(world, layout)) {
    const auto bytes = bytes_of_number(layout.dtype(), term_of(layout.dtype(), kind_of(axes), term, linear, epoch));
    if (linear != oracle::hole) std::memcpy(at, bytes.data(), bytes.size());
    at += bytes.size();
  }
}

void expect_folded(World& world, const Layout& source, const Tensor& tensor, const std::vector<int>& kept,
                   std::uint64_t epoch, std::byte poison) {
  const Layout& layout = tensor.layout();
  const auto coordinate = layout.mesh().coordinate_of(world.rank());
  if (!coordinate) return;
  std::vector<Index> fixed(partial_axes(source).size(), -1);
  for (std::size_t k = 0; k < kept.size(); ++k)
    if (kept[k] >= 0) fixed[k] = (*coordinate)[static_cast<std::size_t>(kept[k])];
  const auto size = static_cast<std::size_t>(bytes_of(layout.dtype()));
  const std::byte* at = tensor.bytes().data();
  for (const Index linear : pending_contents(world, layout)) {
    std::vector<std::byte> expected(size, poison);
    if (linear != oracle::hole)
      expected = bytes_of_number(layout.dtype(), expected_number(source, fixed, linear, epoch));
    if (std::memcmp(at, expected.data(), size) != 0)
      report(world, source.text() + " -> " + layout.text() + ": element " + std::to_string(linear) + " of epoch " +
                        std::to_string(epoch) + " is " + hex(at, size) + ", expected " + hex(expected.data(), size));
    at += size;
  }
}

void expect_reduced(World& world, const Layout& source, const Layout& target, const std::vector<int>& kept, int calls,
                    const PlanOptions& options) {
  Tensor a = world.allocate(source, "terms"), b = world.allocate(target, "values");
  for (int call = 0; call < calls; ++call) {
    const auto epoch = static_cast<std::uint64_t>(call + 1);
    fill_terms(world, a, epoch, source_poison);
    poison_all(b, target_poison);
    const std::vector<std::byte> before(a.bytes().begin(), a.bytes().end());
    redistribute(world, a, b, options);
    expect_folded(world, source, b, kept, epoch, target_poison);
    if (!std::ranges::equal(before, a.bytes())) report(world, source.text() + ": the source changed");
  }
}

}  // namespace reshard::multi
