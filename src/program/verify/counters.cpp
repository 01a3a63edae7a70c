// How counters are changed: set and added to, by whom, and how far they go.
#include <fmt/format.h>

#include <algorithm>

#include "program/symbolic/quote.h"
#include "program/verify/verify_cells.h"
#include "program/verify/verify_rules.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

const SignalSpec& signal_of_cell(const VerifyRun& run, const VerifyCell& cell) {
  return run.signals[static_cast<std::size_t>(cell.signal)];
}

FaultPlace place_of(const VerifyRun& run, const VerifyCell& cell, std::size_t statement) {
  return {statement, signal_of_cell(run, cell).name, run.ranks};
}

const CellNotice* first_by(const VerifyCell& cell, NotifyOp op) {
  const auto at = std::ranges::find(cell.notices, op, &CellNotice::op);
  return at == cell.notices.end() ? nullptr : &*at;
}

// Two ranks other than the owner that set one cell to one value in one call: who waits cannot tell them apart.
std::optional<std::pair<CellNotice, CellNotice>> same_sets(const VerifyCell& cell) {
  for (const CellNotice& a : cell.notices)
    for (const CellNotice& b : cell.notices)
      if (a.op == NotifyOp::set && b.op == NotifyOp::set && a.call == 1 && b.call == 1 && a.by < b.by &&
          a.by != cell.rank && b.by != cell.rank && a.value == b.value)
        return std::pair(a, b);
  return std::nullopt;
}

}  // namespace

void find_mixing(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) {
    const CellNotice *set = first_by(cell, NotifyOp::set), *add = first_by(cell, NotifyOp::add);
    if (set == nullptr || add == nullptr) return;
    const CellNotice& later = set->statement > add->statement ? *set : *add;
    faults.add("mixing", place_of(run, cell, later.statement),
               fmt::format("with P = {}: {} is set by `{}` and added to by `{}`: an addition that comes before the set "
                           "is lost; use one of `=` and `+=`",
                           run.ranks, cell_text(run, cell), quote(text.statement(set->statement)),
                           quote(text.statement(add->statement))));
  });
}

void find_shared_cells(const VerifyText&, std::span<const VerifyRun> runs, FaultList& faults) {
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) {
    if (cell.waits.empty()) return;
    if (const auto sets = same_sets(cell))
      faults.add("shared", place_of(run, cell, sets->second.statement),
                 fmt::format("with P = {}: {} is set to {} by rank {} and by rank {}, so who waits for one may see the "
                             "other; give each rank a slot, or add",
                             run.ranks, cell_text(run, cell), sets->first.value, sets->first.by.value(),
                             sets->second.by.value()));
  });
}

void find_broken_contracts(const VerifyText&, std::span<const VerifyRun> runs, FaultList& faults) {
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) {
    const std::optional<Protocol> protocol = signal_of_cell(run, cell).protocol;
    if (!protocol || cell.notices.empty() || !cell.only(NotifyOp::add)) return;
    const FaultPlace place = place_of(run, cell, cell.first_notify());
    const bool credits = *protocol == Protocol::credits_1 || *protocol == Protocol::credits_2;
    for (Index call = 1; call <= kVerifiedCalls; ++call) {
      if (credits && cell.net(call) != 0)
        return faults.add(
            "contract", place,
            fmt::format("with P = {}: call {} leaves {} at its start {:+}, and {} takes counters back to "
                        "it; let the rank that waits add {} at the end",
                        run.ranks, call, cell_text(run, cell), cell.net(call), name_of(*protocol), -cell.net(call)));
      if (*protocol == Protocol::epoch && cell.net(call) != cell.net(1))
        return faults.add("contract", place,
                          fmt::format("with P = {}: {} grows by {} in call 1 and by {} in call {}, and counters of an "
                                      "epoch grow by the same in every call; notify alike in all calls",
                                      run.ranks, cell_text(run, cell), cell.net(1), cell.net(call), call));
    }
  });
}

void find_narrow(const VerifyText&, std::span<const VerifyRun> runs, FaultList& faults) {
  each_cell(runs, [&](const VerifyRun& run, const VerifyCell& cell) {
    const int bits = signal_of_cell(run, cell).bits;
    if (bits > 62) return;
    const Index top = (Index{1} << bits) - 1;
    for (const CellWait& wait : cell.waits)
      if (wait.call == 1 && wait.value > top)
        faults.add("width", place_of(run, cell, wait.statement),
                   fmt::format("with P = {}: {} is awaited at {}, and {} bits hold {} at most; declare it wider",
                               run.ranks, cell_text(run, cell), wait.value, bits, top));
    if (cell.notices.empty()) return;
    const FaultPlace place = place_of(run, cell, cell.first_notify());
    const Index first = cell.most(1), last = cell.most(kVerifiedCalls);
    const Index growth = (last - first) / (kVerifiedCalls - 1);
    if (first > top)
      faults.add("width", place,
                 fmt::format("with P = {}: {} gets to {} in one call, and {} bits hold {} at most; declare it wider",
                             run.ranks, cell_text(run, cell), first, bits, top));
    else if (growth > 0)
      faults.add(
          "width", place,
          fmt::format("with P = {}: {} grows by {} in every call, and its {} bits wrap in call {}; declare it as "
                      "64 bits, or take back what was added",
                      run.ranks, cell_text(run, cell), growth, bits, (top - first) / growth + 2));
  });
}

}  // namespace reshard
