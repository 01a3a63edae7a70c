#include "program/symbolic/parse_message.h"

#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

void check_names(const ParseState& state, const ProgramToken& message, const Expression& value) {
  const ProgramToken name{ProgramToken::Kind::name, value.name(), 0, message.line, message.column};
  if (value.kind() == Expression::Kind::variable && value.name() != "call" && !state.is_number(value.name()))
    state.fail_no_number(name);
  if (value.kind() == Expression::Kind::element_on || value.kind() == Expression::Kind::fold)
    state.cursor.fail_at(message, fmt::format("`{}` is for `expect` only", value.text()));
  if (value.kind() == Expression::Kind::element) {
    const std::size_t rank = state.require_buffer(name).shape.size();
    if (value.operands().size() != rank)
      state.cursor.fail_at(message,
                           fmt::format("`{}` has {} indices, not {}", value.text(), rank, value.operands().size()));
  }
  for (const Expression& operand : value.operands()) check_names(state, message, operand);
}

Expression parse_part(const ParseState& state, const ProgramToken& message, std::string_view part) {
  try {
    return parse_expression(part);
  } catch (const Error& error) {
    state.cursor.fail_at(message, fmt::format("{{{}}}: {}", part, error.what()));
  }
}

}  // namespace

std::string parse_message(ParseState& state) {
  if (!state.cursor.at(ProgramToken::Kind::string)) state.cursor.fail_expected("a message in quotes");
  ProgramToken message = state.cursor.next();
  const std::string_view text = message.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at), close = text.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    check_names(state, message, parse_part(state, message, text.substr(open + 1, close - open - 1)));
    at = close + 1;
  }
  return std::move(message.text);
}

}  // namespace reshard
