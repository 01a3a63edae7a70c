// Whether notifications and waits fit together: none that cannot pass, none that always passes.
#include <fmt/format.h>

#include <algorithm>

#include "program/symbolic/quote.h"
#include "program/verify/verify_cells.h"
#include "program/verify/verify_rules.h"

namespace reshard {
namespace {

bool passes(const CellWait& wait, Index value) {
  return wait.compare == WaitCompare::equal ? value == wait.value : value >= wait.value;
}

bool is_composite_statement(const VerifyText& text, std::size_t statement) {
  return std::holds_alternative<Composite>(text.statement(statement).form);
}

FaultPlace place_of_wait(const VerifyRun& run, const VerifyCell& cell, std::size_t statement) {
  return {statement, run.signals[static_cast<std::size_t>(cell.signal)].name, run.ranks};
}

// Of each statement that waits, the one that asks for most in each call.
std::map<std::size_t, std::map<Index, CellWait>> last_waits(const VerifyCell& cell) {
  std::map<std::size_t, std::map<Index, CellWait>> last;
  for (const CellWait& wait : cell.waits) {
    const auto [at, added] = last[wait.statement].emplace(wait.call, wait);
    if (!added && at->second.value < wait.value) at->second = wait;
  }
  return last;
}

// Calls in which the cell is set, each with whether all it is set to would let the wait pass.
std::vector<bool> earlier_sets_pass(const VerifyCell& cell, const CellWait& wait) {
  std::map<Index, bool> by_call;
  for (const CellNotice& notice : cell.notices)
    if (notice.call < wait.call) {
      const auto at = by_call.emplace(notice.call, true).first;
      at->second = at->second && passes(wait, notice.value);
    }
  std::vector<bool> all;
  for (const auto& [call, pass] : by_call) all.push_back(pass);
  return all;
}

// A value of the last call may be what the wait is for. One of the call before that is not: then it no longer says
// anything that the last one did not say.
bool is_stale_set(const VerifyCell& cell, const CellWait& wait) {
  const std::vector<bool> earlier = earlier_sets_pass(cell, wait);
  return earlier.size() >= 2 && earlier.back() && earlier[earlier.size() - 2];
}

// The counter runs away from what is waited for, further in every call.
bool is_outrun(const VerifyCell& cell, const std::map<Index, CellWait>& waits) {
  if (waits.size() < 3) return false;
  Index previous = 0;
  bool first = true, grows = true;
  for (const auto& [call, wait] : waits) {
    const Index slack = cell.before(call) - wait.value;
    grows = grows && (first || slack > previous);
    previous = slack;
    first = false;
  }
  return grows && previous >= 0 && std::next(waits.begin())->second.compare == WaitCompare::greater_equal &&
         cell.before(std::prev(waits.end(), 2)->first) >= std::prev(waits.end(), 2)->second.value;
}

void find_stale_in(const VerifyText& text, const VerifyRun& run, const VerifyCell& cell, FaultList& faults) {
  if (cell.notices.empty()) return;
  for (const auto& [statement, waits] : last_waits(cell)) {
    const bool sets = cell.only(NotifyOp::set), adds = cell.only(NotifyOp::add);
    const bool stale = std::ranges::any_of(waits, [&](const auto& at) { return is_stale_set(cell, at.second); });
    const std::string notify = quote(text.statement(cell.first_notify()));
    if (sets && stale)
      faults.add("stale", place_of_wait(run, cell, statement),
                 fmt::format("with P = {}: {} still holds what `{}` left in an earlier call, so from the second use on "
                             "the wait passes before anybody notifies; set and await a value that grows with `call`",
                             run.ranks, cell_text(run, cell), notify));
    else if (adds && is_outrun(cell, waits))
      faults.add(
          "stale", place_of_wait(run, cell, statement),
          fmt::format(
              "with P = {}: {} grows by `{}` in every call, and what is awaited grows less or not at all, so later "
              "calls pass before anybody notifies; await all that was added, or take it back",
              run.ranks, cell_text(run, cell), notify));
  }
}

bool can_pass(const VerifyCell& cell, const CellWait& wait) {
  if (passes(wait, cell.start)) return true;
  if (!cell.only(NotifyOp::set)) return cell.most(wait.call) >= wait.value;
  return std::ranges::any_of(
      cell.notices, [&](const CellNotice& notice) { return notice.call <= wait.call && passes(wait, notice.value); });
}

void find_hopeless(const VerifyRun& run, const VerifyCell& cell, FaultList& faults) {
  for (const CellWait& wait : cell.waits) {
    if (can_pass(cell, wait)) continue;
    const std::string seen = cell.notices.empty()
                                 ? "nobody notifies it"
                                 : fmt::format("it gets to {} at most in call {}", cell.most(wait.call), wait.call);
    faults.add("pairing", place_of_wait(run, cell, wait.statement),
               fmt::format("with P = {}: no notification lets {} pass at {}: {}; notify that slot as often as it is "
                           "awaited, or await less",
                           run.ranks, cell_text(run, cell), wait.value, seen));
  }
}

void find_unheard(const VerifyText& text, const VerifyRun& run, const VerifyCell& cell, FaultList& faults) {
  if (!cell.waits.empty()) return;
  for (const CellNotice& notice : cell.notices)
    if (notice.by != cell.rank && !is_composite_statement(text, notice.statement))
      faults.add("pairing", place_of_wait(run, cell, notice.statement),
                 fmt::format("with P = {}: rank {} notifies {}, which never waits for it; wait for it, or drop the "
                             "notification",
                             run.ranks, notice.by.value(), cell_text(run, cell)));
}

}  // namespace

void find_stale(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) { find_stale_in(text, run, cell, faults); });
}

void find_unpaired(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  const bool one_sided = faults.has("signals", 0);
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) {
    find_hopeless(run, cell, faults);
    if (!one_sided) find_unheard(text, run, cell, faults);
  });
}

}  // namespace reshard
