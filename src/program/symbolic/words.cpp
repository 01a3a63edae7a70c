#include "program/symbolic/words.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard {
namespace {

// Sorted.
constexpr std::string_view kWords[] = {
    "P",       "accumulate", "at",     "avg",    "bits",  "call",    "cast",    "copy",     "credits",
    "else",    "epoch",      "expect", "fence",  "fill",  "for",     "get",     "identity", "if",
    "in",      "init",       "input",  "let",    "local", "max",     "me",      "min",      "notify",
    "of",      "output",     "parity", "peers",  "pick",  "product", "program", "put",      "reduce",
    "require", "signal",     "size",   "starts", "sum",   "view",    "wait",    "window",
};
static_assert(std::ranges::is_sorted(kWords));

// Not <cctype>: its answer depends on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool is_program_name(std::string_view text) {
  return !text.empty() && starts_name(text[0]) &&
         std::ranges::all_of(text, [](char c) { return starts_name(c) || is_digit(c); });
}

bool is_program_word(std::string_view name) { return std::ranges::binary_search(kWords, name); }

bool is_index_name(std::string_view name) {
  return name.size() > 1 && name[0] == 'i' && std::ranges::all_of(name.substr(1), is_digit);
}

void require_name(std::string_view name) {
  if (!is_program_name(name))
    fail(Code::invalid_argument, "`{}` is no name; names are letters, digits and _, and begin with no digit", name);
}

void require_declarable(std::string_view name) {
  require_name(name);
  if (is_program_word(name)) fail(Code::invalid_argument, "`{}` is a word of the language; choose another name", name);
  if (is_index_name(name)) fail(Code::invalid_argument, "`{}` stands for an index in rules; choose another name", name);
}

}  // namespace reshard
