// Repairs of what is notified and awaited: at least instead of exactly, counters instead of flags, all instead of one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "program/check/edit_body.h"
#include "program/check/repair.h"
#include "reshard/program_text.h"

namespace reshard::explore {
namespace {

bool is_own(const Notify& notify) { return !notify.slot.peer || *notify.slot.peer == Expression::variable("me"); }

const Notify* notify_of(const Statement& statement, const std::string& signal) {
  const auto* notify = std::get_if<Notify>(&statement.form);
  return notify != nullptr && notify->slot.signal == signal ? notify : nullptr;
}

const Wait* wait_of(const Statement& statement, const std::string& signal) {
  const auto* wait = std::get_if<Wait>(&statement.form);
  return wait != nullptr && wait->slot.signal == signal ? wait : nullptr;
}

bool is_reset(const Statement& statement, const std::string& signal) {
  const Notify* notify = notify_of(statement, signal);
  return notify != nullptr && notify->op == NotifyOp::set && notify->value.is_constant(0) && is_own(*notify);
}

// The greatest number that is waited for; none where one is not constant.
std::optional<Index> greatest_awaited(const SymbolicProgram& program, const std::string& signal) {
  std::optional<Index> greatest = 0;
  any_statement(program.body, [&](const Statement& statement) {
    const Wait* wait = wait_of(statement, signal);
    if (wait == nullptr || !greatest) return false;
    greatest = wait->value.is_constant() ? std::optional(std::max(*greatest, wait->value.value())) : std::nullopt;
    return false;
  });
  return greatest;
}

// Leaves out the statements for which `drops` holds, and loops that are empty then.
void drop(Body& body, const std::function<bool(const Statement&)>& drops) {
  std::erase_if(body, [&](Statement& statement) {
    if (drops(statement)) return true;
    if (auto* loop = std::get_if<For>(&statement.form)) {
      drop(loop->body, drops);
      return loop->body.empty();
    }
    return false;
  });
}

bool mentions_call(const Expression& e) {
  return e == Expression::variable("call") || std::ranges::any_of(e.operands(), mentions_call);
}

// Flags: set to 1, or to the call, and perhaps reset.
bool is_flag(const SymbolicProgram& program, const std::string& signal) {
  bool fits = false, other = false;
  any_statement(program.body, [&](const Statement& statement) {
    const Notify* notify = notify_of(statement, signal);
    if (notify == nullptr) return false;
    const bool sets_one = notify->value.is_constant(1) || notify->value == Expression::variable("call");
    const bool flag = notify->op == NotifyOp::set && sets_one;
    fits = fits || flag;
    other = other || !(flag || is_reset(statement, signal));
    return false;
  });
  return fits && !other;
}

// Of what waits look for in one call, what it is after all calls.
Expression over_calls(const Expression& awaited) {
  const Expression call = Expression::variable("call");
  if (mentions_call(awaited)) return awaited;
  return awaited.is_constant(1) ? call : awaited * call;
}

}  // namespace

void wait_for_at_least(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (const SignalDeclaration& signal : program.signals) {
    SymbolicProgram changed = program;
    std::string where;
    each_statement(changed.body, [&](Statement& statement) {
      if (wait_of(statement, signal.name) == nullptr) return;
      auto& wait = std::get<Wait>(statement.form);
      if (wait.compare != WaitCompare::equal) return;
      if (where.empty()) where = text_of(statement);
      wait.compare = WaitCompare::greater_equal;
    });
    if (where.empty()) continue;
    edits.push_back(
        {fmt::format("a counter may have moved on: wait for at least as much\n  at: {}\n  change: == to >= in "
                     "every wait for {}",
                     where, signal.name),
         std::move(changed)});
  }
}

// They become counters of calls; resets of them go.
void count_calls(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (const SignalDeclaration& signal : program.signals) {
    if (!is_flag(program, signal.name)) continue;
    SymbolicProgram changed = program;
    drop(changed.body, [&](const Statement& statement) { return is_reset(statement, signal.name); });
    each_statement(changed.body, [&](Statement& statement) {
      if (notify_of(statement, signal.name) != nullptr) {
        auto& notify = std::get<Notify>(statement.form);
        notify.op = NotifyOp::add;
        notify.value = 1;
      }
      if (wait_of(statement, signal.name) != nullptr) {
        auto& wait = std::get<Wait>(statement.form);
        wait.value = over_calls(wait.value);
        wait.compare = WaitCompare::greater_equal;
      }
    });
    edits.push_back(
        {fmt::format("a flag does not tell calls or senders apart: count\n  at: every notify and wait of {0}\n  "
                     "change: what is set to += 1, and waits to >= as much as all calls so far add; no resets",
                     signal.name),
         std::move(changed)});
  }
}

// Counters that are told how far the sender is grow faster than what waits look for.
void add_one_each(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (const SignalDeclaration& signal : program.signals) {
    SymbolicProgram changed = program;
    std::string where;
    each_statement(changed.body, [&](Statement& statement) {
      const Notify* notify = notify_of(statement, signal.name);
      if (notify == nullptr || notify->op != NotifyOp::add || notify->value.is_constant()) return;
      if (where.empty()) where = text_of(statement);
      std::get<Notify>(statement.form).value = 1;
    });
    if (where.empty()) continue;
    edits.push_back(
        {fmt::format("a sum outruns what is waited for: add 1 each time\n  at: {}\n  change: to += 1", where),
         std::move(changed)});
  }
}

void subtract_instead_of_reset(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (const SignalDeclaration& signal : program.signals) {
    const std::optional<Index> credits = greatest_awaited(program, signal.name);
    if (!credits || *credits == 0) continue;
    SymbolicProgram changed = program;
    std::string where;
    each_statement(changed.body, [&](Statement& statement) {
      const Notify* notify = notify_of(statement, signal.name);
      if (notify == nullptr || notify->op != NotifyOp::set) return;
      const bool resets = is_reset(statement, signal.name);
      if (!resets && !notify->value.is_constant(1)) return;
      if (resets) where = text_of(statement);
      auto& adds = std::get<Notify>(statement.form);
      adds.op = NotifyOp::add;
      if (resets) adds.value = -*credits;
    });
    if (where.empty()) continue;
    edits.push_back(
        {fmt::format("a reset wipes what the next call has sent already: take away what this call used\n  at: "
                     "{}\n  change: = 0 to += -{}, and other sets of {} to +=",
                     where, *credits, signal.name),
         std::move(changed)});
  }
}

void wait_for_all(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (const SignalDeclaration& signal : program.signals) {
    if (signal.shape.size() != 1 || !(signal.shape[0] == Expression::variable("P"))) continue;
    SymbolicProgram changed = program;
    std::string where;
    each_body(changed.body, [&](Body& body) {
      for (Statement& statement : body) {
        const Wait* wait = wait_of(statement, signal.name);
        // In a loop over peers the slot is the variable.
        if (wait == nullptr || wait->slot.indices[0].kind() == Expression::Kind::variable) continue;
        if (where.empty()) where = text_of(statement);
        Wait each = *wait;
        const std::string variable = free_name(program, "p");
        each.slot.indices = {Expression::variable(variable)};
        statement.form = For{.variable = variable, .peers = true, .body = {{std::move(each)}}};
      }
    });
    if (where.empty()) continue;
    edits.push_back({fmt::format("wait for every peer, not for one\n  at: {}\n  change: to a loop over peers", where),
                     std::move(changed)});
  }
}

// Conditions around notifications that leave some ranks silent.
void notify_from_all(const SymbolicProgram& program, std::vector<Edit>& edits) {
  SymbolicProgram changed = program;
  std::string where;
  each_body(changed.body, [&](Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      auto* branch = std::get_if<If>(&body[i].form);
      if (branch == nullptr || !branch->otherwise.empty() || !any_statement(branch->then, is_notify)) continue;
      if (where.empty()) where = first_line(body[i]);
      Body then = std::move(branch->then);
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), then.begin(), then.end());
    }
  });
  if (where.empty()) return;
  edits.push_back(
      {fmt::format("let every rank notify\n  at: {}\n  change: drop the condition", where), std::move(changed)});
}

}  // namespace reshard::explore
