#include "program/simulate/expected.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstring>

#include "base/fail.h"
#include "base/reducible.h"
#include "program/simulate/elements.h"
#include "reshard/unroll.h"

namespace reshard::simulation {
namespace {

using Element = std::array<std::byte, 16>;

// What a term comes to, and how far a sum in another order may be from it: 0 where nothing rounds.
struct Worth {
  Element element{};
  double slack = 0;
};

// The step between neighbours at 1.
double unit_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f8e5m2: return 0x1p-2;
    case Dtype::f8e4m3: return 0x1p-3;
    case Dtype::bf16: return 0x1p-7;
    case Dtype::f16: return 0x1p-10;
    default: return 1e-5;
  }
}

class Evaluation {
 public:
  Evaluation(const Program& program, const CallInputs& began_with) : program_(program), began_with_(began_with) {}

  Worth worth(const Term& term, Dtype dtype) const {
    switch (term.kind) {
      case Term::Kind::input: return {input(term, dtype), 0};
      case Term::Kind::fold: return fold(term, dtype);
      case Term::Kind::constant: break;
    }
    Worth constant;
    write_element(dtype, term.value, constant.element.data());
    return constant;
  }

 private:
  Element input(const Term& term, Dtype dtype) const {
    const std::span<const std::byte> bytes = began_with_.of(term.rank, term.window);
    if (term.offset + bytes_of(term.dtype) > static_cast<Index>(bytes.size()))
      fail(Code::invalid_argument, "expect reads {} of rank {}, which no rule fills when a call begins",
           element_name(program_, term.window, term.rank, term.offset), term.rank.value());
    Element element{};
    cast_element(term.dtype, bytes.data() + term.offset, dtype, element.data());
    return element;
  }

  Worth fold(const Term& term, Dtype dtype) const {
    if (!is_reducible(dtype, term.op))
      fail(Code::unsupported, "expect folds {} by {}, which it cannot be reduced by", name_of(dtype), name_of(term.op));
    std::vector<Worth> parts;
    std::vector<const std::byte*> terms;
    for (const Term& part : term.terms) parts.push_back(worth(part, dtype));
    for (const Worth& part : parts) terms.push_back(part.element.data());
    Worth folded;
    if (terms.empty()) {
      write_identity(term.op, dtype, folded.element.data());
      return folded;
    }
    fold_element(term.op, dtype, terms, static_cast<Index>(terms.size()), folded.element.data());
    if (is_real_number(dtype) && term.op != ReduceOp::min && term.op != ReduceOp::max)
      folded.slack = slack(term.op, parts, dtype, folded);
    return folded;
  }

  static double slack(ReduceOp op, const std::vector<Worth>& parts, Dtype dtype, const Worth& folded) {
    double size = 0;
    for (const Worth& part : parts) size += std::abs(element_value(dtype, part.element.data()));
    if (op == ReduceOp::product) size = std::abs(element_value(dtype, folded.element.data()));
    return size * unit_of(dtype);
  }

  const Program& program_;
  const CallInputs& began_with_;
};

bool agrees(const Worth& wanted, Dtype dtype, const std::byte* seen) {
  const auto bytes = static_cast<std::size_t>(bytes_of(dtype));
  if (std::memcmp(wanted.element.data(), seen, bytes) == 0) return true;
  return std::abs(element_value(dtype, seen) - element_value(dtype, wanted.element.data())) <= wanted.slack;
}

std::string describe(const Program& program, const Expectation& expectation, const Worth& wanted,
                     const std::byte* seen) {
  std::string text = fmt::format("rank {} holds {} in {}, expected {}", expectation.rank.value(),
                                 element_text(expectation.dtype, seen),
                                 element_name(program, expectation.window, expectation.rank, expectation.offset),
                                 element_text(expectation.dtype, wanted.element.data()));
  const Term& value = expectation.value;
  if (value.kind == Term::Kind::input)
    text += fmt::format(", which {} of rank {} was", element_name(program, value.window, value.rank, value.offset),
                        value.rank.value());
  return text;
}

}  // namespace

std::string element_name(const Program& program, int window, RankId rank, Index offset) {
  const WindowSpec& spec = program.windows[static_cast<std::size_t>(window)];
  const auto r = static_cast<std::size_t>(rank.value());
  if (r >= spec.shapes.size()) return fmt::format("{}, byte {}", spec.name, offset);
  Index element = offset / bytes_of(spec.dtype);
  std::vector<Index> indices(spec.shapes[r].size());
  for (std::size_t d = indices.size(); d-- > 0;) {
    const Index extent = std::max<Index>(1, spec.shapes[r][d]);
    indices[d] = element % extent;
    element /= extent;
  }
  return indices.empty() ? spec.name : fmt::format("{}[{}]", spec.name, fmt::join(indices, ", "));
}

Mismatches compare_outputs(const Program& program, const std::vector<Expectation>& expectations,
                           const CallInputs& began_with, SimulatedMemory& memory) {
  const Evaluation evaluation(program, began_with);
  Mismatches mismatches;
  for (const Expectation& expectation : expectations) {
    const Dtype dtype = expectation.dtype;
    const std::byte* seen = memory.at(expectation.rank, expectation.window, expectation.offset, bytes_of(dtype));
    const Worth wanted = evaluation.worth(expectation.value, dtype);
    if (agrees(wanted, dtype, seen)) continue;
    if (mismatches.count++ == 0) mismatches.first = describe(program, expectation, wanted, seen);
  }
  return mismatches;
}

}  // namespace reshard::simulation
