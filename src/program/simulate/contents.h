// What the ranks' memory holds when they begin a call.
#pragma once

#include <map>
#include <vector>

#include "program/simulate/calls.h"
#include "program/simulate/memory.h"

namespace reshard::simulation {

// What outputs and local memory hold before a call has written them.
inline constexpr std::byte kPoison{0xA5};

// The inputs of all ranks, as one call begins with them.
class CallInputs {
 public:
  explicit CallInputs(const Program& program);
  // As `before`, with what the rules of `call` write.
  static CallInputs next(const CallInputs& before, Calls& calls, Index call);
  // Empty where the window is no input.
  std::span<const std::byte> of(RankId rank, int window) const;

 private:
  std::vector<std::map<int, std::vector<std::byte>>> bytes_;  // per rank, by window
};

class Contents {
 public:
  Contents(const Program& program, Calls& calls) : program_(program), calls_(calls), last_(program) {}
  // A rank begins a call: inputs are given anew, what outputs and local memory held is wiped out.
  void begin(Index call, RankId rank, SimulatedMemory& memory);
  // Kept from the moment the first rank begins the call until it is retired.
  const CallInputs& inputs(Index call) const { return kept_.at(call); }
  void retire(Index call) { kept_.erase(call); }

 private:
  const Program& program_;
  Calls& calls_;
  CallInputs last_;
  std::map<Index, CallInputs> kept_;
};

}  // namespace reshard::simulation
