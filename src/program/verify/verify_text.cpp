#include "program/verify/verify_text.h"

#include <algorithm>

#include "program/symbolic/operands.h"

namespace reshard {
namespace {

class StatementNumbering {
 public:
  explicit StatementNumbering(std::vector<NumberedStatement>& statements) : statements_(statements) {}

  void walk(const Body& body, NumberedStatement around) {
    for (const Statement& statement : body) {
      if (std::holds_alternative<Comment>(statement.form)) continue;
      around.number = statements_.size() + 1;
      around.statement = &statement;
      statements_.push_back(around);
      if (const auto* loop = std::get_if<For>(&statement.form)) walk(*loop, around);
      if (const auto* branch = std::get_if<If>(&statement.form)) walk(*branch, around);
      if (const auto* let = std::get_if<Let>(&statement.form)) give(around, let->name, differs(let->value, around));
    }
  }

 private:
  static bool differs(const Expression& expression, const NumberedStatement& around) {
    bool found = false;
    each_part(expression, [&](const Expression& part) {
      found = found || part.kind() == Expression::Kind::element ||
              (part.kind() == Expression::Kind::variable &&
               (part.name() == "me" || around.differing.contains(part.name())));
    });
    return found;
  }

  static void give(NumberedStatement& around, const std::string& name, bool differing) {
    around.names.insert(name);
    around.differing.erase(name);
    if (differing) around.differing.insert(name);
  }

  void walk(const For& loop, NumberedStatement around) {
    const bool bounds = !loop.peers && (differs(loop.from, around) || differs(loop.to, around));
    if (bounds) around.divergence = "for " + loop.variable + " in " + loop.from.text() + ".." + loop.to.text();
    give(around, loop.variable, bounds || loop.peers);
    walk(loop.body, std::move(around));
  }

  void walk(const If& branch, NumberedStatement around) {
    if (differs(branch.condition, around)) around.divergence = "if " + branch.condition.text();
    walk(branch.then, around);
    walk(branch.otherwise, std::move(around));
  }

  std::vector<NumberedStatement>& statements_;
};

}  // namespace

VerifyText::VerifyText(const SymbolicProgram& program) : program_(program) {
  StatementNumbering(statements_).walk(program.body, {});
}

const BufferDeclaration* VerifyText::allocation(std::string_view buffer) const {
  const BufferDeclaration* found = program_.buffer(buffer);
  // Views of each other would go on for ever.
  for (std::size_t steps = program_.buffers.size(); found != nullptr && !found->viewed.empty(); --steps) {
    if (steps == 0) return nullptr;
    found = program_.buffer(found->viewed);
  }
  return found;
}

std::vector<SliceUse> slices_of(const Statement& statement) {
  std::vector<SliceUse> uses;
  if (const auto* move = std::get_if<DataMove>(&statement.form))
    uses = {{&move->source, true, false}, {&move->target, move->accumulate.has_value(), true}};
  if (const auto* fill = std::get_if<Fill>(&statement.form)) uses = {{&fill->target, false, true}};
  if (const auto* reduce = std::get_if<Reduce>(&statement.form)) {
    for (const BufferSlice& term : reduce->terms) uses.push_back({&term, true, false});
    uses.push_back({&reduce->target, false, true});
  }
  if (const auto* composite = std::get_if<Composite>(&statement.form))
    for (const Argument& argument : composite->arguments)
      if (const auto* slice = std::get_if<BufferSlice>(&argument.value)) uses.push_back({slice, true, true});
  return uses;
}

Body statements_in(const Statement& statement) {
  if (const auto* loop = std::get_if<For>(&statement.form)) return loop->body;
  const auto* branch = std::get_if<If>(&statement.form);
  if (branch == nullptr) return {};
  Body both = branch->then;
  both.insert(both.end(), branch->otherwise.begin(), branch->otherwise.end());
  return both;
}

const Slot* slot_of(const Statement& statement) {
  if (const auto* notify = std::get_if<Notify>(&statement.form)) return &notify->slot;
  if (const auto* wait = std::get_if<Wait>(&statement.form)) return &wait->slot;
  return nullptr;
}

const std::string* signal_of(const Composite& composite) {
  const auto at = std::ranges::find(composite.arguments, "signal", &Argument::name);
  return at == composite.arguments.end() ? nullptr : std::get_if<std::string>(&at->value);
}

}  // namespace reshard
