// Small text files: indices, configurations, rules, lists.
#pragma once

#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

// Throws Error(io) if the file cannot be read, Error(corrupt) if it is larger than `max_bytes`.
std::string read_text_file(const std::string& path, Index max_bytes);
// Throws Error(corrupt) unless `name` names a file inside its folder: not absolute, no "..", not empty.
void check_file_name(std::string_view name, std::string_view file);

}  // namespace reshard
