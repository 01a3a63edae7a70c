#include "faults/leftovers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace reshard::multi {
namespace {

long count_names(const std::filesystem::path& folder) {
  std::error_code none;
  return std::distance(std::filesystem::directory_iterator(folder, none), std::filesystem::directory_iterator());
}

long count_lines(const std::string& file, std::string_view with) {
  std::ifstream in(file);
  long count = 0;
  for (std::string line; std::getline(in, line);) count += line.find(with) != std::string::npos;
  return count;
}

// A field of /proc/N/stat that follows the name, which may hold anything but ends with the last ")".
bool is_child(const std::filesystem::path& process) {
  std::ifstream in(process / "stat");
  std::string line;
  std::getline(in, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  const std::string rest = line.substr(std::min(name_end + 4, line.size()));  // ") S parent .."
  return std::strtol(rest.c_str(), nullptr, 10) == ::getpid();
}

long count_children() {
  long count = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) count += is_child(entry.path());
  }
  return count;
}

}  // namespace

Leftovers count_leftovers() {
  return {.shared_memory = count_names("/dev/shm"),
          .descriptors = count_names("/proc/self/fd"),
          .mappings = count_lines("/proc/self/maps", "memfd:"),
          .children = count_children()};
}

std::string to_string(const Leftovers& l) {
  return fmt::format("{} names in /dev/shm, {} descriptors, {} mapped memory files, {} children", l.shared_memory,
                     l.descriptors, l.mappings, l.children);
}

}  // namespace reshard::multi
