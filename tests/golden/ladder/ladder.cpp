#include "ladder/ladder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reshard/program_text.h"

namespace reshard {
namespace {

std::filesystem::path ladder_path(const LadderFile& file) {
  return std::filesystem::path(RESHARD_LADDER) / file.name();
}

void each_file(bool right, const std::function<void(const LadderFile&, const SymbolicProgram&)>& visit) {
  for (const LadderFile& file : ladder_files()) {
    if (is_right(file) != right) continue;
    SCOPED_TRACE(file.name());
    visit(file, ladder_program(file));
  }
}

}  // namespace

std::vector<LadderFile> ladder_files() {
  std::vector<LadderFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(RESHARD_LADDER)) {
    if (entry.path().extension() != ".rp") continue;
    const std::filesystem::path stem = entry.path().stem();
    files.push_back({stem.stem().string(), stem.extension().string().substr(1)});
  }
  std::ranges::sort(files, {}, &LadderFile::name);
  return files;
}

std::string ladder_text(const LadderFile& file) {
  std::ifstream stream(ladder_path(file));
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

SymbolicProgram ladder_program(const LadderFile& file) { return parse_program(ladder_text(file), file.name()); }

void each_right_program(const std::function<void(const LadderFile&, const SymbolicProgram&)>& visit) {
  each_file(true, visit);
}

void each_trap(const std::function<void(const LadderFile&, const SymbolicProgram&)>& visit) { each_file(false, visit); }

}  // namespace reshard
