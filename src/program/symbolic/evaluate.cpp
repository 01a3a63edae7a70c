#include <limits>

#include "base/fail.h"
#include "program/symbolic/arithmetic.h"
#include "reshard/expression.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;

std::optional<Index> divided(Kind kind, Index a, Index b) {
  if (b == 0 || (a == std::numeric_limits<Index>::min() && b == -1)) return std::nullopt;
  const Index quotient = floor_divide(a, b);
  return kind == Kind::divide ? quotient : a - quotient * b;
}

std::vector<Index> indices_of(std::span<const Expression> operands, const Scope& scope, ElementReader* reader) {
  std::vector<Index> indices;
  for (const Expression& operand : operands) indices.push_back(evaluate(operand, scope, reader));
  return indices;
}

Index picked(const Expression& e, const Scope& scope, ElementReader* reader) {
  const Index which = evaluate(e.operands()[0], scope, reader);
  if (which < 0 || which + 1 >= static_cast<Index>(e.operands().size()))
    fail(Code::invalid_argument, "`{}` picks number {} of {}", e.text(), which, e.operands().size() - 1);
  return evaluate(e.operands()[static_cast<std::size_t>(which) + 1], scope, reader);
}

Index read(const Expression& e, const Scope& scope, ElementReader* reader) {
  const bool own = e.kind() == Kind::element;
  if (reader == nullptr)
    fail(Code::invalid_argument, "`{}` is in memory and cannot be known here{}", e.text(),
         own ? "" : "; what other ranks hold is for `expect` only, `get` it first");
  if (own) return reader->element(e.name(), indices_of(e.operands(), scope, reader));
  return reader->element_on(e.name(), evaluate(e.operands()[0], scope, reader),
                            indices_of(e.operands().subspan(1), scope, reader));
}

Index combined(const Expression& e, const Scope& scope, ElementReader* reader) {
  const Index a = evaluate(e.operands()[0], scope, reader);
  if (e.kind() == Kind::logical_and && a == 0) return 0;
  if (e.kind() == Kind::logical_or && a != 0) return 1;
  const Index b = evaluate(e.operands()[1], scope, reader);
  const auto value = arithmetic(e.kind(), a, b);
  if (!value)
    fail(Code::invalid_argument, "`{}` is {} for {} and {}", e.text(),
         b == 0 && e.kind() != Kind::multiply ? "a division by zero" : "past 64 bits", a, b);
  return *value;
}

Index named(const Expression& e, const Scope& scope) {
  if (const Index* value = scope.find(e.name())) return *value;
  fail(Code::invalid_argument, "nothing is called `{}` here", e.name());
}

}  // namespace

std::optional<Index> arithmetic(Kind kind, Index a, Index b) {
  Index result = 0;
  switch (kind) {
    case Kind::add: return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::subtract: return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::multiply: return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::divide:
    case Kind::modulo: return divided(kind, a, b);
    case Kind::minimum: return a < b ? a : b;
    case Kind::maximum: return a < b ? b : a;
    case Kind::equal: return a == b;
    case Kind::not_equal: return a != b;
    case Kind::less: return a < b;
    case Kind::less_equal: return a <= b;
    case Kind::greater: return a > b;
    case Kind::greater_equal: return a >= b;
    case Kind::logical_and: return a != 0 && b != 0;
    case Kind::logical_or: return a != 0 || b != 0;
    default: return std::nullopt;
  }
}

void Scope::set(std::string_view name, Index value) { values_.insert_or_assign(std::string(name), value); }

void Scope::erase(std::string_view name) {
  if (const auto at = values_.find(name); at != values_.end()) values_.erase(at);
}

const Index* Scope::find(std::string_view name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : &at->second;
}

Index ElementReader::element_on(const std::string& buffer, Index, std::span<const Index>) {
  fail(Code::invalid_argument, "what other ranks hold in {} is for `expect` only; `get` it first", buffer);
}

Index evaluate(const Expression& e, const Scope& scope, ElementReader* reader) {
  switch (e.kind()) {
    case Kind::constant: return e.value();
    case Kind::variable: return named(e, scope);
    case Kind::pick: return picked(e, scope, reader);
    case Kind::logical_not: return evaluate(e.operands()[0], scope, reader) == 0;
    case Kind::negate: {
      const Index value = evaluate(e.operands()[0], scope, reader);
      if (value == std::numeric_limits<Index>::min())
        fail(Code::invalid_argument, "`{}` is past 64 bits for {}", e.text(), value);
      return -value;
    }
    case Kind::element:
    case Kind::element_on: return read(e, scope, reader);
    case Kind::fold: fail(Code::invalid_argument, "`{}` folds what ranks hold and is for `expect` only", e.text());
    default: return combined(e, scope, reader);
  }
}

}  // namespace reshard
