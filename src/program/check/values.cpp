#include "program/check/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "program/simulate/elements.h"
#include "reshard/unroll.h"

namespace reshard::explore {
namespace {

// As much of one element as its dtype needs, from the bytes of a cell.
Index integer_of(const CellBytes& bytes, Dtype dtype) { return read_element(dtype, bytes.data()); }

CellBytes bytes_of_integer(Index value, Dtype dtype) {
  CellBytes bytes{};
  write_element(dtype, value, bytes.data());
  return bytes;
}

bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

// The dtype of what a complex number begins with.
Dtype real_part_of(Dtype dtype) {
  return dtype == Dtype::complex64 ? Dtype::f32 : dtype == Dtype::complex128 ? Dtype::f64 : dtype;
}

CellBytes cast_bytes(const CellBytes& bytes, Dtype from, Dtype to) {
  CellBytes cast{};
  simulation::cast_element(from, bytes.data(), to, cast.data());
  return cast;
}

Index combined(ReduceOp op, Index a, Index b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::product: return static_cast<Index>(ua * ub);
    case ReduceOp::min: return std::min(a, b);
    case ReduceOp::max: return std::max(a, b);
    default: return static_cast<Index>(ua + ub);
  }
}

}  // namespace

std::size_t HashCellValue::operator()(const CellValue& value) const {
  std::uint64_t hash = static_cast<std::uint64_t>(value.kind) | static_cast<std::uint64_t>(value.op) << 8 |
                       static_cast<std::uint64_t>(value.rank) << 16 | static_cast<std::uint64_t>(value.window) << 32;
  hash = mixed(mixed(hash, value.call), static_cast<std::uint64_t>(value.offset));
  for (const ValueId term : value.terms) hash = mixed(hash, term);
  std::uint64_t words[2];
  std::memcpy(words, value.bytes.data(), sizeof words);
  return mixed(mixed(hash, words[0]), words[1]);
}

Values::Values() {
  values_.number_of({});
  values_.number_of({.kind = CellValue::Kind::number, .known = true});
}

ValueId Values::input(Index call, RankId rank, int window, Index offset, std::optional<CellBytes> bytes) {
  return values_.number_of({.kind = CellValue::Kind::input,
                            .rank = static_cast<std::uint16_t>(rank.value()),
                            .window = static_cast<std::uint16_t>(window),
                            .call = static_cast<std::uint32_t>(call),
                            .offset = offset,
                            .known = bytes.has_value(),
                            .bytes = bytes.value_or(CellBytes{})});
}

ValueId Values::number(Index number, Dtype dtype, Index cell_bytes, Index part) {
  if (number == 0) return kZero;
  const CellBytes element = bytes_of_integer(number, dtype);
  CellValue value{.kind = CellValue::Kind::number, .known = true};
  std::copy_n(element.begin() + part * cell_bytes, std::min<Index>(cell_bytes, 16 - part * cell_bytes),
              value.bytes.begin());
  return values_.number_of(std::move(value));
}

ValueId Values::number(const CellBytes& bytes) {
  return values_.number_of({.kind = CellValue::Kind::number, .known = true, .bytes = bytes});
}

ValueId Values::cast_part(ValueId value, Dtype from, Dtype to, Index cell_bytes, Index part) {
  if (values_[value].kind != CellValue::Kind::number) return value;
  return number(integer_of(values_[value].bytes, from), to, cell_bytes, part);
}

ValueId Values::cast(ValueId id, Dtype from, Dtype to) {
  const CellValue value = values_[id];
  if (from == to || id == kZero) return id;
  if (value.kind == CellValue::Kind::fold) return cast_fold(value, from, to);
  if (!value.known) return id;
  CellValue cast = value;
  cast.bytes = cast_bytes(value.bytes, from, to);
  const Dtype back = is_complex(from) ? to : real_part_of(to);
  if (cast_bytes(cast.bytes, back, from) != value.bytes) return number(cast.bytes);
  return values_.number_of(std::move(cast));
}

// The fold of what its terms become, unless a sum does not fit what it is a sum of.
ValueId Values::cast_fold(const CellValue& fold, Dtype from, Dtype to) {
  std::vector<ValueId> terms;
  for (const ValueId term : fold.terms) terms.push_back(cast(term, from, to));
  const bool divides = fold.op == ReduceOp::avg;
  const ValueId of_terms = this->fold(fold.op, terms, to, true, divides ? fold.offset : 1);
  if (!fold.known) return of_terms;
  const CellBytes bytes = cast_bytes(fold.bytes, from, to);
  return values_[of_terms].known && values_[of_terms].bytes != bytes ? number(bytes) : of_terms;
}

ValueId Values::identity(ReduceOp op) {
  if (op == ReduceOp::sum || op == ReduceOp::avg) return kZero;
  return values_.number_of({.kind = CellValue::Kind::identity, .op = op});
}

std::vector<ValueId> Values::flattened(ReduceOp op, std::span<const ValueId> terms) {
  std::vector<ValueId> flat;
  const ValueId nothing = identity(op);
  for (const ValueId id : terms) {
    const CellValue& term = values_[id];
    if (id == nothing) continue;
    if (term.kind == CellValue::Kind::fold && term.op == op)
      flat.insert(flat.end(), term.terms.begin(), term.terms.end());
    else
      flat.push_back(id);
  }
  return flat;
}

void Values::fold_numbers(ReduceOp op, std::vector<ValueId>& terms, Dtype dtype) {
  const auto numbers = std::partition(terms.begin(), terms.end(),
                                      [&](ValueId term) { return values_[term].kind != CellValue::Kind::number; });
  if (numbers == terms.end()) return;
  Index total = integer_of(values_[*numbers].bytes, dtype);
  for (auto term = numbers + 1; term != terms.end(); ++term)
    total = combined(op, total, integer_of(values_[*term].bytes, dtype));
  terms.erase(numbers, terms.end());
  const bool is_identity = op == ReduceOp::product ? total == 1 : op == ReduceOp::sum && total == 0;
  if (!is_identity || terms.empty()) terms.push_back(number(total, dtype, bytes_of(dtype), 0));
}

ValueId Values::fold(ReduceOp op, std::span<const ValueId> terms, Dtype dtype, bool whole, Index divisor) {
  const ReduceOp inner = op == ReduceOp::avg ? ReduceOp::sum : op;
  CellValue folded{.kind = CellValue::Kind::fold, .op = inner, .known = whole && divisor == 1};
  folded.terms = flattened(inner, terms);
  if (whole) fold_numbers(inner, folded.terms, dtype);
  if (folded.terms.empty()) return identity(inner);
  std::ranges::sort(folded.terms);
  if (inner == ReduceOp::min || inner == ReduceOp::max)
    folded.terms.erase(std::ranges::unique(folded.terms).begin(), folded.terms.end());
  if (folded.terms.size() == 1 && divisor == 1) return folded.terms[0];
  if (divisor != 1) {
    folded.op = ReduceOp::avg;
    folded.offset = divisor;
  }
  for (const ValueId term : folded.terms) folded.known = folded.known && values_[term].known;
  if (folded.known) {
    Index total = integer_of(values_[folded.terms[0]].bytes, dtype);
    for (const ValueId term : std::span(folded.terms).subspan(1))
      total = combined(inner, total, integer_of(values_[term].bytes, dtype));
    folded.bytes = bytes_of_integer(total, dtype);
  }
  return values_.number_of(std::move(folded));
}

bool Values::has_origin(ValueId id) const {
  const CellValue& value = values_[id];
  if (value.kind == CellValue::Kind::input) return true;
  return std::ranges::any_of(value.terms, [&](ValueId term) { return has_origin(term); });
}

bool Values::agree(ValueId held, ValueId expected) const {
  if (held == expected) return true;
  const CellValue &a = values_[held], &b = values_[expected];
  return a.known && b.known && a.bytes == b.bytes && !(has_origin(held) && has_origin(expected));
}

std::string place_text(const WindowSpec& window, Index rank, Index offset, Index cell_bytes) {
  const Index element = bytes_of(window.dtype);
  const auto r = static_cast<std::size_t>(rank);
  if (r >= window.shapes.size() || offset % element != 0)
    return fmt::format("{} bytes [{}, {})", window.name, offset, offset + cell_bytes);
  const std::vector<Index>& shape = window.shapes[r];
  std::vector<Index> at(shape.size());
  Index rest = offset / element, covered = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = shape[d] == 0 ? 0 : rest % shape[d];
    rest = shape[d] == 0 ? 0 : rest / shape[d];
  }
  // Dimensions that the cell covers wholly are not named.
  while (!at.empty() && at.back() == 0 && cell_bytes % (covered * shape[at.size() - 1] * element) == 0) {
    covered *= shape[at.size() - 1];
    at.pop_back();
  }
  return at.empty() ? window.name : fmt::format("{}[{}]", window.name, fmt::join(at, ", "));
}

std::string Values::text(ValueId id, std::span<const WindowSpec> windows, std::span<const Index> cell_bytes,
                         Dtype dtype) const {
  const CellValue& value = values_[id];
  switch (value.kind) {
    case CellValue::Kind::undefined: return "nothing that this call wrote";
    case CellValue::Kind::number: return simulation::element_text(dtype, value.bytes.data());
    case CellValue::Kind::identity: return fmt::format("the identity of {}", name_of(value.op));
    case CellValue::Kind::input: {
      return fmt::format("{} of rank {} in call {}",
                         place_text(windows[value.window], value.rank, value.offset, cell_bytes[value.window]),
                         value.rank, value.call);
    }
    case CellValue::Kind::fold: break;
  }
  std::vector<std::string> terms;
  for (const ValueId term : value.terms) {
    if (terms.size() == 6) {
      terms.push_back(fmt::format("{} more", value.terms.size() - 6));
      break;
    }
    terms.push_back(text(term, windows, cell_bytes, dtype));
  }
  return fmt::format("{}({})", name_of(value.op), fmt::join(terms, ", "));
}

}  // namespace reshard::explore
