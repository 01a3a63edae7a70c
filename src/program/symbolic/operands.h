// Visits the expressions that decide what one statement does; not those of the statements inside it.
#pragma once

#include "reshard/symbolic.h"

namespace reshard {

// `visit` takes Expression& or const Expression&, as the statement is; one template serves both.
template <class Visit>
class OperandVisitor {
 public:
  explicit OperandVisitor(const Visit& visit) : visit_(visit) {}

  void operator()(auto& form) const requires requires { form.from; }
  {
    visit_(form.from);
    visit_(form.to);
  }
  void operator()(auto& form) const requires(requires { form.condition; }) { visit_(form.condition); }
  void operator()(auto& form) const requires(requires { form.target; }) {
    slice(form.target);
    if constexpr (requires { form.source; }) slice(form.source);
    if constexpr (requires { form.terms; })
      for (auto& term : form.terms) slice(term);
    if constexpr (requires { form.value; }) visit_(form.value);
  }
  void operator()(auto& form) const requires(
      requires { form.value; } && !requires { form.target; }) {
    if constexpr (requires { form.slot; }) slot(form.slot);
    visit_(form.value);
  }
  void operator()(auto& form) const requires(requires { form.arguments; }) {
    for (auto& argument : form.arguments) {
      if (auto* part = std::get_if<BufferSlice>(&argument.value)) slice(*part);
      if (auto* number = std::get_if<Expression>(&argument.value)) visit_(*number);
    }
  }
  void operator()(const Fence&) const {}
  void operator()(const Comment&) const {}

 private:
  void slice(auto& part) const {
    if (part.peer) visit_(*part.peer);
    for (auto& selection : part.selections) {
      visit_(selection.from);
      visit_(selection.to);
    }
  }
  void slot(auto& cell) const {
    if (cell.peer) visit_(*cell.peer);
    for (auto& index : cell.indices) visit_(index);
  }
  const Visit& visit_;
};

template <class AnyStatement, class Visit>
void each_operand(AnyStatement& statement, const Visit& visit) {
  std::visit(OperandVisitor<Visit>(visit), statement.form);
}

}  // namespace reshard
