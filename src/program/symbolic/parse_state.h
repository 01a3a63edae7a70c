// What the parts of the parser share: where they are, what was declared, what is in scope.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "program/symbolic/cursor.h"
#include "reshard/symbolic.h"

namespace reshard {

// Thread rule: confined.
class ParseState {
 public:
  // Names are looked up in `program`, which the parser fills as it goes.
  ParseState(std::string_view text, std::string_view source, SymbolicProgram& program)
      : cursor(text, source), program_(program) {}

  TokenCursor cursor;
  SymbolicProgram& program() { return program_; }

  // Each fails at the name where it cannot be what it is to be.
  void claim_declaration(const ProgramToken& name);
  void claim_rule_index(const ProgramToken& name);
  void claim_variable(const ProgramToken& name);
  const BufferDeclaration& require_buffer(const ProgramToken& name) const;
  const SignalDeclaration& require_signal(const ProgramToken& name) const;
  // What an expression may name, `call` aside.
  bool is_number(std::string_view name) const;
  [[noreturn]] void fail_no_number(const ProgramToken& name) const;

  void add_variable(std::string name) { variables_.push_back(std::move(name)); }
  // For an expression without its program: any name is a buffer's if an index follows, otherwise a number's.
  void allow_any_name() { any_name_ = true; }
  bool any_name() const { return any_name_; }
  // Variables claimed while it lives are forgotten with it.
  class Block {
   public:
    explicit Block(ParseState& state) : state_(state), variables_(state.variables_.size()) {}
    ~Block() { state_.variables_.resize(variables_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    ParseState& state_;
    std::size_t variables_;
  };

 private:
  void require_new(const ProgramToken& name) const;
  bool is_variable(std::string_view name) const;
  bool is_size(std::string_view name) const;

  SymbolicProgram& program_;
  std::vector<std::string> variables_;
  std::map<std::string, int, std::less<>> declared_on_line_;
  std::map<std::string, int, std::less<>> rule_index_on_line_;
  bool any_name_ = false;
};

}  // namespace reshard
