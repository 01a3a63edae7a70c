// What a composite writes its primitive statements with.
#pragma once

#include <functional>
#include <string>

#include "program/composite/arguments.h"
#include "program/composite/rounds.h"

namespace reshard {

// A name that neither the lowered program so far nor the one that is lowered uses.
using FreshName = std::function<std::string(const std::string& wanted)>;

class CompositeWriter {
 public:
  CompositeWriter(Kernel& to, CompositeArguments given, const RoundNumbers& numbers, FreshName fresh);

  CompositeArguments arguments;
  Kernel& kernel;
  CompositeRounds rounds;

  Expression me() const { return kernel.me(); }
  Expression ranks() const { return kernel.ranks(); }

  // Names what comes next: "# all_to_all: push".
  void phase(const std::string& title);
  void round(const std::string& title);
  // The one that protocols of one round do without.
  void second_round(const std::string& title);
  bool has_two_rounds() const;
  void finish();

  // Of two halves that take turns from call to call (parity), the one of this call; otherwise all of it.
  CompositeOperand turn(const CompositeOperand& operand) const;
  // Where a reduction goes: `output` where it is given, `in_place` otherwise.
  CompositeOperand result(const CompositeOperand& in_place);
  // Memory of the composite's own, under a fresh name.
  BufferRef scratch(const std::string& wanted, Dtype dtype, const std::vector<Expression>& shape);
  BufferRef scratch_window(const std::string& wanted, Dtype dtype, const std::vector<Expression>& shape);
  BufferRef flat_view(const std::string& wanted, const CompositeOperand& whole);
  Expression let(const std::string& wanted, const Expression& value);

 private:
  void require_fixed(const std::vector<Expression>& shape) const;
  FreshName fresh_;
};

}  // namespace reshard
