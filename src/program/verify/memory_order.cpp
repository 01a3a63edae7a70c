// Reads of what is not there yet, and moves that move nothing.
#include <fmt/format.h>

#include <algorithm>

#include "program/symbolic/quote.h"
#include "program/verify/overlap.h"
#include "program/verify/verify_rules.h"

namespace reshard {
namespace {

// Bytes of one allocation that a rank has written in this call.
class ByteWriters {
 public:
  void add(const PlacedSlice& slice) {
    written_ = true;
    const auto rows = bytes_of_slice(slice);
    all_ = all_ || (rows.empty() && !slice.empty);  // too many to follow
    for (const SliceBytes& row : rows) {
      Index& to = rows_[row.from];
      to = std::max(to, row.to);
      longest_ = std::max(longest_, row.to - row.from);
    }
  }
  void add_all() { all_ = true; }
  bool none() const { return !written_ && !all_; }
  bool holds_part_of(const PlacedSlice& slice) const {
    const auto rows = bytes_of_slice(slice);
    return all_ || rows.empty() || std::ranges::any_of(rows, [&](const SliceBytes& row) { return holds_part_of(row); });
  }

 private:
  bool holds_part_of(const SliceBytes& row) const {
    for (auto at = rows_.upper_bound(row.from - longest_); at != rows_.end() && at->first < row.to; ++at)
      if (at->second > row.from) return true;
    return false;
  }

  std::map<Index, Index> rows_;  // from, to
  Index longest_ = 0;
  bool written_ = false;
  bool all_ = false;
};

class ReadsOfOneRank {
 public:
  ReadsOfOneRank(const VerifyText& text, const VerifyRun& run, RankId me, FaultList& faults)
      : text_(text), run_(run), me_(me), faults_(faults) {
    for (const ContentRule& rule : text.program().init)
      if (const BufferDeclaration* buffer = text.allocation(rule.buffer)) given_.insert(buffer->name);
  }

  void follow(std::span<const VerifyEvent> events) {
    for (const VerifyEvent& event : events) {
      for (const PlacedSlice& read : event.reads)
        if (is_own(read.window) && read.rank == me_ && !written_[read.window].holds_part_of(read))
          add(event, read.label, read.window);
      for (const int window : event.elements)
        if (is_own(window) && written_[window].none()) add(event, name(window), window);
      for (const PlacedSlice& write : event.writes)
        if (write.rank == me_) written_[write.window].add(write);
      for (const int window : event.windows) written_[window].add_all();
    }
  }

 private:
  const std::string& name(int window) const { return run_.windows[static_cast<std::size_t>(window)].name; }

  // Kept by nobody from call to call.
  bool is_own(int window) const {
    const BufferRole role = run_.windows[static_cast<std::size_t>(window)].role;
    return (role == BufferRole::output || role == BufferRole::local) && !given_.contains(name(window));
  }

  void add(const VerifyEvent& event, const std::string& label, int window) {
    faults_.add("unwritten", {event.statement, name(window), run_.ranks},
                fmt::format("with P = {}, rank {}: {} is read, and no statement before has written it in this call; "
                            "fill it first, or use a window, which is kept",
                            run_.ranks, me_.value(), label));
  }

  const VerifyText& text_;
  const VerifyRun& run_;
  RankId me_;
  FaultList& faults_;
  std::set<std::string> given_;
  std::map<int, ByteWriters> written_;
};

}  // namespace

void find_unwritten(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  for (const VerifyRun& run : runs)
    for (const auto& ranks : run.calls)
      for (std::size_t r = 0; r < ranks.size(); ++r)
        ReadsOfOneRank(text, run, RankId(static_cast<Index>(r)), faults).follow(ranks[r]);
}

// A statement may meet its own bytes on one rank of many; one that does nothing else is a mistake.
void find_idle_moves(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  std::map<std::size_t, const VerifyEvent*> idle;
  std::set<std::size_t> busy;
  Index most_ranks = 1;
  const auto add = [&](const VerifyEvent& event) {
    const bool moves = event.code == OpCode::copy || event.code == OpCode::put || event.code == OpCode::get;
    if (!moves || event.reads.size() != 1) return;
    const bool same = same_bytes(event.writes.front(), event.reads.front());
    same ? void(idle.emplace(event.statement, &event)) : void(busy.insert(event.statement));
  };
  for (const VerifyRun& run : runs) {
    if (!run.refused) most_ranks = std::max(most_ranks, run.ranks);
    for (const auto& ranks : run.calls)
      for (const auto& events : ranks) std::ranges::for_each(events, add);
  }
  for (const auto& [statement, event] : idle)
    if (!busy.contains(statement) && (event->code == OpCode::copy || most_ranks > 1) &&
        !std::holds_alternative<Composite>(text.statement(statement).form))
      faults.add("aliasing", statement,
                 fmt::format("target {} and source {} are always the same bytes; name two buffers, or drop it",
                             event->writes.front().label, event->reads.front().label));
}

}  // namespace reshard
