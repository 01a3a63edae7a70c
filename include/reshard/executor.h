// Runs the operations of one rank of a program on a fabric. The only place where programs and fabrics meet.
//
// Everything that costs time or memory is done when an executor is made or bound: `run` allocates nothing, looks up
// nothing and takes no lock.
//
// Thread rule: confined (one thread at a time), as its endpoint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reshard/fabric.h"
#include "reshard/program.h"

namespace reshard {

// What the numbers in a program stand for on an endpoint.
struct Binding {
  std::vector<WindowId> windows;
  std::vector<SignalId> signals;
};

// What one rank did in one run. Local copies move no message.
struct Traffic {
  Index bytes_got = 0;
  Index bytes_put = 0;
  Index bytes_copied = 0;
  Index bytes_reduced = 0;  // of results
  Index gets = 0;
  Index puts = 0;
  Index notifications = 0;
  Index waits = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

class Executor {
 public:
  // Keeps the operations of endpoint.rank(); the program may go, the endpoint must stay.
  // Throws Error(invalid_argument) that names operation and window when a block leaves its window, Error(unsupported)
  // that names op and dtype when one cannot be reduced by the other.
  Executor(const Program& program, Endpoint& endpoint);
  Executor(Executor&&) noexcept;
  ~Executor();

  // Names the windows and signals to use. Throws Error(invalid_argument) that names window, rank, bytes needed and
  // bytes there when a window is smaller than the program says, on any rank that this rank reads or writes.
  void bind(Binding binding);

  // Run number `run`: signals are set to and awaited at value + run * per_run. All ranks use the same number, greater
  // than any before on the same signals. After an error the signals are in an unknown state: bind new ones.
  // Errors of the fabric gain the program's name and the operation's number.
  void run(std::uint64_t run, Clock::time_point deadline);

  // Of the last run that ended well.
  const Traffic& traffic() const { return traffic_; }
  Index operations() const { return static_cast<Index>(steps_.size()); }

 private:
  // An operation with its copies laid out as the fabric takes them: copies_[first_copy, first_copy + copies).
  struct Step {
    OpCode code;
    RankId peer;
    int source_window;
    int target_window;
    int signal;
    Index slot;
    std::uint64_t value;
    std::uint64_t per_run;
    Endpoint::Update update;
    Endpoint::Until until;
    std::size_t first_copy;
    std::size_t copies;
    std::size_t first_fold;
    std::size_t folds;
    std::array<std::byte, 16> identity;  // fill
    Index bytes;
  };
  class Folds;
  // Bytes of a program window that this rank touches on `rank`.
  struct Need {
    int window;
    RankId rank;
    Index bytes;
  };

  void add(const Program& program, const Operation& operation);
  void need(const Program& program, const Operation& operation, int window, RankId rank, Index Block::*offset,
            Index Loop::*stride);
  void need(const Program& program, const Reduction& reduction, const Operand& operand, Dtype dtype);
  // Bytes of their results.
  Index add_folds(const Program& program, const Operation& operation);
  void lay_out(const std::vector<Block>& blocks, Index limit);
  void point_copies_at_strides();
  void execute(const Step& step, std::uint64_t run, Clock::time_point deadline, Traffic& traffic);
  std::string describe(const Step& step) const;

  std::string name_;
  Endpoint* endpoint_;
  std::vector<std::string> window_names_;
  std::vector<std::string> signal_names_;
  std::vector<Step> steps_;
  std::vector<Stride> strides_;
  std::vector<StridedCopy> copies_;
  std::vector<std::size_t> loops_;  // of each copy
  std::unique_ptr<Folds> folds_;
  std::vector<Need> needs_;
  Binding binding_;
  bool bound_ = false;
  std::vector<std::span<std::byte>> memory_;  // this rank's, per bound window
  Traffic traffic_;
};

}  // namespace reshard
