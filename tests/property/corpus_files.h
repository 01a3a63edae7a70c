// The programs of tests/corpus/programs: each broken one says at the head of its file when it fails first, and how.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct CorpusProgram {
  std::string name;  // of the file, without .rp
  SymbolicProgram program;
  bool broken = false;
  Index least_ranks = 0;  // at which it fails
  Index calls = 0;
  std::vector<std::string> faults;  // any of these
  friend void PrintTo(const CorpusProgram& program, std::ostream* out) { *out << program.name; }
};

// By name. Throws Error(invalid_argument) that names the file where a head line or the program is malformed.
std::vector<CorpusProgram> corpus_programs(const std::filesystem::path& folder);

}  // namespace reshard
