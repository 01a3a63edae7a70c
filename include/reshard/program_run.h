// Runs symbolic programs on the ranks of a world: threads or processes.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "reshard/executor.h"
#include "reshard/symbolic.h"
#include "reshard/world.h"

namespace reshard {

// A program made ready for one world: lowered, unrolled for this rank, its windows, signals and memory allocated.
//
//   thread_ranks(4, [&](World& world) {
//     ProgramRun run(world, all_to_all, {{"n", 256}});
//     std::ranges::copy(mine, run.span<float>("x").begin());
//     run.call();
//     use(run.span<float>("y"));
//   });
//
// Construction and call() are collective. Counters have 64 bits, however few a signal declares: what would wrap is for
// check() to find. Windows and signals stay until the world ends. Thread rule: confined to its rank.
class ProgramRun {
 public:
  // The world must outlive the run. Throws the same Error on every rank: invalid_argument where the ranks disagree on
  // the program or its sizes, or it cannot be lowered and unrolled; unsupported where it cannot be run.
  ProgramRun(World& world, const SymbolicProgram& program, const std::map<std::string, Index>& sizes = {});
  ProgramRun(ProgramRun&&) noexcept;
  ~ProgramRun();

  // This rank's memory of a buffer of any role; views too. Valid until the run is destroyed. Zeroed at first, or as the
  // rules of the program say for all but inputs. Windows may be reached by peers during call().
  std::span<std::byte> bytes(std::string_view buffer);
  template <class T>
  std::span<T> span(std::string_view buffer) {
    const std::span<std::byte> memory = bytes(buffer);
    return {reinterpret_cast<T*>(memory.data()), memory.size() / sizeof(T)};
  }

  // One call, within the timeout of the world. When it returns, outputs are complete and inputs may be changed; what
  // may be said of windows is in the contract of the program. From the second call on nothing is allocated, unless the
  // program reads memory or uses `call` in a way that needs another unrolling (unroll_all_calls).
  //
  // A `require` that fails throws Error(invalid_argument) on the ranks where it failed. If it did on all ranks they may
  // call again, which begins anew, as the first call: signals are back at their start, windows keep what they hold. The
  // ranks make sure of this before they go on; where one was not refused, the others end with a timeout.
  // Any other error is the end of this run, and later calls say so. A wait past its deadline names the cell, what was
  // expected and seen there, and the ranks whose notifications it is for.
  Traffic call();
  // That have ended well, since the beginning or the last refusal.
  Index calls() const;

  // Fills inputs for the next call by the rules of the program, and checks outputs of the last, for which inputs had
  // been filled so, against what the program expects: floats that sums or products round, to within their rounding.
  // Throws Error(corrupt) that names rank, buffer, place, value and what was expected.
  void fill_inputs();
  void check_outputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reshard
