// Memory of the process whose pages are replaced by pages of a file, at the same address, and the way back.
#pragma once

#include <cstddef>
#include <span>

#include "reshard/index.h"

namespace reshard::fabric {

// The whole pages on which `memory` lies.
std::span<std::byte> pages_of(std::span<const std::byte> memory);
// Whether they may be replaced: the process's own, to read and to write, of no file, and not those on which the calling
// thread's stack lies. Cost: reads the list of the process's mappings, tens of microseconds.
bool are_replaceable(std::span<const std::byte> pages);

// While these run nobody may write to the pages, and afterwards they hold what they held before.
// `piece`: where this process sees the file at `offset`. Throws Error(io).
void share_pages(std::span<std::byte> pages, std::byte* piece, int file, Index offset);
// Back to memory of this process alone. Throws Error(io) without memory.
void unshare_pages(std::span<std::byte> pages);

}  // namespace reshard::fabric
