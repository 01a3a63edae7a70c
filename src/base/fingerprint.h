// FNV-1a in 64 bits: the same in every process, which std::hash need not be.
#pragma once

#include <cstdint>
#include <string_view>

namespace reshard {

// Of `text` behind what `before` is the fingerprint of.
inline std::uint64_t fingerprint(std::string_view text, std::uint64_t before = 0xcbf29ce484222325u) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}

}  // namespace reshard
