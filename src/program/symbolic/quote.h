// Statements in messages: their first line, as written or with numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

std::string quote(const Statement& statement);
// Names that `scope` knows are replaced by their values.
std::string quote_with_numbers(const Statement& statement, const Scope& scope);
Expression with_numbers(const Expression& expression, const Scope& scope);
// `message` with each {expression} replaced by its value.
std::string with_values(const std::string& message, const Scope& scope, ElementReader* reader);
// The {expressions} of a message.
std::vector<Expression> values_in(std::string_view message);
// "put", "get", "copy".
std::string_view word_of(OpCode code);

}  // namespace reshard
