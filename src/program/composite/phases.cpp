#include "program/composite/phases.h"

#include <optional>

namespace reshard {
namespace {

std::optional<Phase> plain_phase(const Statement& statement) {
  if (const auto* move = std::get_if<DataMove>(&statement.form)) {
    if (move->code == OpCode::copy) return Phase{move->cast ? "cast" : "copy", true};
    return Phase{move->code == OpCode::put ? "put" : "get", false};
  }
  if (const auto* notify = std::get_if<Notify>(&statement.form)) {
    const bool self = !notify->slot.peer || *notify->slot.peer == Expression::variable("me");
    return Phase{self ? "notify oneself" : "notify", self};
  }
  if (std::holds_alternative<Reduce>(statement.form)) return Phase{"reduce", true};
  if (std::holds_alternative<Fill>(statement.form)) return Phase{"fill", true};
  if (std::holds_alternative<Wait>(statement.form)) return Phase{"wait", false};
  if (std::holds_alternative<Fence>(statement.form)) return Phase{"fence", false};
  if (std::holds_alternative<Require>(statement.form)) return Phase{"require", true};
  return std::nullopt;
}

void add(std::vector<Phase>& phases, Phase phase) {
  if (phases.empty() || phases.back() != phase) phases.push_back(std::move(phase));
}

std::vector<Phase> phases_in(const Body& body);

// A loop around one thing is one phase; around several, they are listed as often as they stand in it.
std::vector<Phase> phases_in(const For& loop) {
  std::vector<Phase> inner = phases_in(loop.body);
  const bool ranks = loop.from.is_constant(0) && loop.to == Expression::variable("P");
  const std::string each = loop.peers ? "each peer"
                           : ranks    ? "each rank"
                                      : "each of " + loop.from.text() + ".." + loop.to.text();
  if (inner.size() == 1) return {{inner[0].text + " " + each, inner[0].is_local}};
  for (Phase& phase : inner) phase.text = each + ": " + phase.text;
  return inner;
}

std::vector<Phase> phases_in(const Body& body) {
  std::vector<Phase> phases;
  for (const Statement& statement : body) {
    if (auto phase = plain_phase(statement)) add(phases, *phase);
    std::vector<Phase> inner;
    if (const auto* loop = std::get_if<For>(&statement.form)) inner = phases_in(*loop);
    if (const auto* branch = std::get_if<If>(&statement.form)) {
      inner = phases_in(branch->then);
      for (Phase& phase : phases_in(branch->otherwise)) inner.push_back(std::move(phase));
    }
    for (Phase& phase : inner) add(phases, std::move(phase));
  }
  return phases;
}

}  // namespace

std::vector<Phase> phases_of(const SymbolicProgram& program) { return phases_in(program.body); }

}  // namespace reshard
