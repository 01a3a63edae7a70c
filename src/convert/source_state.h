// What the file system says of a source's files, to notice that one was replaced or written to.
#pragma once

#include <string>
#include <vector>

#include "reshard/checkpoint.h"

namespace reshard::convert_detail {

// Per file, in words: path, identity, size, time of the last change of its contents.
std::vector<std::string> source_state(const Checkpoint& checkpoint);
// Throws Error(corrupt) that names the first file whose state is another one now.
void require_unchanged(const Checkpoint& checkpoint, const std::vector<std::string>& before);

}  // namespace reshard::convert_detail
