// Integer expressions of symbolic programs: over the rank, the number of ranks, the call, sizes, loop variables, and
// what the rank's own memory holds.
//
// Arithmetic is in signed 64 bits and checked. Division rounds toward minus infinity and the remainder has the sign of
// the divisor, so that (me - 1) % P is the left neighbour on every rank. Comparisons and logic give 0 or 1.
//
// Thread rule: immutable. Copies share their nodes.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"
#include "reshard/reduce_op.h"

namespace reshard {

class Expression {
 public:
  enum class Kind {
    constant,  // value()
    variable,  // name(): me, P, call, a size, a loop variable or a name given by let
    negate,
    logical_not,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    minimum,
    maximum,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    logical_and,
    logical_or,
    // operands()[0] picks one of the others, counted from 0: pick(me, 4, 4, 2).
    pick,
    // One element of the buffer name(), on the rank itself, when the statement is reached: counts[d].
    element,
    // Only in expect: x@s[me, j], element operands()[1..] of the buffer name() of rank operands()[0] as the call began.
    element_on,
    // Only in expect: over name() from operands()[0] up to operands()[1], operands()[2] folded by op():
    // sum(s in 0..P, x@s[j]).
    fold,
  };

  Expression() : Expression(Index{0}) {}
  template <std::integral T>
  Expression(T value) : Expression(constant_of(static_cast<Index>(value))) {}  // NOLINT(google-explicit-constructor)
  static Expression variable(std::string name);
  static Expression make(Kind kind, std::vector<Expression> operands, std::string name = {},
                         ReduceOp op = ReduceOp::sum);

  Kind kind() const;
  Index value() const;
  const std::string& name() const;
  ReduceOp op() const;
  std::span<const Expression> operands() const;

  bool is_constant() const { return kind() == Kind::constant; }
  bool is_constant(Index value) const { return is_constant() && this->value() == value; }
  // As in the text form, with no more parentheses than it needs.
  std::string text() const;
  // The same tree.
  friend bool operator==(const Expression& a, const Expression& b);

 private:
  struct Node;
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Expression constant_of(Index value);
  std::shared_ptr<const Node> node_;
};

// Constants are folded; otherwise these build the tree as written. a == b builds the comparison by name, since == asks
// whether two trees are one.
Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator%(const Expression& a, const Expression& b);
Expression operator-(const Expression& a);
Expression operator<(const Expression& a, const Expression& b);
Expression operator<=(const Expression& a, const Expression& b);
Expression operator>(const Expression& a, const Expression& b);
Expression operator>=(const Expression& a, const Expression& b);
Expression operator&&(const Expression& a, const Expression& b);
Expression operator||(const Expression& a, const Expression& b);
Expression operator!(const Expression& a);
Expression equals(const Expression& a, const Expression& b);
Expression differs(const Expression& a, const Expression& b);
Expression min(const Expression& a, const Expression& b);
Expression max(const Expression& a, const Expression& b);
Expression pick(const Expression& which, std::vector<Expression> values);
// The least n with n * b >= a: (a + b - 1) / b.
Expression ceil_divide(const Expression& a, const Expression& b);

// What names stand for while an expression is evaluated.
class Scope {
 public:
  void set(std::string_view name, Index value);
  void erase(std::string_view name);
  const Index* find(std::string_view name) const;

 private:
  std::map<std::string, Index, std::less<>> values_;
};

// Answers Kind::element, one integer of the rank's own memory, and in rules of `expect` Kind::element_on.
class ElementReader {
 public:
  virtual ~ElementReader() = default;
  virtual Index element(const std::string& buffer, std::span<const Index> indices) = 0;
  // Throws Error(invalid_argument) unless overridden.
  virtual Index element_on(const std::string& buffer, Index rank, std::span<const Index> indices);
};

// Throws Error(invalid_argument) that quotes the expression for an unknown name, a division by zero, an overflow, a
// pick outside its list, and for an element where `reader` is null.
Index evaluate(const Expression& expression, const Scope& scope, ElementReader* reader = nullptr);
// Whether its value depends on memory.
bool reads_memory(const Expression& expression);
// Every `name` replaced by `value`.
Expression substitute(const Expression& expression, std::string_view name, const Expression& value);

}  // namespace reshard
