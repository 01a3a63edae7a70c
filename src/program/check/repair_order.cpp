// Repairs of the order of data and notifications: fences, moved statements, rounds, two windows in turn.
#include <fmt/format.h>

#include <algorithm>

#include "program/check/edit_body.h"
#include "program/check/repair.h"

namespace reshard::explore {
namespace {

using Position = std::ptrdiff_t;

Statement fence() { return {Fence{}}; }

// Before each notification that puts come before without a fence. Returns what the first of them stands in.
std::string add_missing_fences(Body& body) {
  std::string first;
  bool open = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const bool puts = any_statement(body[i], is_put), notifies = any_statement(body[i], is_notify);
    if (open && notifies && !puts) {
      if (first.empty()) first = first_line(body[i]);
      body.insert(body.begin() + static_cast<Position>(i++), fence());
    }
    open = puts || (open && !notifies && !std::holds_alternative<Fence>(body[i].form));
  }
  return first;
}

Position first_put(const Body& body) {
  const auto at = std::ranges::find_if(body, [](const Statement& s) { return any_statement(s, is_put); });
  return at - body.begin();
}

Position last_put(const Body& body) {
  for (std::size_t i = body.size(); i-- > 0;)
    if (any_statement(body[i], is_put)) return static_cast<Position>(i);
  return -1;
}

Body round_of(const std::string& signal, const std::string& variable, bool with_fence) {
  const Expression p = Expression::variable(variable), me = Expression::variable("me");
  Body round;
  if (with_fence) round.push_back(fence());
  For tell{.variable = variable, .peers = true, .body = {}};
  tell.body.push_back({Notify{.slot = {signal, p, {me}}, .op = NotifyOp::add, .value = 1}});
  For hear{.variable = variable, .peers = true, .body = {}};
  hear.body.push_back(
      {Wait{.slot = {signal, {}, {p}}, .compare = WaitCompare::greater_equal, .value = Expression::variable("call")}});
  round.push_back({std::move(tell)});
  round.push_back({std::move(hear)});
  return round;
}

void add_round_at(const SymbolicProgram& program, Position at, std::vector<Edit>& edits) {
  SymbolicProgram changed = program;
  const std::string signal = free_name(program, "ready"), variable = free_name(program, "p");
  const bool with_fence = first_put(program.body) < at;
  const Body round = round_of(signal, variable, with_fence);
  changed.signals.push_back({.name = signal, .shape = {Expression::variable("P")}});
  changed.body.insert(changed.body.begin() + at, round.begin(), round.end());
  std::string added;
  for (const Statement& statement : round) added += (added.empty() ? "" : "; ") + first_line(statement);
  const bool at_end = at == static_cast<Position>(program.body.size());
  edits.push_back(
      {fmt::format(
           "add a round in which all ranks say that they have come this far, with signal {}[P]\n"
           "  {}\n  add: {}",
           signal,
           at_end ? "at the end" : fmt::format("before: {}", first_line(program.body[static_cast<std::size_t>(at)])),
           added),
       std::move(changed)});
}

// Moves statement `from` of the body behind statement `to`.
void move_behind(Body& body, Position from, Position to) {
  std::rotate(body.begin() + from, body.begin() + from + 1, body.begin() + to + 1);
}

void add_dimension(BufferSlice& slice, const std::string& window) {
  if (slice.buffer != window) return;
  const Expression turn = Expression::variable("call") % Expression(2);
  slice.selections.insert(slice.selections.begin(), {.kind = Selection::Kind::at, .from = turn});
}

void add_dimension(Statement& statement, const std::string& window) {
  if (auto* move = std::get_if<DataMove>(&statement.form)) {
    add_dimension(move->target, window);
    add_dimension(move->source, window);
  }
  if (auto* reduce = std::get_if<Reduce>(&statement.form)) {
    add_dimension(reduce->target, window);
    for (BufferSlice& term : reduce->terms) add_dimension(term, window);
  }
  if (auto* fill = std::get_if<Fill>(&statement.form)) add_dimension(fill->target, window);
}

bool has_rules_or_views(const SymbolicProgram& program, const std::string& window) {
  const auto names = [&](const ContentRule& rule) { return rule.buffer == window; };
  return std::ranges::any_of(program.init, names) || std::ranges::any_of(program.expect, names) ||
         std::ranges::any_of(program.buffers, [&](const BufferDeclaration& b) { return b.viewed == window; });
}

}  // namespace

void add_fences(const SymbolicProgram& program, std::vector<Edit>& edits) {
  SymbolicProgram changed = program;
  std::string where;
  each_body(changed.body, [&](Body& body) {
    const std::string first = add_missing_fences(body);
    if (where.empty()) where = first;
  });
  if (where.empty()) return;
  edits.push_back({fmt::format("fence what was put before it is announced\n  before: {}\n  add: fence", where),
                   std::move(changed)});
}

// For sources that are written again while a put may still read them.
void fence_each_put(const SymbolicProgram& program, std::vector<Edit>& edits) {
  SymbolicProgram changed = program;
  std::string where;
  each_body(changed.body, [&](Body& body) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const bool fenced = i + 1 < body.size() && std::holds_alternative<Fence>(body[i + 1].form);
      if (!is_put(body[i]) || fenced) continue;
      if (where.empty()) where = first_line(body[i]);
      body.insert(body.begin() + static_cast<Position>(++i), fence());
    }
  });
  if (where.empty()) return;
  edits.push_back({fmt::format("let a put end before its source is written again\n  behind: {}\n  add: fence", where),
                   std::move(changed)});
}

void move_notifications(const SymbolicProgram& program, std::vector<Edit>& edits) {
  const Position last = last_put(program.body);
  for (Position i = 0; i < last; ++i) {
    const Statement& moved = program.body[static_cast<std::size_t>(i)];
    if (!only_notifies(moved)) continue;
    SymbolicProgram changed = program;
    const std::string behind = first_line(program.body[static_cast<std::size_t>(last)]);
    move_behind(changed.body, i, last);
    changed.body.insert(changed.body.begin() + last, fence());
    edits.push_back(
        {fmt::format("announce data once it is fenced\n  behind: {}\n  move: fence; {}", behind, first_line(moved)),
         std::move(changed)});
  }
}

void move_waits(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < program.body.size(); ++i) {
    if (!only_waits(program.body[i])) continue;
    for (std::size_t to = i + 1; to < program.body.size(); ++to) {
      if (!any_statement(program.body[to], is_notify)) continue;
      SymbolicProgram changed = program;
      move_behind(changed.body, static_cast<Position>(i), static_cast<Position>(to));
      edits.push_back({fmt::format("notify before waiting\n  behind: {}\n  move: {}", first_line(program.body[to]),
                                   first_line(program.body[i])),
                       std::move(changed)});
    }
  }
}

void add_rounds(const SymbolicProgram& program, std::vector<Edit>& edits) {
  const auto end = static_cast<Position>(program.body.size());
  const Position first = first_put(program.body);
  add_round_at(program, first == end ? 0 : first, edits);
  for (Position at = 0; at <= end; ++at) {
    const bool at_comment =
        at < end && std::holds_alternative<Comment>(program.body[static_cast<std::size_t>(at)].form);
    if (at != first && !at_comment) add_round_at(program, at, edits);
  }
}

void double_windows(const SymbolicProgram& program, std::vector<Edit>& edits) {
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const BufferDeclaration& window = program.buffers[b];
    if (window.role != BufferRole::window || !window.viewed.empty() || has_rules_or_views(program, window.name))
      continue;
    SymbolicProgram changed = program;
    changed.buffers[b].shape.insert(changed.buffers[b].shape.begin(), Expression(2));
    each_statement(changed.body, [&](Statement& statement) { add_dimension(statement, window.name); });
    edits.push_back(
        {fmt::format("take two windows in turn\n  declare: {0} with a leading dimension of 2\n  change: every "
                     "{0} to {0}[call % 2]",
                     window.name),
         std::move(changed)});
  }
}

}  // namespace reshard::explore
