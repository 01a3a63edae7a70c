// From a symbolic program to what each rank does, and what its inputs and outputs hold.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reshard/program.h"
#include "reshard/symbolic.h"

namespace reshard {

struct UnrollOptions {
  Index ranks = 2;
  std::map<std::string, Index> sizes = {};  // instead of the values the program declares
  Index call = 1;                           // counted from 1
  std::optional<RankId> only = {};          // operations of this rank alone; the others stay empty
};

// The operations of every rank for one call. Windows are the allocations, in the order of their declaration; views are
// resolved to them. Statements that read memory become deferred operations; everything else is a number.
// Throws Error(invalid_argument) that quotes the statement, rank and values: unknown names and sizes, slices that leave
// their buffer or whose shapes differ, peers and slots out of range. Error(unsupported) for a composite: lower() first,
// and past 2^23 statements of a rank (2^20 in one deferred operation) or 2^24 operations of all.
// Cost: in the number of operations made.
Program unroll(const SymbolicProgram& program, const UnrollOptions& options);

// Programs that serve every call without unrolling again: call c runs number (c - 1) % size() of them, as run c - 1
// (Operation::per_run). Empty where the program uses `call` in other ways than `call % constant` and, linearly, in the
// values of notify and wait; such a program is unrolled for each call.
std::vector<Program> unroll_all_calls(const SymbolicProgram& program, const UnrollOptions& options);

// A value in terms of the inputs of the same call.
struct Term {
  enum class Kind { input, constant, fold };
  Kind kind = Kind::constant;
  RankId rank = {};  // input: the element at `offset` bytes of this window of this rank, as the call began
  int window = 0;
  Index offset = 0;
  Dtype dtype = Dtype::f32;
  Index value = 0;  // constant
  ReduceOp op = ReduceOp::sum;
  std::vector<Term> terms = {};  // fold
  friend bool operator==(const Term&, const Term&) = default;
};

// An element that must hold `value` on `rank` when the call has ended.
struct Expectation {
  RankId rank = {};
  int window = 0;
  Index offset = 0;  // bytes
  Dtype dtype = Dtype::f32;
  Term value = {};
  friend bool operator==(const Expectation&, const Expectation&) = default;
};
std::vector<Expectation> expectations(const SymbolicProgram& program, const UnrollOptions& options);

// What `rank` holds in one allocation when call `options.call` begins, by its init rule; nothing if it has none and is
// no input. `bytes` has the size of the allocation. Inputs without a rule are stamped: integers and floats hold
// call * 1000000 + rank * 10000 + element, reduced modulo what the dtype holds exactly.
// Returns whether anything was written.
bool fill_initial(const SymbolicProgram& program, const UnrollOptions& options, RankId rank, int window,
                  std::span<std::byte> bytes);

// One element, as an integer and from one. Floats are rounded to nearest; complex numbers have no imaginary part.
Index read_element(Dtype dtype, const std::byte* at);
void write_element(Dtype dtype, Index value, std::byte* at);

}  // namespace reshard
