#include "program/verify/rank_walk.h"

#include <fmt/format.h>

#include "program/symbolic/operands.h"
#include "program/symbolic/quote.h"
#include "program/symbolic/statement_reads.h"
#include "program/symbolic/term_rows.h"
#include "program/verify/overlap.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

std::optional<OpCode> move_code(const Statement& statement) {
  if (const auto* move = std::get_if<DataMove>(&statement.form)) return move->code;
  if (std::holds_alternative<Reduce>(statement.form)) return OpCode::reduce;
  if (std::holds_alternative<Fill>(statement.form)) return OpCode::fill;
  return std::nullopt;
}

}  // namespace

bool RankWalk::walk(Index& limit) { return walk(program_.program().body, limit); }

bool RankWalk::walk(const Body& body, Index& limit) {
  std::vector<std::string> given;
  bool goes_on = true;
  for (std::size_t at = 0; at < body.size() && goes_on; ++at) {
    goes_on = run(body[at], limit);
    if (const auto* let = std::get_if<Let>(&body[at].form)) given.push_back(let->name);
  }
  for (const std::string& name : given) {
    scope_.erase(name);
    unknown_.erase(name);
  }
  return goes_on;
}

bool RankWalk::run(const Statement& statement, Index& limit) {
  if (const auto* comment = std::get_if<Comment>(&statement.form)) {
    const auto origin = origin_in(*comment);
    if (origin) origin_ = *origin;
    if (origin && lowered_.opaque.contains(*origin)) defer(text_.statement(*origin));
    return true;
  }
  if (--limit < 0) return false;
  if (!is_known(statement)) {
    defer(statement);
    return true;
  }
  if (const auto* loop = std::get_if<For>(&statement.form)) return run(*loop, limit);
  if (const auto* branch = std::get_if<If>(&statement.form)) return run(*branch, limit);
  if (const auto* require = std::get_if<Require>(&statement.form)) {
    refused_ = evaluate(require->condition, scope_) == 0;
    return !refused_;
  }
  run_leaf(statement);
  return true;
}

bool RankWalk::run(const For& loop, Index& limit) {
  const Index from = loop.peers ? 0 : evaluate(loop.from, scope_);
  const Index to = loop.peers ? program_.options().ranks : evaluate(loop.to, scope_);
  bool goes_on = true;
  for (Index i = from; i < to && goes_on; ++i) {
    if (loop.peers && i == me_.value()) continue;
    scope_.set(loop.variable, i);
    goes_on = walk(loop.body, limit);
  }
  scope_.erase(loop.variable);
  return goes_on;
}

bool RankWalk::run(const If& branch, Index& limit) {
  return walk(evaluate(branch.condition, scope_) != 0 ? branch.then : branch.otherwise, limit);
}

void RankWalk::run_leaf(const Statement& statement) {
  if (const auto code = move_code(statement)) move(statement, *code);
  if (const auto* let = std::get_if<Let>(&statement.form)) scope_.set(let->name, evaluate(let->value, scope_));
  const auto* sent = std::get_if<Notify>(&statement.form);
  const auto* awaited = std::get_if<Wait>(&statement.form);
  if ((sent != nullptr && !notify(*sent)) || (awaited != nullptr && !wait(*awaited))) defer(statement);
  if (std::holds_alternative<Fence>(statement.form)) events_.push_back({.code = OpCode::fence, .statement = origin_});
}

void RankWalk::move(const Statement& statement, OpCode code) {
  VerifyEvent event{.code = code, .statement = origin_};
  bool placed = true;
  for (const SliceUse& use : slices_of(statement)) {
    try {
      if (peer_exists(use.slice->peer, text_of(*use.slice)))
        place(statement, use, event);
      else
        placed = false;
    } catch (const Error& error) {
      placed = false;
      fault("bounds", text_of(*use.slice),
            fmt::format("{}; stay inside, or declare {} larger", error.what(), use.slice->buffer));
    }
  }
  if (!placed) return defer(statement);
  unroll(statement);
  check_overlaps(event);
  events_.push_back(std::move(event));
}

void RankWalk::place(const Statement& statement, const SliceUse& use, VerifyEvent& event) const {
  std::vector<PlacedSlice> parts{place_slice(program_, me_, *use.slice, scope_, nullptr, true)};
  if (const auto* reduce = std::get_if<Reduce>(&statement.form); reduce != nullptr && use.read)
    parts = term_rows(program_, me_, reduce->target, *use.slice, parts.front());
  for (const PlacedSlice& slice : parts) {
    if (use.read) event.reads.push_back(slice);
    if (use.written) event.writes.push_back(slice);
  }
}

// Unrolling has the last word on what fits together.
void RankWalk::unroll(const Statement& statement) {
  operations_.clear();
  try {
    unroller_.walk_one(statement, scope_);
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::string prefix =
        fmt::format("program {}, rank {}, `{}`: ", program_.program().name, me_.value(), quote(statement));
    fault("shapes", "",
          fmt::format("{}: select as many elements on both sides of `<-`",
                      message.starts_with(prefix) ? message.substr(prefix.size()) : message));
  }
}

// The very same bytes do no harm in one of many runs of a statement; whether it is so in all of them is asked later.
void RankWalk::check_overlaps(const VerifyEvent& event) {
  const PlacedSlice& target = event.writes.front();
  for (const PlacedSlice& source : event.reads) {
    if (same_bytes(target, source) || !overlaps(target, source)) continue;
    fault("aliasing", source.label.substr(0, source.label.find_first_of("@[")),
          fmt::format("target {} and {} {} share bytes of {}; go through a local buffer", target.label,
                      event.code == OpCode::reduce ? "term" : "source", source.label,
                      program_.windows()[static_cast<std::size_t>(target.window)].name));
  }
}

bool RankWalk::peer_exists(const std::optional<Expression>& peer, const std::string& subject) {
  if (!peer) return true;
  const Index rank = evaluate(*peer, scope_), ranks = program_.options().ranks;
  if (rank >= 0 && rank < ranks) return true;
  fault("bounds", subject,
        fmt::format("`{}` is rank {}, outside [0, {}); name a rank that exists, or require another P", peer->text(),
                    rank, ranks));
  return false;
}

bool RankWalk::place_slot(const Slot& slot, VerifyEvent& event) {
  const PlacedSignal& signal = program_.signal(slot.signal);
  event.signal = signal.signal;
  if (!peer_exists(slot.peer, slot.signal)) return false;
  event.peer = slot.peer ? RankId(evaluate(*slot.peer, scope_)) : me_;
  for (std::size_t d = 0; d < signal.shape.size(); ++d) {
    const Index index = evaluate(slot.indices[d], scope_), extent = signal.shape[d];
    if (index < 0 || index >= extent) {
      fault("bounds", slot.signal,
            fmt::format("index {} of dimension {} of signal {} is outside [0, {}); stay inside, or declare {} larger",
                        index, d, slot.signal, extent, slot.signal));
      return false;
    }
    event.slot = event.slot * extent + index;
  }
  return true;
}

bool RankWalk::notify(const Notify& notify) {
  VerifyEvent event{.code = OpCode::notify, .statement = origin_, .op = notify.op};
  if (!place_slot(notify.slot, event)) return false;
  event.value = evaluate(notify.value, scope_);
  if (notify.op == NotifyOp::set && event.value < 0) {
    fault("counters", notify.slot.signal,
          fmt::format("{} is set to {}, and counters are unsigned; add {} instead, with `+=`", notify.slot.signal,
                      event.value, event.value));
    return false;
  }
  events_.push_back(std::move(event));
  return true;
}

bool RankWalk::wait(const Wait& wait) {
  VerifyEvent event{.code = OpCode::wait, .statement = origin_, .compare = wait.compare};
  if (!place_slot(wait.slot, event)) return false;
  event.value = evaluate(wait.value, scope_);
  if (event.value < 0) {
    fault("counters", wait.slot.signal,
          fmt::format("{} is awaited at {}, and counters are unsigned; wait for 0 or more", wait.slot.signal,
                      event.value));
    return false;
  }
  events_.push_back(std::move(event));
  return true;
}

void RankWalk::defer(const Statement& statement) {
  VerifyEvent event{.code = OpCode::deferred, .statement = origin_};
  add_touched(statement, event);
  events_.push_back(std::move(event));
  if (const auto* let = std::get_if<Let>(&statement.form)) unknown_.insert(let->name);
}

void RankWalk::add_touched(const Statement& statement, VerifyEvent& event) {
  const auto add_window = [&](const std::string& buffer, std::set<int>& windows) {
    if (text_.allocation(buffer) != nullptr) windows.insert(program_.buffer(buffer, me_).window);
  };
  const auto add_signal = [&](const std::string* signal) {
    if (signal != nullptr && program_.program().signal(*signal) != nullptr)
      event.signals.insert(program_.signal(*signal).signal);
  };
  for (const SliceUse& use : slices_of(statement)) add_window(use.slice->buffer, event.windows);
  each_operand(statement, [&](const Expression& operand) {
    each_part(operand, [&](const Expression& part) {
      if (part.kind() == Expression::Kind::element) add_window(part.name(), event.elements);
    });
  });
  if (const Slot* slot = reshard::slot_of(statement)) add_signal(&slot->signal);
  if (const auto* composite = std::get_if<Composite>(&statement.form)) add_signal(signal_of(*composite));
  for (const Statement& inner : statements_in(statement)) add_touched(inner, event);
}

bool RankWalk::mentions_unknown(const Statement& statement) const {
  bool found = depends_on_memory(statement);
  each_operand(statement, [&](const Expression& operand) {
    each_part(operand, [&](const Expression& part) {
      found = found || (part.kind() == Expression::Kind::variable && unknown_.contains(part.name()));
    });
  });
  return found;
}

bool RankWalk::is_known(const Statement& statement) {
  if (lowered_.skipped.contains(origin_) || mentions_unknown(statement)) return false;
  bool known = true;
  each_operand(statement, [&](const Expression& operand) {
    try {
      evaluate(operand, scope_);
    } catch (const Error& error) {
      known = false;
      fault("values", operand.text(), fmt::format("{}; correct it, or require another P", error.what()));
    }
  });
  return known;
}

void RankWalk::fault(std::string_view rule, const std::string& subject, const std::string& message) {
  faults_.add(rule, {origin_, subject, program_.options().ranks},
              fmt::format("with P = {}, rank {}: {}", program_.options().ranks, me_.value(), message));
}

}  // namespace reshard
