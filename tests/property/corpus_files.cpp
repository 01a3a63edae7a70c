#include "corpus_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

// "# fails from P = 3 with 2 calls: deadlock or race"
void read_head(const std::string& line, CorpusProgram& program) {
  std::istringstream words(line);
  std::string word, rest;
  std::vector<std::string> list;
  while (words >> word) list.push_back(word);
  const bool fits = list.size() >= 9 && list[1] == "fails" && list[3] == "P" && list[6] == "with";
  if (!fits)
    throw Error(Code::invalid_argument, program.name + ": the first line says neither when it fails nor that it holds");
  program.broken = true;
  program.least_ranks = std::stoll(list[5]);
  program.calls = std::stoll(list[7]);
  for (std::size_t i = 9; i < list.size(); ++i)
    if (list[i] != "or") program.faults.push_back(list[i]);
}

}  // namespace

std::vector<CorpusProgram> corpus_programs(const std::filesystem::path& folder) {
  std::vector<CorpusProgram> programs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".rp") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    CorpusProgram& program = programs.emplace_back();
    program.name = entry.path().stem().string();
    const std::string head = text.str().substr(0, text.str().find('\n'));
    if (head != "# holds") read_head(head, program);
    program.program = parse_program(text.str(), entry.path().filename().string());
  }
  std::ranges::sort(programs, {}, &CorpusProgram::name);
  return programs;
}

}  // namespace reshard
