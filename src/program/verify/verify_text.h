// The statements of a program in the order of the text, each with a number and what is known where it stands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct NumberedStatement {
  std::size_t number = 0;
  const Statement* statement = nullptr;
  std::set<std::string, std::less<>> names = {};  // loop variables and lets in scope
  // Of these, names whose value may differ from rank to rank: from `me`, memory, or a loop over peers.
  std::set<std::string, std::less<>> differing = {};
  // The innermost condition or bounds around it that may differ from rank to rank; empty: none.
  std::string divergence = {};
};

// Refers to the program. Immutable.
class VerifyText {
 public:
  explicit VerifyText(const SymbolicProgram& program);

  const SymbolicProgram& program() const { return program_; }
  const std::vector<NumberedStatement>& statements() const { return statements_; }
  // Numbers begin with 1, without comments; 0 stands for declarations and the whole.
  const Statement& statement(std::size_t number) const { return *statements_.at(number - 1).statement; }
  // The buffer behind views; null where there is none.
  const BufferDeclaration* allocation(std::string_view buffer) const;

  template <class Form, class Visit>
  void each(const Visit& visit) const {
    for (const NumberedStatement& numbered : statements_)
      if (const auto* form = std::get_if<Form>(&numbered.statement->form)) visit(numbered, *form);
  }

 private:
  const SymbolicProgram& program_;
  std::vector<NumberedStatement> statements_;
};

// Every slice that a statement names, and whether it is read and written. Slices of composites are both.
struct SliceUse {
  const BufferSlice* slice = nullptr;
  bool read = false;
  bool written = false;
};
std::vector<SliceUse> slices_of(const Statement& statement);
// What stands in the blocks of a loop or condition.
Body statements_in(const Statement& statement);
// Null for what is no notify or wait.
const Slot* slot_of(const Statement& statement);
// The signal named by a composite; null where it names none.
const std::string* signal_of(const Composite& composite);
// `visit` gets the expression and all that it is made of.
void each_part(const Expression& expression, const auto& visit) {
  visit(expression);
  for (const Expression& operand : expression.operands()) each_part(operand, visit);
}

}  // namespace reshard
