#include "program/composite/rename.h"

#include "program/symbolic/operands.h"
#include "program/symbolic/words.h"

namespace reshard {
namespace {

class Renamer {
 public:
  explicit Renamer(const Renaming& to) : to_(to) {}

  void body(Body& statements) const {
    for (Statement& statement : statements) {
      each_operand(statement, [&](Expression& operand) { operand = renamed(operand, to_); });
      std::visit([&](auto& form) { names_of(form); }, statement.form);
    }
  }

 private:
  void name(std::string& text) const { text = to_(text); }
  void names_of(For& loop) const {
    name(loop.variable);
    body(loop.body);
  }
  void names_of(If& branch) const {
    body(branch.then);
    body(branch.otherwise);
  }
  void names_of(Let& let) const { name(let.name); }
  void names_of(DataMove& move) const {
    name(move.target.buffer);
    name(move.source.buffer);
  }
  void names_of(Reduce& reduce) const {
    name(reduce.target.buffer);
    for (BufferSlice& term : reduce.terms) name(term.buffer);
  }
  void names_of(Fill& fill) const { name(fill.target.buffer); }
  void names_of(Notify& notify) const { name(notify.slot.signal); }
  void names_of(Wait& wait) const { name(wait.slot.signal); }
  template <class Nameless>
  void names_of(Nameless&) const {}

  const Renaming& to_;
};

}  // namespace

Expression renamed(const Expression& expression, const Renaming& to) {
  const bool has_name = !expression.name().empty() && !is_program_word(expression.name());
  std::vector<Expression> operands;
  for (const Expression& operand : expression.operands()) operands.push_back(renamed(operand, to));
  if (expression.is_constant()) return expression;
  return Expression::make(expression.kind(), std::move(operands), has_name ? to(expression.name()) : expression.name(),
                          expression.op());
}

void rename_body(Body& body, const Renaming& to) { Renamer(to).body(body); }

void rename_program(SymbolicProgram& program, const Renaming& to) {
  for (SizeDeclaration& size : program.sizes) size.name = to(size.name);
  for (BufferDeclaration& buffer : program.buffers) {
    buffer.name = to(buffer.name);
    if (!buffer.viewed.empty()) buffer.viewed = to(buffer.viewed);
    for (Expression& extent : buffer.shape) extent = renamed(extent, to);
    buffer.offset_bytes = renamed(buffer.offset_bytes, to);
  }
  for (SignalDeclaration& signal : program.signals) {
    signal.name = to(signal.name);
    for (Expression& extent : signal.shape) extent = renamed(extent, to);
    signal.starts = renamed(signal.starts, to);
  }
  rename_body(program.body, to);
}

}  // namespace reshard
