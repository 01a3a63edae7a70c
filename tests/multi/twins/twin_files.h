// Programs that do the same: by hand and with composites.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard::multi {

struct TwinFile {
  std::string name;  // "barrier.epoch.rp"
  SymbolicProgram program;
};
struct TwinPair {
  TwinFile hand;
  TwinFile builtin;
};

// In the order of their names: tests/corpus/twins/NAME.hand.rp with each other NAME.*.rp there and in
// tests/corpus/builtins, and the steps of the ladder.
const std::vector<TwinPair>& twin_pairs();
// Names of files in tests/corpus/builtins that are half of no pair.
std::vector<std::string> builtins_without_twin();

std::string twin_text(std::string_view name);
SymbolicProgram twin_program(std::string_view name);
// With every `from` in its text replaced.
SymbolicProgram twin_program_with(std::string_view name, std::string_view from, std::string_view to);

bool is_of_ladder(const TwinPair& pair);
// Below that the program refuses to run.
Index least_ranks(const TwinPair& pair);
// n, where the program has such a size.
std::map<std::string, Index> sizes_of(const TwinPair& pair, Index n);
std::vector<std::string> output_names(const SymbolicProgram& program);

}  // namespace reshard::multi
