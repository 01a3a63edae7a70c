// Runs symbolic programs on the ranks of a world: threads or processes.
#pragma once

#include <memory>
#include <map>
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
// Construction and call() are collective. Thread rule: confined to its rank.
class ProgramRun {
 public:
  // Throws the same Error(invalid_argument) on every rank where the ranks disagree on the program or its sizes, or it
  // cannot be unrolled.
  ProgramRun(World& world, const SymbolicProgram& program, const std::map<std::string, Index>& sizes = {});
  ProgramRun(ProgramRun&&) noexcept;
  ~ProgramRun();

  // This rank's memory of a buffer of any role; views too. Valid until the run is destroyed. Zeroed at first.
  // Windows may be reached by peers during call().
  std::span<std::byte> bytes(std::string_view buffer);
  template <class T>
  std::span<T> span(std::string_view buffer) {
    const std::span<std::byte> memory = bytes(buffer);
    return {reinterpret_cast<T*>(memory.data()), memory.size() / sizeof(T)};
  }

  // One call. When it returns, outputs are complete and inputs may be changed; what may be said of windows is in the
  // contract of the program. A require that fails throws Error(invalid_argument) on the ranks where it failed; where it
  // fails on all ranks the run can be called again. After any other error it cannot.
  // From the second call on nothing is allocated, unless the program reads memory or uses `call` in a way that needs
  // another unrolling (unroll_all_calls).
  Traffic call();
  Index calls() const;

  // Fills inputs for the next call by the rules of the program, and checks outputs of the last against what it expects.
  // Throws Error(corrupt) that names rank, buffer, place, value and what was expected.
  void fill_inputs();
  void check_outputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reshard
