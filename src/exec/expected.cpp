#include "exec/expected.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "base/fail.h"
#include "base/reducible.h"
#include "kernel/cast.h"
#include "kernel/reduce.h"

namespace reshard {
namespace {

bool may_round(Dtype dtype) { return dtype >= Dtype::f8e4m3; }

// Of complex numbers the real part.
double real_part(Dtype dtype, const std::byte* at) {
  std::complex<double> value;
  CastKernel(dtype, Dtype::complex128)(reinterpret_cast<std::byte*>(&value), 0, at, 0, 1);
  return value.real();
}

std::string text_at(Dtype dtype, const std::byte* at) {
  const bool is_integer = dtype < Dtype::f8e4m3 && dtype != Dtype::u64;
  return is_integer ? fmt::format("{}", read_element(dtype, at)) : fmt::format("{}", real_part(dtype, at));
}

// The step between neighbours at 1, and some more where there are many.
double step_at_one(Dtype dtype) {
  switch (dtype) {
    case Dtype::f8e5m2: return 0x1p-2;
    case Dtype::f8e4m3: return 0x1p-3;
    case Dtype::bf16: return 0x1p-7;
    case Dtype::f16: return 0x1p-10;
    case Dtype::f32:
    case Dtype::complex64: return 0x1p-20;
    default: return 0x1p-49;
  }
}

}  // namespace

ExpectedOutputs::ExpectedOutputs(const SymbolicProgram& program, const Program& unrolled, UnrollOptions options)
    : program_(program), unrolled_(unrolled), options_(std::move(options)) {}

void ExpectedOutputs::check(const std::vector<std::span<std::byte>>& memory) {
  for (const Expectation& expectation : expectations(program_, options_)) {
    const Wanted value = wanted(expectation.value, expectation.dtype);
    const std::byte* seen = memory[static_cast<std::size_t>(expectation.window)].data() + expectation.offset;
    if (std::memcmp(seen, value.element.data(), static_cast<std::size_t>(bytes_of(expectation.dtype))) == 0) continue;
    const double off = real_part(expectation.dtype, seen) - real_part(expectation.dtype, value.element.data());
    if (!(value.slack > 0 && std::abs(off) <= value.slack)) differs(expectation, value, seen);
  }
}

ExpectedOutputs::Wanted ExpectedOutputs::wanted(const Term& term, Dtype dtype) {
  if (term.kind == Term::Kind::input) return {input(term, dtype)};
  if (term.kind == Term::Kind::fold) return folded(term, dtype);
  Wanted constant;
  write_element(dtype, term.value, constant.element.data());
  return constant;
}

ExpectedOutputs::Wanted ExpectedOutputs::folded(const Term& term, Dtype dtype) {
  if (!is_reducible(dtype, term.op))
    fail(Code::unsupported, "program {} expects the {} of {} elements", program_.name, reshard::name_of(term.op),
         reshard::name_of(dtype));
  std::vector<Element> elements;
  double size = 0;
  for (const Term& part : term.terms) {
    elements.push_back(wanted(part, dtype).element);
    size += std::abs(real_part(dtype, elements.back().data()));
  }
  std::vector<FoldRow> rows;
  for (const Element& element : elements) rows.push_back({element.data(), 0});
  Wanted result;
  fold_kernel(term.op, dtype)(result.element.data(), 0, rows, 1, static_cast<Index>(rows.size()));
  if (term.op == ReduceOp::product) size = std::abs(real_part(dtype, result.element.data()));
  const bool rounds = may_round(dtype) && term.op != ReduceOp::min && term.op != ReduceOp::max;
  result.slack = rounds ? size * step_at_one(dtype) : 0;
  return result;
}

ExpectedOutputs::Element ExpectedOutputs::input(const Term& term, Dtype dtype) {
  const WindowSpec& spec = unrolled_.windows[static_cast<std::size_t>(term.window)];
  const auto [entry, added] = inputs_.try_emplace({term.rank, term.window});
  if (added) {
    entry->second.resize(static_cast<std::size_t>(spec.bytes[static_cast<std::size_t>(term.rank.value())]));
    fill_initial(program_, options_, term.rank, term.window, entry->second);
  }
  if (!CastKernel::exists(term.dtype, dtype))
    fail(Code::unsupported, "program {} expects an element of {}, which is {}, as {}", program_.name, spec.name,
         reshard::name_of(term.dtype), reshard::name_of(dtype));
  Element element{};
  CastKernel(term.dtype, dtype)(element.data(), 0, entry->second.data() + term.offset, 0, 1);
  return element;
}

void ExpectedOutputs::differs(const Expectation& expectation, const Wanted& wanted, const std::byte* seen) const {
  fail(Code::corrupt, "program {}, rank {}, call {}: {} holds {}, expected {}", program_.name, expectation.rank.value(),
       options_.call, name_of(expectation), text_at(expectation.dtype, seen),
       text_at(expectation.dtype, wanted.element.data()));
}

std::string ExpectedOutputs::name_of(const Expectation& expectation) const {
  const WindowSpec& spec = unrolled_.windows[static_cast<std::size_t>(expectation.window)];
  std::vector<Index> indices = spec.shapes[static_cast<std::size_t>(expectation.rank.value())];
  Index element = expectation.offset / bytes_of(spec.dtype);
  for (auto extent = indices.rbegin(); extent != indices.rend(); ++extent) {
    const Index there = std::max<Index>(1, *extent);
    *extent = element % there;
    element /= there;
  }
  return indices.empty() ? spec.name : fmt::format("{}[{}]", spec.name, fmt::join(indices, ", "));
}

}  // namespace reshard
