#include "program/composite/names_in_use.h"

namespace reshard {
namespace {

void collect(const Body& body, std::set<std::string>& names) {
  for (const Statement& statement : body) {
    if (const auto* loop = std::get_if<For>(&statement.form)) {
      names.insert(loop->variable);
      collect(loop->body, names);
    }
    if (const auto* branch = std::get_if<If>(&statement.form)) {
      collect(branch->then, names);
      collect(branch->otherwise, names);
    }
    if (const auto* let = std::get_if<Let>(&statement.form)) names.insert(let->name);
  }
}

}  // namespace

std::set<std::string> names_in_use(const SymbolicProgram& program) {
  std::set<std::string> names;
  for (const SizeDeclaration& size : program.sizes) names.insert(size.name);
  for (const BufferDeclaration& buffer : program.buffers) names.insert(buffer.name);
  for (const SignalDeclaration& signal : program.signals) names.insert(signal.name);
  for (const std::vector<ContentRule>* rules : {&program.init, &program.expect})
    for (const ContentRule& rule : *rules) names.insert(rule.indices.begin(), rule.indices.end());
  collect(program.body, names);
  return names;
}

}  // namespace reshard
