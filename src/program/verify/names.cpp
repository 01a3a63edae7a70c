// Declarations and names.
#include <fmt/format.h>

#include "program/symbolic/operands.h"
#include "program/verify/verify_rules.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;

class NameRules {
 public:
  NameRules(const VerifyText& text, FaultList& faults) : text_(text), program_(text.program()), faults_(faults) {}

  void find() {
    declare_all();
    for (const auto* rules : {&program_.init, &program_.expect})
      for (const ContentRule& rule : *rules)
        if (program_.buffer(rule.buffer) == nullptr)
          faults_.add("names", 0, fmt::format("a rule for {}, and no buffer has this name; declare it", rule.buffer));
    for (const NumberedStatement& at : text_.statements()) find(at);
  }

 private:
  void declare_all() {
    for (const SizeDeclaration& size : program_.sizes) declare("size", size.name);
    for (const BufferDeclaration& buffer : program_.buffers) {
      if (!buffer.viewed.empty() && !(declared_.contains(buffer.viewed) && program_.buffer(buffer.viewed) != nullptr))
        faults_.add("names", 0,
                    fmt::format("view {} is of {}, which no buffer above it is called; declare {} first", buffer.name,
                                buffer.viewed, buffer.viewed));
      declare("buffer", buffer.name);
    }
    for (const SignalDeclaration& signal : program_.signals) declare("signal", signal.name);
  }

  void declare(const std::string& kind, const std::string& name) {
    const auto [at, added] = declared_.emplace(name, kind);
    if (!added)
      faults_.add("names", 0, fmt::format("{} {} and {} {} share a name; rename one", at->second, name, kind, name));
  }

  void find(const NumberedStatement& at) {
    const Statement& statement = *at.statement;
    if (const auto* loop = std::get_if<For>(&statement.form)) give(at, loop->variable);
    if (const auto* let = std::get_if<Let>(&statement.form)) give(at, let->name);
    if (const Slot* slot = slot_of(statement); slot != nullptr && program_.signal(slot->signal) == nullptr)
      unknown(at, "signal", slot->signal);
    // Lowering finds what composites name.
    if (!std::holds_alternative<Composite>(statement.form))
      for (const SliceUse& use : slices_of(statement))
        if (program_.buffer(use.slice->buffer) == nullptr) unknown(at, "buffer", use.slice->buffer);
    each_operand(statement, [&](const Expression& operand) {
      each_part(operand, [&](const Expression& part) { find(at, part); });
    });
  }

  void find(const NumberedStatement& at, const Expression& part) {
    const std::string& name = part.name();
    if (part.kind() == Kind::element && program_.buffer(name) == nullptr) unknown(at, "buffer", name);
    if (part.kind() != Kind::variable || name == "me" || name == "P" || name == "call") return;
    const auto declared = declared_.find(name);
    const bool is_size = declared != declared_.end() && declared->second == "size";
    if (!is_size && !at.names.contains(name)) unknown(at, "size or variable", name);
  }

  void unknown(const NumberedStatement& at, std::string_view kind, const std::string& name) {
    faults_.add("names", at.number, fmt::format("no {} is called {}; declare it", kind, name));
  }

  void give(const NumberedStatement& at, const std::string& name) {
    const auto declared = declared_.find(name);
    if (declared != declared_.end())
      faults_.add("names", at.number, fmt::format("variable {} hides {} {}; rename it", name, declared->second, name));
    else if (at.names.contains(name))
      faults_.add("names", at.number, fmt::format("variable {} hides the {} around it; rename it", name, name));
  }

  const VerifyText& text_;
  const SymbolicProgram& program_;
  FaultList& faults_;
  std::map<std::string, std::string> declared_;
};

}  // namespace

void find_names(const VerifyText& text, FaultList& faults) { NameRules(text, faults).find(); }

}  // namespace reshard
