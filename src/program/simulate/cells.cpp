#include "program/simulate/cells.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard::simulation {
namespace {

// A cell that nobody waits on forgets when it was notified.
constexpr std::size_t kLongestHistory = 4096;

std::uint64_t mask_of(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

std::uint64_t changed(std::uint64_t before, NotifyOp op, std::uint64_t value, std::uint64_t mask) {
  return (op == NotifyOp::set ? value : before + value) & mask;
}

}  // namespace

void CounterHistory::apply(const Change& change) {
  value_ = changed(value_, change.op, change.value, mask_);
  event_ = change.event;
}

void CounterHistory::notify(double time, NotifyOp op, std::uint64_t value, std::size_t event) {
  const auto later = std::ranges::upper_bound(changes_, time, {}, &Change::time);
  changes_.insert(later, {time, op, value, event});
  if (changes_.size() < kLongestHistory) return;
  const auto half = changes_.begin() + kLongestHistory / 2;
  std::for_each(changes_.begin(), half, [&](const Change& change) { apply(change); });
  changes_.erase(changes_.begin(), half);
}

CounterHistory::Passing CounterHistory::pass(double now, WaitCompare compare, std::uint64_t expected) {
  auto next = changes_.begin();
  while (next != changes_.end() && next->time <= now) apply(*next++);
  while (next != changes_.end() && !is_satisfied(compare, value_, expected)) {
    now = next->time;
    apply(*next++);
  }
  changes_.erase(changes_.begin(), next);
  return {now, event_};
}

SimulatedCell::SimulatedCell(std::uint64_t start, int bits)
    : mask_(mask_of(bits)), value_(start & mask_), clock_(value_, mask_), rounds_(value_, mask_) {}

void SimulatedCell::notify(NotifyOp op, std::uint64_t value, const Notification& notification) {
  value_ = changed(value_, op, value, mask_);
  clock_.notify(notification.time, op, value, notification.event);
  rounds_.notify(notification.round, op, value, notification.event);
}

SimulatedCells::SimulatedCells(const Program& program)
    : program_(program), cells_(static_cast<std::size_t>(program.ranks)) {
  for (std::size_t rank = 0; rank < cells_.size(); ++rank) {
    for (const SignalSpec& signal : program.signals) {
      std::vector<SimulatedCell>& slots = cells_[rank].emplace_back();
      for (std::size_t slot = 0; slot < static_cast<std::size_t>(signal.slots); ++slot)
        slots.emplace_back(signal.starts.empty() ? 0 : signal.starts.at(rank).at(slot), signal.bits);
    }
  }
}

bool SimulatedCells::has(RankId owner, int signal, Index slot) const {
  return owner >= RankId(0) && owner < RankId(program_.ranks) && signal >= 0 &&
         static_cast<std::size_t>(signal) < program_.signals.size() && slot >= 0 &&
         slot < program_.signals[static_cast<std::size_t>(signal)].slots;
}

void SimulatedCells::check(RankId owner, int signal, Index slot) const {
  if (has(owner, signal, slot)) return;
  if (signal < 0 || static_cast<std::size_t>(signal) >= program_.signals.size())
    fail(Code::invalid_argument, "there is no signal {}; the program has {}", signal, program_.signals.size());
  const SignalSpec& spec = program_.signals[static_cast<std::size_t>(signal)];
  fail(Code::invalid_argument, "slot {} of signal {} on rank {} is outside its {} slots and the {} ranks", slot,
       spec.name, owner.value(), spec.slots, program_.ranks);
}

SimulatedCell& SimulatedCells::at(RankId owner, int signal, Index slot) {
  check(owner, signal, slot);
  return cells_[static_cast<std::size_t>(owner.value())][static_cast<std::size_t>(signal)]
               [static_cast<std::size_t>(slot)];
}

}  // namespace reshard::simulation
