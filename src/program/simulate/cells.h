// Signal counters, and when what they waited for was there: on the clock, and in rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reshard/program.h"

namespace reshard::simulation {

// A counter over one kind of time. The schedule may run ranks in another order than their clocks say, so a wait looks
// for the first moment at which the notifications, in the order of time, let it pass.
class CounterHistory {
 public:
  CounterHistory(std::uint64_t start, std::uint64_t mask) : value_(start), mask_(mask) {}

  void notify(double time, NotifyOp op, std::uint64_t value, std::size_t event);
  struct Passing {
    double time = 0;
    std::optional<std::size_t> event = {};  // of the notification that came last
  };
  // For a rank that waits from `now` on, and never looks at an earlier moment again.
  Passing pass(double now, WaitCompare compare, std::uint64_t expected);

 private:
  struct Change {
    double time;
    NotifyOp op;
    std::uint64_t value;
    std::size_t event;
  };
  void apply(const Change& change);
  std::uint64_t value_;
  std::uint64_t mask_;
  std::optional<std::size_t> event_;
  std::vector<Change> changes_;  // that no wait has passed, by time
};

inline bool is_satisfied(WaitCompare compare, std::uint64_t seen, std::uint64_t expected) {
  return compare == WaitCompare::equal ? seen == expected : seen >= expected;
}

class SimulatedCell {
 public:
  SimulatedCell(std::uint64_t start, int bits);
  std::uint64_t value() const { return value_; }
  // What comes by notification: when, in seconds and in rounds, and which event of the timeline it is.
  struct Notification {
    double time = 0;
    double round = 0;
    std::size_t event = 0;
  };
  void notify(NotifyOp op, std::uint64_t value, const Notification& notification);
  CounterHistory& clock() { return clock_; }
  CounterHistory& rounds() { return rounds_; }

 private:
  std::uint64_t mask_;
  std::uint64_t value_;  // as the schedule has it
  CounterHistory clock_;
  CounterHistory rounds_;
};

// All cells of one program, by owner, signal and slot.
class SimulatedCells {
 public:
  explicit SimulatedCells(const Program& program);
  bool has(RankId owner, int signal, Index slot) const;
  // Throws Error(invalid_argument) that names rank, signal and slot if there is none.
  SimulatedCell& at(RankId owner, int signal, Index slot);

 private:
  void check(RankId owner, int signal, Index slot) const;
  const Program& program_;
  std::vector<std::vector<std::vector<SimulatedCell>>> cells_;
};

}  // namespace reshard::simulation
