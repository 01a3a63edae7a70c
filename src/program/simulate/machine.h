// The ranks, their memory, cells, clocks and puts in flight: one step at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/simulate/calls.h"
#include "program/simulate/cells.h"
#include "program/simulate/clock.h"
#include "program/simulate/contents.h"
#include "program/simulate/flight.h"
#include "program/simulate/memory.h"
#include "program/simulate/progress.h"
#include "program/simulate/schedule.h"

namespace reshard::simulation {

enum class Order { random, in_step };

class Machine {
 public:
  // `calls` and `options` must outlive it.
  Machine(Calls& calls, Index ranks, const SimulateOptions& options, Order order = Order::random);

  // Until nothing can happen any more.
  SimulateReport run();

 private:
  static std::size_t index(RankId rank) { return static_cast<std::size_t>(rank.value()); }
  bool has_finished(RankId rank) const;
  bool can_go(RankId rank);
  void settle(RankId rank) { ready_.set(rank, can_go(rank)); }
  std::optional<Choice> choose();
  void step(RankId rank);
  void arrive(std::size_t piece);
  void begin_call(RankId rank);
  void end_call(RankId rank);
  void check_outputs(RankId rank);
  void refuse(RankId rank, const std::string& why);
  void execute(RankId rank, const std::shared_ptr<const Operation>& operation);
  void work(RankId rank, const Operation& operation);
  VirtualClock::Interval put(RankId rank, const std::shared_ptr<const Operation>& operation);
  void notify(RankId rank, const Operation& operation);
  // The event, if events are kept, that it passed by.
  std::optional<std::size_t> wait(RankId rank, const Operation& operation);
  void expand(RankId rank, const Operation& operation);
  SimulatedEvent event_of(RankId rank, const Operation& operation, VirtualClock::Interval time) const;
  void finish_report();

  Calls& calls_;
  const SimulateOptions& options_;
  Order order_;
  std::shared_ptr<const Program> program_;  // of the first call: windows and signals are those of all
  SimulatedMemory memory_;
  SimulatedCells cells_;
  Contents contents_;
  VirtualClock clock_;
  PutsInFlight flight_;
  ReadyRanks ready_;
  RandomSchedule schedule_;
  std::vector<Progress> progress_;
  std::vector<double> round_;
  std::vector<bool> refused_;     // the call that the rank is in
  std::map<Index, Index> ended_;  // ranks that have ended a call which not all have ended
  std::string first_mismatch_;
  SimulateReport report_;
};

}  // namespace reshard::simulation
