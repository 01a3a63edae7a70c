#include "composite_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reshard/program_text.h"

namespace reshard {
namespace {

void add_from(const std::string& folder, std::vector<CompositeFile>& files) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".rp" || name.ends_with(".lowered")) continue;
    files.push_back({name, entry.path().string(), std::string(RESHARD_LOWERED) + "/" + name + ".lowered.rp"});
  }
}

}  // namespace

std::vector<CompositeFile> composite_files() {
  std::vector<CompositeFile> files;
  add_from(RESHARD_BUILTINS, files);
  add_from(RESHARD_LOWERED, files);
  std::ranges::sort(files, {}, &CompositeFile::name);
  return files;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

SymbolicProgram program_in(const CompositeFile& file) { return parse_program(contents_of(file.path), file.path); }

std::vector<Index> ranks_for(const CompositeFile& file) {
  if (file.name.starts_with("redistribute.credits-1")) return {4};
  if (file.name.starts_with("redistribute")) return {2, 3, 5};
  return {1, 2, 3, 4, 5};
}

}  // namespace reshard
