#include "program/symbolic/parse_expression.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "program/symbolic/operators.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;
using TokenKind = ProgramToken::Kind;

// With the height of its tree: a long chain of operators is as deep as many parentheses.
struct Parsed {
  Expression expression;
  int height = 1;
};

class ExpressionParser {
 public:
  ExpressionParser(ParseState& state, const ExpressionPlace& place)
      : state_(state), cursor_(state.cursor), place_(place) {}

  Parsed any() { return binary(1); }

  Parsed primary() {
    const TokenCursor::Nested nested(cursor_);
    if (cursor_.at(TokenKind::integer)) return {number(cursor_.next(), false)};
    if (cursor_.accept("(")) {
      Parsed inside = any();
      cursor_.expect(")");
      return inside;
    }
    if (!cursor_.at(TokenKind::name)) cursor_.fail_expected("an expression");
    return named(cursor_.next());
  }

 private:
  // Operators of `level` and tighter ones.
  Parsed binary(int level) {
    Parsed left = unary();
    bool compared = false;
    while (const BinaryOperator* op = binary_operator()) {
      if (op->level < level) break;
      if (compared && op->level == kComparisonLevel)
        cursor_.fail_expected("the end of the comparison", "comparisons do not chain: join two by `&&`");
      compared = op->level == kComparisonLevel;
      cursor_.next();
      left = node(op->kind, {left, binary(op->level + 1)});
    }
    return left;
  }

  const BinaryOperator* binary_operator() const {
    const auto* found =
        std::ranges::find_if(kBinaryOperators, [&](const BinaryOperator& op) { return cursor_.at(op.sign); });
    return found == std::end(kBinaryOperators) ? nullptr : found;
  }

  Parsed unary() {
    const bool minus = cursor_.at("-");
    if (!minus && !cursor_.at("!")) return primary();
    const TokenCursor::Nested nested(cursor_);
    cursor_.next();
    if (minus && cursor_.at(TokenKind::integer)) return {number(cursor_.next(), true)};
    return node(minus ? Kind::negate : Kind::logical_not, {unary()});
  }

  Expression number(const ProgramToken& token, bool negative) const {
    constexpr std::uint64_t limit = std::uint64_t{1} << 63;
    if (token.magnitude == limit && negative) return std::numeric_limits<Index>::min();
    if (token.magnitude == limit) cursor_.fail_at(token, fmt::format("`{}` is past 64 bits", token.text));
    const auto value = static_cast<Index>(token.magnitude);
    return negative ? -value : value;
  }

  Parsed node(Kind kind, std::vector<Parsed> operands, std::string name = {}, ReduceOp op = ReduceOp::sum) const {
    std::vector<Expression> expressions;
    int height = 0;
    for (Parsed& operand : operands) {
      height = std::max(height, operand.height);
      expressions.push_back(std::move(operand.expression));
    }
    if (height >= TokenCursor::kDeepest)
      cursor_.fail_at(cursor_.peek(), fmt::format("more than {} operators lie in each other; name parts by `let`",
                                                  TokenCursor::kDeepest));
    return {Expression::make(kind, std::move(expressions), std::move(name), op), height + 1};
  }

  Parsed named(const ProgramToken& name) {
    if (cursor_.at("(")) return called(name);
    if (state_.any_name() && (cursor_.at("[") || cursor_.at("@"))) return element(name, nullptr);
    if (const BufferDeclaration* buffer = state_.program().buffer(name.text)) return element(name, buffer);
    if (name.text == "call") return call(name);
    if (!state_.is_number(name.text)) state_.fail_no_number(name);
    return {Expression::variable(name.text)};
  }

  Parsed call(const ProgramToken& name) const {
    if (!place_.call) cursor_.fail_at(name, fmt::format("`call` is not known in {}", place_.name));
    return {Expression::variable(name.text)};
  }

  Parsed called(const ProgramToken& name) {
    const auto op = reduce_op_named(name.text);
    if (op && cursor_.peek(1).kind == TokenKind::name && cursor_.at("in", 2)) return fold(name, *op);
    if (name.text == "pick") return node(Kind::pick, picked(name));
    if (name.text == "min") return node(Kind::minimum, two(name));
    if (name.text == "max") return node(Kind::maximum, two(name));
    if (op) cursor_.fail_at(name, fmt::format("`{0}` folds a range in `expect`: {0}(s in 0..P, x@s[0])", name.text));
    cursor_.fail_at(name, fmt::format("no function is called `{}`; there are min, max and pick", name.text));
  }

  std::vector<Parsed> list() {
    cursor_.expect("(");
    std::vector<Parsed> operands;
    do operands.push_back(any());
    while (cursor_.accept(","));
    cursor_.expect(")");
    return operands;
  }

  std::vector<Parsed> two(const ProgramToken& name) {
    std::vector<Parsed> operands = list();
    if (operands.size() != 2)
      cursor_.fail_at(name, fmt::format("`{}` takes 2 numbers, found {}", name.text, operands.size()));
    return operands;
  }

  std::vector<Parsed> picked(const ProgramToken& name) {
    std::vector<Parsed> operands = list();
    if (operands.size() < 2) cursor_.fail_at(name, "`pick` takes a number and what it picks from: pick(me, 4, 2)");
    return operands;
  }

  Parsed fold(const ProgramToken& name, ReduceOp op) {
    if (!place_.of_peers) cursor_.fail_at(name, fmt::format("`{}` over a range is for `expect` only", name.text));
    cursor_.expect("(");
    const ProgramToken variable = cursor_.next();
    cursor_.expect("in");
    std::vector<Parsed> operands = {any()};
    cursor_.expect("..");
    operands.push_back(any());
    cursor_.expect(",");
    const ParseState::Block block(state_);
    state_.claim_variable(variable);
    operands.push_back(any());
    cursor_.expect(")");
    return node(Kind::fold, std::move(operands), variable.text, op);
  }

  // Of an unknown buffer with any number of indices.
  Parsed element(const ProgramToken& name, const BufferDeclaration* buffer) {
    if (!place_.elements) cursor_.fail_at(name, fmt::format("memory is not known in {}", place_.name));
    std::vector<Parsed> operands;
    const bool of_peer = cursor_.accept("@");
    if (of_peer && !place_.of_peers)
      cursor_.fail_at(name,
                      fmt::format("what another rank holds in `{}` is for `expect` only; `get` it first", name.text));
    if (of_peer) operands.push_back(primary());
    const std::size_t given = indices(operands, buffer != nullptr && buffer->shape.empty());
    if (buffer != nullptr && given != buffer->shape.size())
      cursor_.fail_at(
          name, fmt::format("an element of `{}` has {} indices, found {}", name.text, buffer->shape.size(), given));
    return node(of_peer ? Kind::element_on : Kind::element, std::move(operands), name.text);
  }

  // Appends "[a, b]" and says how many they were. A buffer without dimensions needs no brackets.
  std::size_t indices(std::vector<Parsed>& operands, bool optional) {
    if (optional && !cursor_.at("[")) return 0;
    cursor_.expect("[", "a buffer in an expression is one element of it");
    if (cursor_.accept("]")) return 0;
    const std::size_t before = operands.size();
    do operands.push_back(any());
    while (cursor_.accept(","));
    cursor_.expect("]");
    return operands.size() - before;
  }

  ParseState& state_;
  TokenCursor& cursor_;
  const ExpressionPlace& place_;
};

}  // namespace

Expression parse_expression(ParseState& state, const ExpressionPlace& place) {
  return ExpressionParser(state, place).any().expression;
}

Expression parse_primary(ParseState& state, const ExpressionPlace& place) {
  return ExpressionParser(state, place).primary().expression;
}

Expression parse_expression(std::string_view text) {
  SymbolicProgram nothing;
  ParseState state(text, "expression", nothing);
  state.allow_any_name();
  Expression expression = parse_expression(state, kExpectPlace);
  state.cursor.accept_line_end();
  if (!state.cursor.at(TokenKind::end)) state.cursor.fail_expected("the end of the expression");
  return expression;
}

std::vector<Expression> parse_indices(ParseState& state, const ExpressionPlace& place) {
  std::vector<Expression> indices;
  if (state.cursor.accept("]")) return indices;
  do indices.push_back(parse_expression(state, place));
  while (state.cursor.accept(","));
  state.cursor.expect("]");
  return indices;
}

}  // namespace reshard
