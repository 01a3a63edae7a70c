#include "program/composite/numbering.h"

#include <algorithm>

#include "program/composite/simplify.h"
#include "program/composite/table.h"

namespace reshard {
namespace {

bool is_of_sizes(const SymbolicProgram& program, const Expression& expression) {
  if (expression.kind() == Expression::Kind::variable)
    return expression.name() == "P" ||
           std::ranges::find(program.sizes, expression.name(), &SizeDeclaration::name) != program.sizes.end();
  return expression.kind() != Expression::Kind::element &&
         std::ranges::all_of(expression.operands(), [&](const Expression& e) { return is_of_sizes(program, e); });
}

// The rounds of one composite, found by writing it where nobody reads it.
Index rounds_of(const SymbolicProgram& program, const Composite& composite) {
  const CompositeArguments arguments(program, composite);
  const CompositeKind& kind = checked_kind(arguments);
  Kernel kernel(program);
  CompositeWriter writer(kernel, arguments, {}, [&](const std::string& wanted) { return kernel.fresh(wanted); });
  kind.write(writer);
  return writer.rounds.made();
}

class RoundCounter {
 public:
  explicit RoundCounter(const SymbolicProgram& program) : program_(program) {}

  RoundCounts of(const Body& body) const {
    RoundCounts counts;
    for (const Statement& statement : body) counts = joined(counts, of(statement));
    return counts;
  }

 private:
  RoundCounts of(const Statement& statement) const {
    if (const auto* composite = std::get_if<Composite>(&statement.form)) return of(*composite);
    if (const auto* loop = std::get_if<For>(&statement.form)) return of(*loop);
    if (const auto* branch = std::get_if<If>(&statement.form)) return of(*branch);
    return {};
  }

  RoundCounts of(const Composite& composite) const {
    const Index rounds = rounds_of(program_, composite);
    const CompositeArguments arguments(program_, composite);
    if (!only_grows(arguments.protocol())) return {};
    return {{arguments.signal().name, rounds}};
  }

  RoundCounts of(const For& loop) const {
    const RoundCounts counts = of(loop.body);
    if (counts.empty()) return {};
    if (loop.peers)
      fail(Code::invalid_argument,
           "signal {}: its rounds cannot be numbered in `for {} in peers`, where ranks differ; use the protocol "
           "credits-2",
           counts.begin()->first, loop.variable);
    for (const Expression& bound : {loop.from, loop.to})
      if (!is_of_sizes(program_, bound))
        fail(
            Code::invalid_argument,
            "signal {}: its rounds cannot be numbered in a loop up to `{}`, which is no expression of sizes and P; use "
            "the protocol credits-2",
            counts.begin()->first, bound.text());
    return repeated(counts, trips_of(loop));
  }

  RoundCounts of(const If& branch) const {
    RoundCounts counts = of(branch.then);
    if (counts.empty()) counts = of(branch.otherwise);
    if (!counts.empty())
      fail(Code::invalid_argument,
           "signal {}: its rounds cannot be numbered under `if {}`; use the protocol credits-2, or move the composite "
           "out",
           counts.begin()->first, branch.condition.text());
    return {};
  }

  const SymbolicProgram& program_;
};

}  // namespace

Expression trips_of(const For& loop) {
  const Expression trips = less(loop.to, loop.from);
  const bool certain = trips.is_constant() || (loop.from.is_constant(0) && loop.to == Expression::variable("P"));
  return certain && !(trips.is_constant() && trips.value() < 0) ? trips : max(trips, 0);
}

RoundCounts joined(const RoundCounts& a, const RoundCounts& b) {
  RoundCounts counts = a;
  for (const auto& [signal, count] : b) {
    const auto [at, added] = counts.emplace(signal, count);
    if (!added) at->second = plus(at->second, count);
  }
  return counts;
}

RoundCounts repeated(const RoundCounts& counts, const Expression& times_over) {
  RoundCounts result;
  for (const auto& [signal, count] : counts) result.emplace(signal, times(times_over, count));
  return result;
}

RoundCounts rounds_of(const SymbolicProgram& program, const Body& body) { return RoundCounter(program).of(body); }

}  // namespace reshard
