// A whole program as text: declarations by kind, then the body.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/symbolic/print.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

void collect(const Body& body, NumberNames& names) {
  for (const Statement& statement : body) {
    if (const auto* loop = std::get_if<For>(&statement.form)) {
      names.insert(loop->variable);
      collect(loop->body, names);
    } else if (const auto* condition = std::get_if<If>(&statement.form)) {
      collect(condition->then, names);
      collect(condition->otherwise, names);
    } else if (const auto* let = std::get_if<Let>(&statement.form)) {
      names.insert(let->name);
    }
  }
}

// Also of variables that are not in scope where a word stands: the text then does not depend on where it is.
NumberNames names_of(const SymbolicProgram& program) {
  NumberNames names;
  for (const SizeDeclaration& size : program.sizes) names.insert(size.name);
  for (const BufferDeclaration& buffer : program.buffers) names.insert(buffer.name);
  collect(program.body, names);
  return names;
}

std::string declaration_text(const SizeDeclaration& size) { return fmt::format("size {} = {}", size.name, size.value); }

std::string declaration_text(const BufferDeclaration& buffer) {
  const bool view = !buffer.viewed.empty();
  std::string text = fmt::format("{} {} : {}[{}]", view ? "view" : name_of(buffer.role), buffer.name,
                                 name_of(buffer.dtype), list_text(buffer.shape));
  if (view) text += " of " + buffer.viewed;
  if (view && !buffer.offset_bytes.is_constant(0)) text += " at " + buffer.offset_bytes.text();
  return text;
}

std::string declaration_text(const SignalDeclaration& signal) {
  std::vector<std::string> attributes;
  if (signal.bits != 64) attributes.push_back(fmt::format("{} bits", signal.bits));
  if (signal.protocol) attributes.emplace_back(name_of(*signal.protocol));
  if (!signal.starts.is_constant(0)) attributes.push_back("starts " + signal.starts.text());
  return fmt::format("signal {}[{}]{}{}", signal.name, list_text(signal.shape), attributes.empty() ? "" : " : ",
                     fmt::join(attributes, ", "));
}

std::string rule_text(std::string_view word, const ContentRule& rule) {
  std::string text = fmt::format("{} {}", word, rule.buffer);
  if (!rule.indices.empty()) text += fmt::format("[{}]", fmt::join(rule.indices, ", "));
  text += " = " + rule.value.text();
  return rule.where.is_constant(1) ? text : text + " if " + rule.where.text();
}

void write_comments(std::string& out, const Comments& comments) {
  for (const std::string& comment : comments) write_comment(out, comment, 0);
}

template <class Declaration>
void write_declaration(std::string& out, const Declaration& declaration) {
  write_comments(out, declaration.comments);
  out += declaration_text(declaration) + "\n";
}

void write_buffers(std::string& out, const SymbolicProgram& program, bool views) {
  for (const BufferDeclaration& buffer : program.buffers)
    if (!buffer.viewed.empty() == views) write_declaration(out, buffer);
}

void write_rules(std::string& out, std::string_view word, const std::vector<ContentRule>& rules) {
  for (const ContentRule& rule : rules) {
    write_comments(out, rule.comments);
    out += rule_text(word, rule) + "\n";
  }
}

}  // namespace

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::epoch: return "epoch";
    case Protocol::credits_2: return "credits-2";
    case Protocol::credits_1: return "credits-1";
    case Protocol::parity: break;
  }
  return "parity";
}

std::string_view name_of(BufferRole role) {
  switch (role) {
    case BufferRole::window: return "window";
    case BufferRole::input: return "input";
    case BufferRole::output: return "output";
    case BufferRole::local: break;
  }
  return "local";
}

std::string text_of(const SymbolicProgram& program) {
  std::string text;
  write_comments(text, program.comments);
  text += fmt::format("program {}\n", program.name);
  for (const SizeDeclaration& size : program.sizes) write_declaration(text, size);
  write_buffers(text, program, false);
  write_buffers(text, program, true);
  for (const SignalDeclaration& signal : program.signals) write_declaration(text, signal);
  write_rules(text, "init", program.init);
  write_rules(text, "expect", program.expect);
  if (!program.body.empty()) text += "\n";
  const NumberNames names = names_of(program);
  for (const Statement& statement : program.body) write_statement(text, statement, names, 0);
  return text;
}

}  // namespace reshard
