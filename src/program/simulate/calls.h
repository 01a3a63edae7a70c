// What the ranks run call by call, and what their memory begins and ends with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reshard/simulate.h"

namespace reshard::simulation {

struct CallProgram {
  std::shared_ptr<const Program> program;
  std::uint64_t run = 0;  // Operation::per_run
};

using ExpectationsOfRank = std::vector<std::vector<Expectation>>;  // per rank
ExpectationsOfRank by_rank(std::vector<Expectation> expectations, Index ranks);

class Calls {
 public:
  virtual ~Calls() = default;
  // Ranks may be in several calls at once; calls count from 1.
  virtual CallProgram program(Index call) = 0;
  virtual std::shared_ptr<const ExpectationsOfRank> expect(Index call) = 0;
  // As fill_initial: returns whether anything was written.
  virtual bool fill(Index call, RankId rank, int window, std::span<std::byte> bytes) = 0;
  // No rank asks for this call any more.
  virtual void retire(Index call) = 0;
};

// Of a program without composites.
std::unique_ptr<Calls> calls_of(const SymbolicProgram& program, const UnrollOptions& options);
// Keeps a reference to the input. Throws Error(invalid_argument) where the programs do not fit each other.
std::unique_ptr<Calls> calls_of(const SimulateInput& input, Index ranks);

}  // namespace reshard::simulation
