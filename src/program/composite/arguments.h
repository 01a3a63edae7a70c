// The arguments of one composite, looked up by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "program/composite/operand.h"
#include "reshard/program_text.h"

namespace reshard {

// What a composite does with an argument. Peers reach windows only, and what they reach must have one name everywhere.
enum class OperandUse { read, write, reached_by_peers };

// Immutable, but for the list of operands that were asked for.
class CompositeArguments {
 public:
  CompositeArguments(const SymbolicProgram& program, const Composite& composite)
      : program_(program), composite_(composite) {}

  const SymbolicProgram& program() const { return program_; }
  const std::string& name() const { return composite_.name; }
  bool has(std::string_view argument) const { return find(argument) != nullptr; }
  // Throw Error(invalid_argument) that quotes the composite and names the argument: one that is missing, of another
  // form, or not fit for its use; an operand that shares an allocation with one asked for before.
  CompositeOperand operand(std::string_view argument, OperandUse use);
  Expression number(std::string_view argument) const;
  std::string word(std::string_view argument) const;
  Expression rank(std::string_view argument) const;
  ReduceOp op(const CompositeOperand& terms) const;  // of `op`, sum unless given; one that folds such terms
  const SignalDeclaration& signal() const;
  Protocol protocol() const;  // of `protocol`, or of the signal; epoch where neither says

  // Throws unless only these arguments are given, and all of the first list.
  void require_names(std::span<const std::string_view> required, std::span<const std::string_view> optional) const;
  // Throws unless both shapes may agree, with the sizes as declared, for some number of ranks.
  void require_shape(const CompositeOperand& operand, const std::vector<Expression>& wanted,
                     std::string_view meaning) const;
  // Of the first dimension alone; throws as well where there is none.
  void require_rows(const CompositeOperand& operand, const Expression& rows, std::string_view meaning) const;
  // [P], or [P, 1].
  void require_signal_per_rank() const;
  // Whatever the number of ranks.
  void require_signal_of(Index slots) const;
  void require_signal_shape(const std::vector<Expression>& wanted) const;
  void require_same_dtype(const CompositeOperand& a, const CompositeOperand& b) const;
  void require_integers(const CompositeOperand& operand) const;

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(Code::invalid_argument, "{}: {}", text_of(Statement{composite_}),
         fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const Argument* find(std::string_view argument) const;
  const Argument& get(std::string_view argument) const;
  void require_use(const CompositeOperand& operand, const BufferDeclaration& buffer, OperandUse use) const;
  void require_static(const CompositeOperand& operand, const BufferSlice& slice, OperandUse use) const;
  void require_apart(const CompositeOperand& operand);

  const SymbolicProgram& program_;
  const Composite& composite_;
  std::vector<CompositeOperand> operands_;
};

}  // namespace reshard
