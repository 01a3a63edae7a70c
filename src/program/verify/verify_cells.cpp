#include "program/verify/verify_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace reshard {
namespace {

using CellKey = std::tuple<RankId, int, Index>;

class CellList {
 public:
  explicit CellList(const VerifyRun& run) : run_(run) {
    for (Index call = 1; call <= kVerifiedCalls; ++call)
      for (Index r = 0; r < run.ranks; ++r)
        for (const VerifyEvent& event : run.events(call, r)) add(event, call, RankId(r));
  }

  std::vector<VerifyCell> take() && {
    std::vector<VerifyCell> known;
    for (auto& [key, cell] : cells_)
      if (!unknown_.contains(cell.signal)) known.push_back(std::move(cell));
    return known;
  }

 private:
  void add(const VerifyEvent& event, Index call, RankId me) {
    if (event.code == OpCode::notify)
      cell(event.peer, event).notices.push_back({call, me, event.statement, event.op, event.value});
    if (event.code == OpCode::wait)
      cell(me, event).waits.push_back({call, event.statement, event.compare, event.value});
    unknown_.insert(event.signals.begin(), event.signals.end());
  }

  VerifyCell& cell(RankId rank, const VerifyEvent& event) {
    const auto [at, added] = cells_.emplace(CellKey(rank, event.signal, event.slot), VerifyCell{});
    if (added) at->second = {rank, event.signal, event.slot, start(rank, event)};
    return at->second;
  }

  Index start(RankId rank, const VerifyEvent& event) const {
    const auto& starts = run_.signals[static_cast<std::size_t>(event.signal)].starts;
    if (starts.empty()) return 0;
    return static_cast<Index>(starts[static_cast<std::size_t>(rank.value())][static_cast<std::size_t>(event.slot)]);
  }

  const VerifyRun& run_;
  std::map<CellKey, VerifyCell> cells_;
  std::set<int> unknown_;
};

}  // namespace

bool VerifyCell::only(NotifyOp op) const {
  return std::ranges::all_of(notices, [&](const CellNotice& notice) { return notice.op == op; });
}

std::size_t VerifyCell::first_notify() const {
  return std::ranges::min_element(notices, {}, &CellNotice::statement)->statement;
}

Index VerifyCell::net(Index call) const {
  Index sum = 0;
  for (const CellNotice& notice : notices)
    if (notice.call == call && notice.op == NotifyOp::add) sum += notice.value;
  return sum;
}

Index VerifyCell::before(Index call) const {
  Index sum = start;
  for (Index c = 1; c < call; ++c) sum += net(c);
  return sum;
}

// What others take back may come late.
Index VerifyCell::most(Index call) const {
  Index sum = start, set = start;
  for (const CellNotice& notice : notices) {
    if (notice.call > call) continue;
    if (notice.op == NotifyOp::set)
      set = std::max(set, notice.value);
    else if (notice.value > 0 || (notice.call < call && notice.by == rank))
      sum += notice.value;
  }
  return std::max(sum, set);
}

std::vector<VerifyCell> cells_of(const VerifyRun& run) {
  if (!run.complete) return {};
  return CellList(run).take();
}

std::string cell_text(const VerifyRun& run, const VerifyCell& cell) {
  const auto& shape = run.signal_shapes[static_cast<std::size_t>(cell.signal)];
  std::string indices;
  Index slot = cell.slot;
  for (std::size_t d = shape.size(); d-- > 0;) {
    indices = std::to_string(slot % shape[d]) + (indices.empty() ? "" : ", ") + indices;
    slot /= shape[d];
  }
  return fmt::format("{}[{}] of rank {}", run.signals[static_cast<std::size_t>(cell.signal)].name, indices,
                     cell.rank.value());
}

void each_cell(std::span<const VerifyRun> runs, const std::function<void(const VerifyRun&, const VerifyCell&)>& visit) {
  for (const VerifyRun& run : runs)
    for (const VerifyCell& cell : cells_of(run)) visit(run, cell);
}

}  // namespace reshard
