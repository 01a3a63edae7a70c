#include "reshard/expression.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "program/symbolic/arithmetic.h"

namespace reshard {

struct Expression::Node {
  Kind kind = Kind::constant;
  Index value = 0;
  std::string name;
  ReduceOp op = ReduceOp::sum;
  std::vector<Expression> operands;
};

Expression Expression::constant_of(Index value) {
  Node node;
  node.value = value;
  return Expression(std::make_shared<const Node>(std::move(node)));
}

Expression Expression::variable(std::string name) { return make(Kind::variable, {}, std::move(name)); }

Expression Expression::make(Kind kind, std::vector<Expression> operands, std::string name, ReduceOp op) {
  return Expression(std::make_shared<const Node>(Node{kind, 0, std::move(name), op, std::move(operands)}));
}

Expression::Kind Expression::kind() const { return node_->kind; }
Index Expression::value() const { return node_->value; }
const std::string& Expression::name() const { return node_->name; }
ReduceOp Expression::op() const { return node_->op; }
std::span<const Expression> Expression::operands() const { return node_->operands; }

bool operator==(const Expression& a, const Expression& b) {
  if (a.node_ == b.node_) return true;
  return a.kind() == b.kind() && a.value() == b.value() && a.name() == b.name() && a.op() == b.op() &&
         std::ranges::equal(a.operands(), b.operands());
}

namespace {

using Kind = Expression::Kind;

// Folded where both are constants and the result exists.
Expression binary(Kind kind, const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant())
    if (const auto value = arithmetic(kind, a.value(), b.value())) return *value;
  return Expression::make(kind, {a, b});
}

}  // namespace

Expression operator+(const Expression& a, const Expression& b) { return binary(Kind::add, a, b); }
Expression operator-(const Expression& a, const Expression& b) { return binary(Kind::subtract, a, b); }
Expression operator*(const Expression& a, const Expression& b) { return binary(Kind::multiply, a, b); }
Expression operator/(const Expression& a, const Expression& b) { return binary(Kind::divide, a, b); }
Expression operator%(const Expression& a, const Expression& b) { return binary(Kind::modulo, a, b); }
Expression operator<(const Expression& a, const Expression& b) { return binary(Kind::less, a, b); }
Expression operator<=(const Expression& a, const Expression& b) { return binary(Kind::less_equal, a, b); }
Expression operator>(const Expression& a, const Expression& b) { return binary(Kind::greater, a, b); }
Expression operator>=(const Expression& a, const Expression& b) { return binary(Kind::greater_equal, a, b); }
Expression operator&&(const Expression& a, const Expression& b) { return binary(Kind::logical_and, a, b); }
Expression operator||(const Expression& a, const Expression& b) { return binary(Kind::logical_or, a, b); }
Expression equals(const Expression& a, const Expression& b) { return binary(Kind::equal, a, b); }
Expression differs(const Expression& a, const Expression& b) { return binary(Kind::not_equal, a, b); }
Expression min(const Expression& a, const Expression& b) { return binary(Kind::minimum, a, b); }
Expression max(const Expression& a, const Expression& b) { return binary(Kind::maximum, a, b); }

Expression operator-(const Expression& a) {
  if (a.is_constant() && a.value() != std::numeric_limits<Index>::min()) return -a.value();
  return Expression::make(Kind::negate, {a});
}

Expression operator!(const Expression& a) {
  if (a.is_constant()) return Index{a.value() == 0};
  return Expression::make(Kind::logical_not, {a});
}

Expression pick(const Expression& which, std::vector<Expression> values) {
  values.insert(values.begin(), which);
  return Expression::make(Kind::pick, std::move(values));
}

Expression ceil_divide(const Expression& a, const Expression& b) { return (a + b - 1) / b; }

bool reads_memory(const Expression& expression) {
  return expression.kind() == Kind::element || std::ranges::any_of(expression.operands(), reads_memory);
}

Expression substitute(const Expression& expression, std::string_view name, const Expression& value) {
  if (expression.kind() == Kind::variable) return expression.name() == name ? value : expression;
  if (expression.operands().empty()) return expression;
  std::vector<Expression> operands;
  for (const Expression& operand : expression.operands()) {
    const bool hidden = expression.kind() == Kind::fold && expression.name() == name && operands.size() == 2;
    operands.push_back(hidden ? operand : substitute(operand, name, value));
  }
  return Expression::make(expression.kind(), std::move(operands), expression.name(), expression.op());
}

}  // namespace reshard
