#include "program/symbolic/quote.h"

#include "program/symbolic/operands.h"
#include "reshard/program_text.h"

namespace reshard {

std::string quote(const Statement& statement) {
  const std::string text = text_of(statement);
  return text.substr(0, text.find('\n'));
}

Expression with_numbers(const Expression& expression, const Scope& scope) {
  if (expression.kind() == Expression::Kind::variable) {
    const Index* value = scope.find(expression.name());
    return value == nullptr ? expression : Expression(*value);
  }
  if (expression.operands().empty()) return expression;
  std::vector<Expression> operands;
  for (const Expression& operand : expression.operands()) operands.push_back(with_numbers(operand, scope));
  const Expression made = Expression::make(expression.kind(), std::move(operands), expression.name(), expression.op());
  for (const Expression& operand : made.operands())
    if (!operand.is_constant()) return made;
  const bool computes = made.kind() != Expression::Kind::element && made.kind() != Expression::Kind::element_on &&
                        made.kind() != Expression::Kind::fold;
  return computes ? Expression(evaluate(made, scope)) : made;
}

std::string quote_with_numbers(const Statement& statement, const Scope& scope) {
  Statement shown = statement;
  if (auto* loop = std::get_if<For>(&shown.form)) loop->body.clear();
  if (auto* condition = std::get_if<If>(&shown.form)) {
    condition->then.clear();
    condition->otherwise.clear();
  }
  each_operand(shown, [&](Expression& operand) { operand = with_numbers(operand, scope); });
  const std::string line = quote(shown);
  const bool is_head = std::holds_alternative<For>(shown.form) || std::holds_alternative<If>(shown.form);
  return is_head ? line.substr(0, line.find(" {")) : line;
}

std::vector<Expression> values_in(std::string_view message) {
  std::vector<Expression> values;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t open = message.find('{', at), close = message.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    values.push_back(parse_expression(message.substr(open + 1, close - open - 1)));
    at = close + 1;
  }
  return values;
}

std::string with_values(const std::string& message, const Scope& scope, ElementReader* reader) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t open = message.find('{', at), close = message.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return text + message.substr(at);
    const Expression value = parse_expression(std::string_view(message).substr(open + 1, close - open - 1));
    text += message.substr(at, open - at) + std::to_string(evaluate(value, scope, reader));
    at = close + 1;
  }
  return text;
}

std::string_view word_of(OpCode code) { return code == OpCode::put ? "put" : code == OpCode::get ? "get" : "copy"; }

}  // namespace reshard
