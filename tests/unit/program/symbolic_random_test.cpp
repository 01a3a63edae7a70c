// Printed and read back, a program is the same: the same text, and the same tree as an own printer shows it, which
// writes all parentheses and shares no code with the text form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reshard/program_text.h"
#include "unit/program/random_program.h"

using namespace reshard;

namespace {

std::string tree(const Expression& e) {
  std::string text =
      fmt::format("({} {} {} {}", static_cast<int>(e.kind()), e.value(), e.name(), static_cast<int>(e.op()));
  for (const Expression& operand : e.operands()) text += " " + tree(operand);
  return text + ")";
}

std::string tree(const std::vector<Expression>& expressions) {
  std::string text = "[";
  for (const Expression& e : expressions) text += tree(e);
  return text + "]";
}

std::string tree(const std::optional<Expression>& e) { return e ? tree(*e) : "none"; }
std::string tree(const std::optional<ReduceOp>& op) { return op ? std::to_string(static_cast<int>(*op)) : "none"; }
std::string tree(const Slot& slot) { return slot.signal + tree(slot.peer) + tree(slot.indices); }
std::string tree(const std::string& word) { return "\"" + word + "\""; }

std::string tree(const BufferSlice& slice) {
  std::string text = slice.buffer + tree(slice.peer);
  for (const Selection& s : slice.selections)
    text += fmt::format(" {}:{}:{}", static_cast<int>(s.kind), tree(s.from), tree(s.to));
  return text + ";";
}

std::string tree(const Body& body);

struct Tree {
  std::string operator()(const For& form) const {
    return fmt::format("for {} {} {} {} {}", form.variable, tree(form.from), tree(form.to), form.peers,
                       tree(form.body));
  }
  std::string operator()(const If& form) const {
    return fmt::format("if {} {} {}", tree(form.condition), tree(form.then), tree(form.otherwise));
  }
  std::string operator()(const Let& form) const { return "let " + form.name + tree(form.value); }
  std::string operator()(const DataMove& form) const {
    return fmt::format("move {} {} {} {} {}", static_cast<int>(form.code), tree(form.target), tree(form.source),
                       tree(form.accumulate), form.cast);
  }
  std::string operator()(const Reduce& form) const {
    std::string text = fmt::format("reduce {} {}", tree(form.target), static_cast<int>(form.op));
    for (const BufferSlice& term : form.terms) text += " " + tree(term);
    return text;
  }
  std::string operator()(const Fill& form) const {
    return fmt::format("fill {} {} {}", tree(form.target), tree(form.value), tree(form.identity));
  }
  std::string operator()(const Notify& form) const {
    return fmt::format("notify {} {} {}", tree(form.slot), static_cast<int>(form.op), tree(form.value));
  }
  std::string operator()(const Wait& form) const {
    return fmt::format("wait {} {} {}", tree(form.slot), static_cast<int>(form.compare), tree(form.value));
  }
  std::string operator()(const Fence&) const { return "fence"; }
  std::string operator()(const Require& form) const { return "require " + tree(form.condition) + form.message; }
  std::string operator()(const Comment& form) const { return "comment " + form.text; }
  std::string operator()(const Composite& form) const {
    std::string text = "composite " + form.name;
    for (const Argument& argument : form.arguments)
      text += " " + argument.name + "=" + std::visit([](const auto& value) { return tree(value); }, argument.value);
    return text;
  }
};

std::string tree(const Body& body) {
  std::string text = "{";
  for (const Statement& statement : body) text += std::visit(Tree{}, statement.form) + "\n";
  return text + "}";
}

std::string tree(const Comments& comments) { return fmt::format("{}", fmt::join(comments, "#")); }

std::string tree(const ContentRule& rule) {
  return fmt::format("{} {} {} {} {}\n", rule.buffer, fmt::join(rule.indices, " "), tree(rule.value), tree(rule.where),
                     tree(rule.comments));
}

std::string tree(const SymbolicProgram& program) {
  std::string text = program.name + tree(program.comments) + "\n";
  for (const SizeDeclaration& size : program.sizes)
    text += fmt::format("size {} {} {}\n", size.name, size.value, tree(size.comments));
  for (const BufferDeclaration& buffer : program.buffers)
    text += fmt::format("buffer {} {} {} {} {} {} {}\n", static_cast<int>(buffer.role), buffer.name,
                        static_cast<int>(buffer.dtype), tree(buffer.shape), buffer.viewed, tree(buffer.offset_bytes),
                        tree(buffer.comments));
  for (const SignalDeclaration& signal : program.signals)
    text += fmt::format("signal {} {} {} {} {} {}\n", signal.name, tree(signal.shape), signal.bits,
                        signal.protocol ? static_cast<int>(*signal.protocol) : -1, tree(signal.starts),
                        tree(signal.comments));
  for (const ContentRule& rule : program.init) text += "init " + tree(rule);
  for (const ContentRule& rule : program.expect) text += "expect " + tree(rule);
  return text + tree(program.body);
}

TEST(SymbolicRandom, PrintedAndReadBackProgramsAreTheSame) {
  Random random(seed_from_environment());
  for (int i = 0; i < 3000; ++i) {
    const SymbolicProgram program = random_program(random);
    const std::string text = text_of(program);
    const SymbolicProgram read = parse_program(text);
    ASSERT_EQ(text_of(read), text) << "program " << i;
    ASSERT_EQ(tree(read), tree(program)) << "program " << i << "\n" << text;
  }
}

}  // namespace
