// Programs with composites as files: their source, and the text they are lowered to.
#pragma once

#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct CompositeFile {
  std::string name;     // "all_gather.parity"
  std::string path;     // of the source
  std::string lowered;  // path of the text it must be lowered to
};

// Builtins of the corpus, and what the corpus does not have: other protocols, views, loops.
std::vector<CompositeFile> composite_files();
std::string contents_of(const std::string& path);
SymbolicProgram program_in(const CompositeFile& file);
// Numbers of ranks a program is tried with: redistribute is for a certain number of them.
std::vector<Index> ranks_for(const CompositeFile& file);

}  // namespace reshard
