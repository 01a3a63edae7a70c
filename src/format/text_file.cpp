#include "format/text_file.h"

#include <filesystem>

#include "base/fail.h"
#include "format/json.h"
#include "reshard/mapped_file.h"

namespace reshard {

std::string read_text_file(const std::string& path, Index max_bytes) {
  const MappedFile file = MappedFile::open(path);
  if (file.size() > max_bytes) {
    fail(Code::corrupt, "{}: {} bytes are more than the {} such a file may have", path, file.size(), max_bytes);
  }
  const ReadGuard guard(file);
  std::string text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  guard.check();
  return text;
}

void check_file_name(std::string_view name, std::string_view file) {
  const std::filesystem::path path(name);
  bool inside = !name.empty() && path.is_relative() && name.find('\0') == std::string_view::npos;
  for (const auto& part : path) inside = inside && part != ".." && part != "." && !part.empty();
  if (!inside) fail(Code::corrupt, "{}: file name {} does not stay in its folder", file, json_quote(name));
}

}  // namespace reshard
