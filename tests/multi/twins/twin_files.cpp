#include "twins/twin_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reshard/program_text.h"

namespace reshard::multi {
namespace {

const std::filesystem::path kCorpus = RESHARD_CORPUS;

std::string text_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<TwinFile> files_in(const std::filesystem::path& folder, std::string_view ending = ".rp") {
  std::vector<TwinFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(ending)) files.push_back({name, parse_program(text_in(entry.path()), name)});
  }
  std::ranges::sort(files, {}, &TwinFile::name);
  return files;
}

std::string stem(const TwinFile& file) { return file.name.substr(0, file.name.find('.')); }
bool is_hand(const TwinFile& file) { return file.name.ends_with(".hand.rp"); }

void add_pairs(std::vector<TwinPair>& pairs, const std::vector<TwinFile>& hands, const std::vector<TwinFile>& files) {
  for (const TwinFile& hand : hands)
    for (const TwinFile& file : files)
      if (is_hand(hand) && !is_hand(file) && stem(file) == stem(hand)) pairs.push_back({hand, file});
}

std::vector<TwinPair> all_pairs() {
  const std::vector<TwinFile> twins = files_in(kCorpus / "twins");
  std::vector<TwinPair> pairs;
  add_pairs(pairs, twins, twins);
  add_pairs(pairs, twins, files_in(kCorpus / "builtins"));
  add_pairs(pairs, files_in(RESHARD_LADDER, ".hand.rp"), files_in(RESHARD_LADDER, ".builtin.rp"));
  return pairs;
}

}  // namespace

const std::vector<TwinPair>& twin_pairs() {
  static const std::vector<TwinPair> pairs = all_pairs();
  return pairs;
}

std::vector<std::string> builtins_without_twin() {
  std::vector<std::string> names;
  for (const TwinFile& file : files_in(kCorpus / "builtins"))
    if (std::ranges::none_of(twin_pairs(), [&](const TwinPair& pair) { return pair.builtin.name == file.name; }))
      names.push_back(file.name);
  return names;
}

std::string twin_text(std::string_view name) {
  const std::filesystem::path twin = kCorpus / "twins" / name;
  return text_in(std::filesystem::exists(twin) ? twin : kCorpus / "builtins" / name);
}

SymbolicProgram twin_program(std::string_view name) { return parse_program(twin_text(name), name); }

SymbolicProgram twin_program_with(std::string_view name, std::string_view from, std::string_view to) {
  std::string text = twin_text(name);
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return parse_program(text, name);
}

bool is_of_ladder(const TwinPair& pair) { return pair.builtin.name.ends_with(".builtin.rp"); }

Index least_ranks(const TwinPair& pair) {
  const std::string name = stem(pair.builtin);
  return name == "redistribute" ? 2 : name == "redistribute_uneven" ? 3 : 1;
}

std::map<std::string, Index> sizes_of(const TwinPair& pair, Index n) {
  const auto& sizes = pair.hand.program.sizes;
  if (std::ranges::find(sizes, "n", &SizeDeclaration::name) == sizes.end()) return {};
  return {{"n", n}};
}

std::vector<std::string> output_names(const SymbolicProgram& program) {
  std::vector<std::string> names;
  for (const BufferDeclaration& buffer : program.buffers)
    if (buffer.role == BufferRole::output && buffer.viewed.empty()) names.push_back(buffer.name);
  return names;
}

}  // namespace reshard::multi
