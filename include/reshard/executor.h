// Runs the operations of one rank of a program on a fabric. The only place where programs and fabrics meet.
//
// Everything that costs time or memory is done when an executor is made or bound: `run` allocates nothing, looks up
// nothing and takes no lock. Deferred operations are the exception: what they stand for is laid out when it is reached.
//
// Thread rule: confined (one thread at a time), as its endpoint.
#pragma once

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
  // In place of windows whose id is -1: memory of this rank that no peer reaches. It must outlive the executor or the
  // next bind. Empty where there are none, else as long as `windows`.
  std::vector<std::span<std::byte>> memory = {};
};

// What one rank did in one run. Local copies move no message.
struct Traffic {
  Index bytes_got = 0;
  Index bytes_put = 0;
  Index bytes_copied = 0;   // of casts, as they are written
  Index bytes_reduced = 0;  // of results
  Index gets = 0;
  Index puts = 0;
  Index notifications = 0;
  Index waits = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};
Traffic operator+(const Traffic& a, const Traffic& b);

class Executor {
 public:
  // Keeps the operations of endpoint.rank(); the program may go, the endpoint must stay.
  // Throws Error(invalid_argument) that names operation and window when a block leaves its window, Error(unsupported)
  // that names op and dtype when one cannot be reduced by the other, or cast.
  Executor(const Program& program, Endpoint& endpoint);
  Executor(Executor&&) noexcept;
  ~Executor();

  // Names the windows and signals to use. Throws Error(invalid_argument) that names window, rank, bytes needed and
  // bytes there when a window is smaller than the program says, on any rank that this rank reads or writes; and when
  // peers are to reach what is bound to memory of this rank alone.
  void bind(Binding binding);

  // Run number `run`: signals are set to and awaited at value + run * per_run. All ranks use the same number, greater
  // than any before on the same signals. After an error the signals are in an unknown state: bind new ones, or bring
  // these back to their start once no rank runs any more.
  // Errors gain the program's name, the operation's number and, where it has one, its label; deferred operations are
  // checked when they are reached, as all others are when the executor is made.
  void run(std::uint64_t run, Clock::time_point deadline);

  // Whether the last run ended because the program refused to go on: a deferred operation threw
  // Error(invalid_argument), which is passed on as it is. Where all ranks are refused at the same place, what they
  // hold is as it was left by the operations before.
  bool refused() const { return refused_; }
  // Number of the operation at which the last run ended with an error.
  Index stopped_at() const { return static_cast<Index>(at_); }
  // Of the last run that ended well.
  const Traffic& traffic() const { return traffic_; }
  Index operations() const;

 private:
  class Casts;
  class Folds;
  class Steps;
  struct Step;
  // Bytes of a program window that this rank touches on `rank`; `far`: as the far end of a put or get.
  struct Need {
    int window;
    RankId rank;
    bool far;
    Index bytes;
  };

  void check_need(const Need& need, const Binding& binding) const;
  std::string who_is_missing(const Step& step) const;
  void execute(Steps& steps, const Step& step, std::uint64_t run, Clock::time_point deadline);
  void move(const Steps& steps, const Step& step, Clock::time_point deadline);
  void signal(const Step& step, std::uint64_t run, Clock::time_point deadline);
  void execute_deferred(const Step& step, std::uint64_t run, Clock::time_point deadline);
  void expand(const Deferred& deferred);
  void execute_now(const Operation& operation, std::uint64_t run, Clock::time_point deadline);

  Endpoint* endpoint_;
  std::unique_ptr<const Program> program_;  // without its operations
  std::unique_ptr<Steps> steps_;
  Binding binding_;
  bool bound_ = false;
  std::vector<std::span<std::byte>> memory_;  // this rank's, per bound window
  // Of deferred operations: what is still to do, the next one last; what one stands for; and it laid out.
  std::vector<Operation> pending_;
  std::vector<Operation> expanded_;
  std::unique_ptr<Steps> now_;
  std::size_t at_ = 0;
  bool refused_ = false;
  Traffic counting_;
  Traffic traffic_;
};

}  // namespace reshard
