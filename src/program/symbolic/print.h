// Parts of the text form that statements and declarations share.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

// What a bare name in an argument would be read as; words of the same spelling are quoted.
using NumberNames = std::set<std::string, std::less<>>;

std::string list_text(const std::vector<Expression>& expressions);
std::string quoted_text(std::string_view text);
// "# one\n# two\n": one line of comment for each line of `text`.
void write_comment(std::string& out, std::string_view text, std::size_t level);
void write_statement(std::string& out, const Statement& statement, const NumberNames& names, std::size_t level);

}  // namespace reshard
