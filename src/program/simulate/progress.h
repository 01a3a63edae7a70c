// How far a rank has come.
#pragma once

#include <memory>
#include <vector>

#include "program/simulate/calls.h"

namespace reshard::simulation {

class Progress {
 public:
  // Before its first call, between two, inside one.
  bool is_inside() const { return inside_; }
  Index call() const { return call_; }  // it is in, or ended last
  const CallProgram& program() const { return program_; }

  void begin(CallProgram program, RankId rank);
  void end() { inside_ = false; }
  // What is left of the call is not done.
  void give_up() { frames_.clear(); }

  // Null when nothing is left of the call. Lives as long as what it returns.
  std::shared_ptr<const Operation> next() const;
  // Past the next operation.
  void advance();
  // Past the next operation, which stands for these.
  void advance_into(std::vector<Operation> operations);
  // All operations of this call that are left, in order.
  std::vector<const Operation*> rest() const;

 private:
  struct Frame {
    std::shared_ptr<const std::vector<Operation>> operations;
    std::size_t next = 0;
  };
  void drop_finished();
  bool inside_ = false;
  Index call_ = 0;
  CallProgram program_;
  std::vector<Frame> frames_;  // innermost last
};

// "wait ready[1] >= 2": as written, with the values of this run.
std::string operation_text(const Program& program, const Operation& operation, std::uint64_t run);
// "ready[1]"
std::string cell_text(const Program& program, const Operation& operation);
inline std::uint64_t value_in_run(const Operation& operation, std::uint64_t run) {
  return operation.value + run * operation.per_run;
}

}  // namespace reshard::simulation
