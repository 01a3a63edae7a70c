// Puts that are announced before they are there.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "program/symbolic/quote.h"
#include "program/verify/overlap.h"
#include "program/verify/verify_rules.h"

namespace reshard {
namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

// Only certain faults: the peer waits for the very notification that came too early, and then reads what was put. Where
// a later notification behind a fence follows, the early one may mean something else.
class FencesOfOneRank {
 public:
  FencesOfOneRank(const VerifyText& text, const VerifyRun& run, Index call, Index me, FaultList& faults)
      : text_(text), run_(run), call_(call), me_(RankId(me)), faults_(faults), events_(run.events(call, me)) {
    for (const ContentRule& rule : text.program().expect)
      if (const BufferDeclaration* buffer = text.allocation(rule.buffer)) results_.insert(buffer->name);
  }

  void find() {
    note_order();
    std::size_t next_fence = kNever;
    std::map<RankId, std::size_t> next_notify;
    for (std::size_t at = events_.size(); at-- > 0;) {
      const VerifyEvent& event = events_[at];
      if (is_fence(event)) next_fence = at;
      if (event.code == OpCode::notify) next_notify[event.peer] = at;
      if (event.code != OpCode::put || event.writes.empty()) continue;
      const RankId peer = event.writes.front().rank;
      if (peer == me_) read_by_self(event, at, next_fence);
      const auto notify = next_notify.find(peer);
      if (notify != next_notify.end() && peer != me_ && notify->second < next_fence) announced(event, notify->second);
    }
  }

 private:
  // What follows from memory, or is not known, may fence.
  static bool is_fence(const VerifyEvent& event) {
    return event.code == OpCode::fence || event.code == OpCode::deferred;
  }

  void note_order() {
    for (std::size_t at = 0; at < events_.size(); ++at) {
      if (is_fence(events_[at])) fences_.push_back(at);
      if (events_[at].code == OpCode::notify) last_notify_[events_[at].peer] = at;
    }
  }

  void announced(const VerifyEvent& put, std::size_t notify_at) {
    const PlacedSlice& target = put.writes.front();
    const auto fence = std::ranges::upper_bound(fences_, notify_at);
    if (fence != fences_.end() && *fence < last_notify_[target.rank]) return;
    const VerifyEvent& notify = events_[notify_at];
    if (!is_read_after(notify, target)) return;
    faults_.add(
        "fence", {put.statement, target.label.substr(0, target.label.find('@')), run_.ranks},
        fmt::format("with P = {}, rank {}: nothing makes {} visible on rank {} before `{}` tells of it; place a "
                    "`fence` between them",
                    run_.ranks, me_.value(), target.label, target.rank.value(),
                    quote(text_.statement(notify.statement))));
  }

  bool is_read_after(const VerifyEvent& notify, const PlacedSlice& target) const {
    bool awaited = false;
    for (const VerifyEvent& event : run_.events(call_, target.rank.value())) {
      awaited = awaited || (event.code == OpCode::wait && event.signal == notify.signal && event.slot == notify.slot);
      if (awaited && std::ranges::any_of(event.reads, [&](const PlacedSlice& read) { return overlaps(read, target); }))
        return true;
    }
    return awaited && results_.contains(run_.windows[static_cast<std::size_t>(target.window)].name);
  }

  void read_by_self(const VerifyEvent& put, std::size_t at, std::size_t next_fence) {
    const PlacedSlice& target = put.writes.front();
    const std::optional<ReduceOp> op = accumulated(put);
    for (std::size_t later = at + 1; later < std::min(next_fence, events_.size()); ++later) {
      const VerifyEvent& event = events_[later];
      // Of two puts that accumulate alike the order makes no difference: the second reads its source only.
      const bool commutes = op && op == accumulated(event);
      const auto reads = std::span(event.reads).first(commutes ? 1 : event.reads.size());
      if (std::ranges::none_of(reads, [&](const PlacedSlice& read) { return overlaps(read, target); })) continue;
      faults_.add("fence", {put.statement, "self", run_.ranks},
                  fmt::format("with P = {}, rank {}: what it puts into its own {} is read by `{}` without a fence "
                              "between them; place a `fence`, or copy",
                              run_.ranks, me_.value(), target.label, quote(text_.statement(event.statement))));
      return;
    }
  }

  std::optional<ReduceOp> accumulated(const VerifyEvent& event) const {
    const auto* move = std::get_if<DataMove>(&text_.statement(event.statement).form);
    return move == nullptr || move->code != OpCode::put ? std::nullopt : move->accumulate;
  }

  const VerifyText& text_;
  const VerifyRun& run_;
  Index call_;
  RankId me_;
  FaultList& faults_;
  const std::vector<VerifyEvent>& events_;
  std::set<std::string> results_;
  std::vector<std::size_t> fences_;
  std::map<RankId, std::size_t> last_notify_;
};

}  // namespace

void find_unfenced(const VerifyText& text, std::span<const VerifyRun> runs, FaultList& faults) {
  for (const VerifyRun& run : runs)
    for (Index call = 1; run.complete && call <= kVerifiedCalls; ++call)
      for (Index r = 0; r < run.ranks; ++r) FencesOfOneRank(text, run, call, r, faults).find();
}

}  // namespace reshard
