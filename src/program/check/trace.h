// Schedules for readers: the least that must run before what is at fault.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/check/machine.h"

namespace reshard::explore {

// A set of steps with everything before them: per rank, how many.
using Past = std::vector<std::uint32_t>;

class Run {
 public:
  Run(Machine& machine, std::span<const StepRecord> steps) : machine_(&machine), steps_(steps) {}

  std::span<const StepRecord> steps() const { return steps_; }
  const StepRecord* find(const Access& access) const;
  // What must have run before the access, and it.
  Past past_of(const Access& access) const;
  Past past_of(ClockId clock) const;
  // The steps of the past in the order of the run, without `left_out`.
  std::vector<TraceStep> steps_of(const Past& past, std::span<const StepRecord* const> left_out = {}) const;
  TraceStep step_of(const StepRecord& record) const;
  std::string text_of(const StepRecord& record) const;
  std::string text_of(const Operation& operation, std::uint32_t call) const;
  // "data[1]"
  std::string place(std::uint32_t cell) const;
  // "ready[0, 1]"
  std::string counter(std::size_t cell) const;

 private:
  Machine* machine_;
  std::span<const StepRecord> steps_;
};

void include(Past& past, const Past& other);
Index length_of(const Past& past);

}  // namespace reshard::explore
