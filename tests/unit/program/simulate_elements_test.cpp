// The simulator's own folds and casts give the bits of the kernels.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <random>

#include "base/reducible.h"
#include "kernel/cast.h"
#include "kernel/reduce.h"
#include "program/simulate/elements.h"

namespace reshard {
namespace {

using Element = std::array<std::byte, 16>;
constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product};
constexpr std::uint64_t kSeed = 4711;

// Any bits, so that NaN, infinities and subnormals are among them; every third a small number.
Element random_element(std::mt19937_64& random, Dtype dtype) {
  Element element;
  for (std::byte& byte : element) byte = static_cast<std::byte>(random());
  if (random() % 3 == 0) {
    const std::array<std::byte, 8> small = std::bit_cast<std::array<std::byte, 8>>(random() % 17 - 8);
    simulation::cast_element(Dtype::i64, small.data(), dtype, element.data());
  }
  return element;
}

std::string hex(const Element& element, Dtype dtype) {
  std::string text;
  for (Index i = bytes_of(dtype); i-- > 0;)
    text += fmt::format("{:02x}", static_cast<unsigned>(element[static_cast<std::size_t>(i)]));
  return text;
}

class OfDtype : public testing::TestWithParam<Dtype> {};

TEST_P(OfDtype, FoldsAreThoseOfTheKernel) {
  const Dtype dtype = GetParam();
  std::mt19937_64 random(kSeed);
  for (const ReduceOp op : kOps) {
    if (!is_reducible(dtype, op)) continue;
    for (int round = 0; round < 2000; ++round) {
      const std::size_t count = 1 + random() % 5;
      std::vector<Element> elements(count);
      std::vector<const std::byte*> terms;
      std::vector<FoldRow> rows;
      for (Element& element : elements) {
        element = random_element(random, dtype);
        terms.push_back(element.data());
        rows.push_back({element.data(), bytes_of(dtype)});
      }
      Element here{}, there{};
      const auto divisor = static_cast<Index>(count);
      simulation::fold_element(op, dtype, terms, divisor, here.data());
      fold_kernel(op, dtype)(there.data(), bytes_of(dtype), rows, 1, divisor);
      ASSERT_EQ(hex(here, dtype), hex(there, dtype))
          << name_of(op) << " of " << count << " terms, the first " << hex(elements[0], dtype);
    }
  }
}

TEST_P(OfDtype, IdentitiesAreThoseOfTheKernel) {
  const Dtype dtype = GetParam();
  for (const ReduceOp op : kOps) {
    if (!is_reducible(dtype, op)) continue;
    Element here{};
    simulation::write_identity(op, dtype, here.data());
    EXPECT_EQ(hex(here, dtype), hex(identity_of(op, dtype), dtype)) << name_of(op);
  }
}

TEST_P(OfDtype, CastsAreThoseOfTheKernel) {
  const Dtype from = GetParam();
  std::mt19937_64 random(kSeed);
  for (const Dtype to : all_dtypes()) {
    if (!CastKernel::exists(from, to)) continue;
    const CastKernel cast(from, to);
    for (int round = 0; round < 2000; ++round) {
      const Element source = random_element(random, from);
      Element here{}, there{};
      simulation::cast_element(from, source.data(), to, here.data());
      cast(there.data(), bytes_of(to), source.data(), bytes_of(from), 1);
      ASSERT_EQ(hex(here, to), hex(there, to)) << hex(source, from) << " to " << name_of(to);
    }
  }
}

std::string name(const testing::TestParamInfo<Dtype>& info) { return std::string(name_of(info.param)); }
INSTANTIATE_TEST_SUITE_P(Simulate, OfDtype, testing::ValuesIn(all_dtypes().begin(), all_dtypes().end()), name);

}  // namespace
}  // namespace reshard
