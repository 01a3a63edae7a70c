// What a rank must hold when a call has ended, as the program says.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reshard/symbolic.h"
#include "reshard/unroll.h"

namespace reshard {

// Inputs are those of fill_initial(); nothing is asked of peers.
class ExpectedOutputs {
 public:
  // Both must outlive it. `unrolled` says where buffers lie.
  ExpectedOutputs(const SymbolicProgram& program, const Program& unrolled, UnrollOptions options);

  // Throws Error(corrupt) for the first element of this rank (options.only) that differs. `memory`: per window.
  void check(const std::vector<std::span<std::byte>>& memory);

 private:
  using Element = std::array<std::byte, 16>;
  // `slack`: how far a value may be off that was summed up in another order; 0 where nothing rounds.
  struct Wanted {
    Element element{};
    double slack = 0;
  };

  Wanted wanted(const Term& term, Dtype dtype);
  Wanted folded(const Term& term, Dtype dtype);
  Element input(const Term& term, Dtype dtype);
  [[noreturn]] void differs(const Expectation& expectation, const Wanted& wanted, const std::byte* seen) const;
  std::string name_of(const Expectation& expectation) const;

  const SymbolicProgram& program_;
  const Program& unrolled_;
  UnrollOptions options_;
  std::map<std::pair<RankId, int>, std::vector<std::byte>> inputs_;  // by rank and window
};

}  // namespace reshard
