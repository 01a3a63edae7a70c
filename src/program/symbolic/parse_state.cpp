#include "program/symbolic/parse_state.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "program/symbolic/words.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// "; there are x, y", or nothing.
template <class Declaration>
std::string choices(const std::vector<Declaration>& declarations) {
  std::vector<std::string_view> names;
  for (const Declaration& declaration : declarations) names.push_back(declaration.name);
  return names.empty() ? "; declare it before the first statement"
                       : fmt::format("; there are {}", fmt::join(names, ", "));
}

}  // namespace

bool ParseState::is_variable(std::string_view name) const {
  return std::ranges::find(variables_, name) != variables_.end();
}

bool ParseState::is_size(std::string_view name) const {
  return std::ranges::find(program_.sizes, name, &SizeDeclaration::name) != program_.sizes.end();
}

bool ParseState::is_number(std::string_view name) const {
  if (name == "me" || name == "P" || is_size(name) || is_variable(name)) return true;
  return any_name_ && !is_program_word(name);
}

void ParseState::require_new(const ProgramToken& name) const {
  if (is_program_word(name.text))
    cursor.fail_at(name, fmt::format("`{}` is a word of the language; choose another name", name.text));
  if (const auto at = declared_on_line_.find(name.text); at != declared_on_line_.end())
    cursor.fail_at(name, fmt::format("`{}` is declared on line {}; choose another name", name.text, at->second));
  if (is_variable(name.text)) cursor.fail_at(name, fmt::format("`{}` is in use here; choose another name", name.text));
}

void ParseState::claim_declaration(const ProgramToken& name) {
  require_new(name);
  if (is_index_name(name.text))
    cursor.fail_at(name, fmt::format("`{}` stands for an index in rules; choose another name", name.text));
  if (const auto at = rule_index_on_line_.find(name.text); at != rule_index_on_line_.end())
    cursor.fail_at(name,
                   fmt::format("`{}` is an index of the rule on line {}; choose another name", name.text, at->second));
  declared_on_line_.emplace(name.text, name.line);
}

void ParseState::claim_rule_index(const ProgramToken& name) {
  claim_variable(name);
  rule_index_on_line_.emplace(name.text, name.line);
}

void ParseState::claim_variable(const ProgramToken& name) {
  require_new(name);
  variables_.push_back(name.text);
}

const BufferDeclaration& ParseState::require_buffer(const ProgramToken& name) const {
  if (const BufferDeclaration* buffer = program_.buffer(name.text)) return *buffer;
  if (program_.signal(name.text) != nullptr)
    cursor.fail_at(name, fmt::format("`{}` is a signal; a buffer goes here", name.text));
  cursor.fail_at(name, fmt::format("no buffer is called `{}`{}", name.text, choices(program_.buffers)));
}

const SignalDeclaration& ParseState::require_signal(const ProgramToken& name) const {
  if (const SignalDeclaration* signal = program_.signal(name.text)) return *signal;
  if (program_.buffer(name.text) != nullptr)
    cursor.fail_at(name, fmt::format("`{}` is a buffer; a signal goes here", name.text));
  cursor.fail_at(name, fmt::format("no signal is called `{}`{}", name.text, choices(program_.signals)));
}

void ParseState::fail_no_number(const ProgramToken& name) const {
  if (program_.signal(name.text) != nullptr)
    cursor.fail_at(name, fmt::format("`{}` is a signal and no number; `wait` looks at it", name.text));
  if (is_program_word(name.text))
    cursor.fail_at(name, fmt::format("expected an expression, found the word `{}`", name.text));
  cursor.fail_at(name, fmt::format("no number is called `{}` here; there are me, P, the sizes and the variables of "
                                   "the blocks around",
                                   name.text));
}

}  // namespace reshard
