// System calls on files being written; each throws Error(io) that names the path.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "reshard/index.h"

namespace reshard {

void write_at(int fd, Index offset, std::span<const std::byte> bytes, const std::string& path);
// Makes `partial` appear as `path`, with its contents on disk before its name.
void publish(int fd, const std::string& partial, const std::string& path);

}  // namespace reshard
