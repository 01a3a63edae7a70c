#include "program/program_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <set>

#include "options/number_list.h"
#include "options/whole_number.h"
#include "output/output.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

constexpr std::string_view kEnding = ".rp";

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

std::string stem_of(const std::string& file) {
  return file.ends_with(kEnding) ? file.substr(0, file.size() - kEnding.size()) : file;
}

Index number_of(const std::string& setting, std::size_t equals) {
  Index value = 0;
  const char* const end = setting.data() + setting.size();
  const auto [at, fault] = std::from_chars(setting.data() + equals + 1, end, value);
  if (fault != std::errc() || at != end) refuse(fmt::format("--set {}: expected NAME=NUMBER, as in n=3", setting));
  return value;
}

std::string names_of(const std::vector<SizeDeclaration>& sizes) {
  std::string names;
  for (const SizeDeclaration& size : sizes) names += (names.empty() ? "" : ", ") + size.name;
  return names.empty() ? "none" : names;
}

}  // namespace

std::string path_in_mode(const std::string& file, const std::string& mode) {
  if (!mode.empty()) return fmt::format("{}.{}{}", stem_of(file), mode, kEnding);
  if (file == "-" || std::filesystem::exists(file)) return file;
  const std::string by_hand = path_in_mode(file, "hand");
  return std::filesystem::exists(by_hand) ? by_hand : file;
}

SymbolicProgram load_program(const std::string& path) {
  return parse_program(read_file(path), path == "-" ? "standard input" : path);
}

void FileFlags::add_to(CLI::App& command, bool required) {
  command.add_option("file", file, "A program as text; - for standard input")->required(required)->type_name("FILE");
  command
      .add_option("--mode", mode,
                  "Reads NAME.MODE.rp for NAME.rp or NAME: hand or builtin (hand, where there is no FILE)")
      ->type_name("MODE");
}

void SizeFlags::add_to(CLI::App& command) {
  command.add_option("--set", settings, "A size instead of the one that the program declares; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=N");
}

std::map<std::string, Index> SizeFlags::of(const SymbolicProgram& program) const {
  std::map<std::string, Index> sizes;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      refuse(fmt::format("--set {}: expected NAME=NUMBER, as in n=3", setting));
    const std::string name = setting.substr(0, equals);
    if (std::ranges::find(program.sizes, name, &SizeDeclaration::name) == program.sizes.end())
      refuse(fmt::format("--set {}: program {} has no size {}; its sizes: {}", setting, program.name, name,
                         names_of(program.sizes)));
    sizes[name] = number_of(setting, equals);
  }
  return sizes;
}

void DeviceFlags::add_to(CLI::App& command) {
  command.add_option("-d,--devices", devices, "The device of each rank, as many as ranks: 0,1,2,3 or 0-3 (0,1)")
      ->type_name("LIST");
  command.add_option("-P,--ranks", ranks, "Short for the devices 0 to N - 1")->check(whole_number(1))->type_name("N");
}

std::vector<Index> DeviceFlags::list() const {
  if (devices.empty()) {
    std::vector<Index> all(static_cast<std::size_t>(ranks > 0 ? ranks : 2));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }
  const std::vector<Index> all = number_list("--devices", devices);
  if (std::set<Index>(all.begin(), all.end()).size() < all.size())
    refuse(fmt::format("--devices {}: a device is listed twice; each is one rank", devices));
  if (ranks > 0 && ranks != std::ssize(all))
    refuse(fmt::format("--devices {} are {} ranks, --ranks says {}", devices, all.size(), ranks));
  return all;
}

}  // namespace reshard::cli
