#include "program/check/edit_body.h"

#include <algorithm>

#include "reshard/program_text.h"

namespace reshard::explore {
namespace {

bool only(const Statement& statement, bool (*wanted)(const Statement&)) {
  const bool others = any_statement(statement, [&](const Statement& inner) {
    return !std::holds_alternative<For>(inner.form) && !std::holds_alternative<If>(inner.form) &&
           !std::holds_alternative<Comment>(inner.form) && !wanted(inner);
  });
  return !others && any_statement(statement, wanted);
}

}  // namespace

bool any_statement(const Statement& statement, const std::function<bool(const Statement&)>& holds) {
  if (holds(statement)) return true;
  if (const auto* loop = std::get_if<For>(&statement.form)) return any_statement(loop->body, holds);
  if (const auto* branch = std::get_if<If>(&statement.form))
    return any_statement(branch->then, holds) || any_statement(branch->otherwise, holds);
  return false;
}

bool any_statement(const Body& body, const std::function<bool(const Statement&)>& holds) {
  return std::ranges::any_of(body, [&](const Statement& statement) { return any_statement(statement, holds); });
}

void each_body(Body& body, const std::function<void(Body&)>& change) {
  change(body);
  for (Statement& statement : body) {
    if (auto* loop = std::get_if<For>(&statement.form)) each_body(loop->body, change);
    if (auto* branch = std::get_if<If>(&statement.form)) {
      each_body(branch->then, change);
      each_body(branch->otherwise, change);
    }
  }
}

void each_statement(Body& body, const std::function<void(Statement&)>& change) {
  each_body(body, [&](Body& statements) {
    for (Statement& statement : statements) change(statement);
  });
}

bool is_put(const Statement& statement) {
  const auto* move = std::get_if<DataMove>(&statement.form);
  return move != nullptr && move->code == OpCode::put;
}
bool is_notify(const Statement& statement) { return std::holds_alternative<Notify>(statement.form); }
bool is_wait(const Statement& statement) { return std::holds_alternative<Wait>(statement.form); }
bool only_waits(const Statement& statement) { return only(statement, is_wait); }
bool only_notifies(const Statement& statement) { return only(statement, is_notify); }

std::string first_line(const Statement& statement) {
  const std::string text = text_of(statement);
  return text.substr(0, text.find('\n'));
}

std::string free_name(const SymbolicProgram& program, const std::string& wanted) {
  const auto is_taken = [&](const std::string& name) {
    const bool is_size = std::ranges::any_of(program.sizes, [&](const SizeDeclaration& s) { return s.name == name; });
    return is_size || program.buffer(name) != nullptr || program.signal(name) != nullptr;
  };
  std::string name = wanted;
  for (int n = 2; is_taken(name); ++n) name = wanted + std::to_string(n);
  return name;
}

}  // namespace reshard::explore
