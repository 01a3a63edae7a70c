#include "program/symbolic/statement_reads.h"

#include <algorithm>
#include <set>

#include "program/symbolic/operands.h"
#include "program/symbolic/quote.h"

namespace reshard {
namespace {

void collect_elements(const Expression& expression, std::set<std::string>& buffers) {
  if (expression.kind() == Expression::Kind::element) buffers.insert(expression.name());
  for (const Expression& operand : expression.operands()) collect_elements(operand, buffers);
}

// What a loop body reads by element and writes in place; `calm` while it does nothing else.
struct Effects {
  std::set<std::string> read;
  std::set<std::string> written;
  bool calm = true;

  void add(const Body& body) {
    for (const Statement& statement : body) {
      each_operand(statement, [&](const Expression& operand) { collect_elements(operand, read); });
      std::visit([&](const auto& form) { add_form(form); }, statement.form);
    }
  }

 private:
  void add_form(const For& loop) { add(loop.body); }
  void add_form(const If& condition) {
    add(condition.then);
    add(condition.otherwise);
  }
  void add_form(const DataMove& move) {
    if (move.code != OpCode::put) written.insert(move.target.buffer);
  }
  void add_form(const Let&) {}
  void add_form(const Comment&) {}
  void add_form(const Notify&) {}
  template <class Other>
  void add_form(const Other&) {
    calm = false;
  }
};

}  // namespace

bool depends_on_memory(const Statement& statement) {
  bool found = false;
  each_operand(statement, [&](const Expression& operand) { found = found || reads_memory(operand); });
  if (const auto* require = std::get_if<Require>(&statement.form))
    for (const Expression& told : values_in(require->message)) found = found || reads_memory(told);
  return found;
}

bool may_read_at_once(const For& loop, const PlacedProgram& program, RankId me) {
  Effects effects;
  effects.add(loop.body);
  if (!effects.calm) return false;
  // Views are what they view.
  std::set<int> read;
  for (const std::string& name : effects.read) read.insert(program.buffer(name, me).window);
  return std::ranges::none_of(effects.written,
                              [&](const std::string& name) { return read.contains(program.buffer(name, me).window); });
}

}  // namespace reshard
