#include "reshard/lower.h"

#include "program/composite/names_in_use.h"
#include "program/composite/numbering.h"
#include "program/composite/simplify.h"
#include "program/composite/table.h"

namespace reshard {
namespace {

class CompositeLowering {
 public:
  explicit CompositeLowering(const SymbolicProgram& program)
      : program_(program),
        kernel_(program),
        names_(names_in_use(program)),
        in_call_(rounds_of(program, program.body)) {}

  SymbolicProgram run() && {
    write(program_.body, {});
    return std::move(kernel_).take();
  }

 private:
  // `before`: the rounds of this call that come before.
  void write(const Body& body, RoundCounts before) {
    for (const Statement& statement : body) {
      if (const auto* composite = std::get_if<Composite>(&statement.form))
        before = joined(before, write(*composite, before));
      else if (const auto* loop = std::get_if<For>(&statement.form))
        before = joined(before, write(*loop, before));
      else if (const auto* branch = std::get_if<If>(&statement.form))
        write(*branch, before);
      else if (const auto* let = std::get_if<Let>(&statement.form))
        kernel_.let(let->name, let->value);
      else
        kernel_.statement(statement);
    }
  }

  RoundCounts write(const For& loop, const RoundCounts& before) {
    if (loop.peers) {
      kernel_.each_peer([&](const Expression&) { write(loop.body, before); }, loop.variable);
      return {};
    }
    const RoundCounts counts = rounds_of(program_, loop.body);
    kernel_.each(
        loop.from, loop.to,
        [&](const Expression& at) { write(loop.body, joined(before, repeated(counts, less(at, loop.from)))); },
        loop.variable);
    return repeated(counts, trips_of(loop));
  }

  void write(const If& branch, const RoundCounts& before) {
    std::function<void()> otherwise;
    if (!branch.otherwise.empty()) otherwise = [&] { write(branch.otherwise, before); };
    kernel_.when(
        branch.condition, [&] { write(branch.then, before); }, otherwise);
  }

  RoundCounts write(const Composite& composite, const RoundCounts& before) {
    const CompositeArguments arguments(program_, composite);
    const CompositeKind& kind = checked_kind(arguments);
    const std::string& signal = arguments.signal().name;
    CompositeWriter writer(kernel_, arguments, {count_of(in_call_, signal), count_of(before, signal)},
                           [&](const std::string& wanted) { return fresh(wanted); });
    kind.write(writer);
    if (!only_grows(arguments.protocol())) return {};
    return {{signal, writer.rounds.made()}};
  }

  static Expression count_of(const RoundCounts& counts, const std::string& signal) {
    const auto at = counts.find(signal);
    return at == counts.end() ? Expression(0) : at->second;
  }

  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; names_.contains(name) || kernel_.fresh(name) != name; ++number)
      name = wanted + std::to_string(number);
    return name;
  }

  const SymbolicProgram& program_;
  Kernel kernel_;
  std::set<std::string> names_;
  RoundCounts in_call_;
};

bool has_composite(const Body& body) {
  for (const Statement& statement : body) {
    if (std::holds_alternative<Composite>(statement.form)) return true;
    if (const auto* loop = std::get_if<For>(&statement.form); loop != nullptr && has_composite(loop->body)) return true;
    if (const auto* branch = std::get_if<If>(&statement.form);
        branch != nullptr && (has_composite(branch->then) || has_composite(branch->otherwise)))
      return true;
  }
  return false;
}

}  // namespace

SymbolicProgram lower(const SymbolicProgram& program) {
  if (!has_composite(program.body)) return program;
  check_signal_users(program);
  return CompositeLowering(program).run();
}

std::vector<std::string_view> composite_names() {
  std::vector<std::string_view> names;
  for (const CompositeKind& kind : composite_kinds()) names.push_back(kind.name);
  return names;
}

}  // namespace reshard
