// Expressions as text, with no more parentheses than it takes to read the same tree back.
#include <fmt/format.h>

#include "program/symbolic/operators.h"
#include "reshard/expression.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;

constexpr int kUnary = 6, kPrimary = 7;

const BinaryOperator* operator_of(Kind kind) {
  for (const BinaryOperator& entry : kBinaryOperators)
    if (entry.kind == kind) return &entry;
  return nullptr;
}

std::string text_at(const Expression& e, int level);

std::string list(std::span<const Expression> operands) {
  std::string text;
  for (const Expression& operand : operands) text += (text.empty() ? "" : ", ") + text_at(operand, 0);
  return text;
}

std::string plain(const Expression& e) {
  const auto operand = [&](std::size_t i, int level) { return text_at(e.operands()[i], level); };
  switch (e.kind()) {
    case Kind::constant: return fmt::format("{}", e.value());
    case Kind::variable: return e.name();
    case Kind::negate: return "-" + operand(0, kUnary);
    case Kind::logical_not: return "!" + operand(0, kUnary);
    case Kind::minimum: return fmt::format("min({})", list(e.operands()));
    case Kind::maximum: return fmt::format("max({})", list(e.operands()));
    case Kind::pick: return fmt::format("pick({})", list(e.operands()));
    case Kind::element: return fmt::format("{}[{}]", e.name(), list(e.operands()));
    case Kind::element_on:
      return fmt::format("{}@{}[{}]", e.name(), operand(0, kPrimary), list(e.operands().subspan(1)));
    case Kind::fold:
      return fmt::format("{}({} in {}..{}, {})", name_of(e.op()), e.name(), operand(0, 1), operand(1, 1),
                         operand(2, 0));
    default: break;
  }
  const BinaryOperator& op = *operator_of(e.kind());
  const int left = op.level == kComparisonLevel ? op.level + 1 : op.level;
  return fmt::format("{} {} {}", operand(0, left), op.sign, operand(1, op.level + 1));
}

int level_of(const Expression& e) {
  if (const BinaryOperator* op = operator_of(e.kind())) return op->level;
  const bool unary = e.kind() == Kind::negate || e.kind() == Kind::logical_not || (e.is_constant() && e.value() < 0);
  return unary ? kUnary : kPrimary;
}

std::string text_at(const Expression& e, int level) { return level_of(e) < level ? "(" + plain(e) + ")" : plain(e); }

}  // namespace

std::string Expression::text() const { return text_at(*this, 0); }

}  // namespace reshard
