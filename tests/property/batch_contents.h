// What every buffer of a batch holds before and after a move, from the oracle: no plan, no program, no region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "oracle/ownership.h"
#include "reshard/layout.h"

namespace reshard {

// The linear index at each address of a rank's buffer, or oracle::hole, by layout and rank.
class Contents {
 public:
  const std::vector<Index>& of(const Layout& layout, Index rank) {
    const auto [entry, fresh] = known_.try_emplace(layout.text());
    if (fresh) entry->second = oracle::ownership_of(layout);
    const auto part = entry->second.parts.find(rank);
    return part == entry->second.parts.end() ? none_ : part->second.buffer;
  }

 private:
  std::map<std::string, oracle::Ownership> known_;
  std::vector<Index> none_;
};

// Bytes that name tensor, index and epoch: readable in 8 bytes, mixed in fewer.
inline void write_element(std::byte* at, Index bytes, std::uint64_t tensor, Index linear, std::uint64_t epoch) {
  std::uint64_t value = (epoch * 1'000'000 + tensor) * 1'000'000 + static_cast<std::uint64_t>(linear);
  if (bytes < 8) value = value * 0x9e3779b97f4a7c15u >> 24;
  for (Index k = 0; k < bytes; k += 8) {
    std::memcpy(at + k, &value, static_cast<std::size_t>(std::min<Index>(bytes - k, 8)));
    value = ~value;
  }
}

// Elements get their values, every other byte the poison.
inline std::vector<std::byte> filled(const std::vector<Index>& contents, Index element_bytes, std::uint64_t tensor,
                                     std::uint64_t epoch, std::byte poison) {
  std::vector<std::byte> buffer(contents.size() * static_cast<std::size_t>(element_bytes), poison);
  std::byte* at = buffer.data();
  for (const Index linear : contents) {
    if (linear != oracle::hole) write_element(at, element_bytes, tensor, linear, epoch);
    at += element_bytes;
  }
  return buffer;
}

}  // namespace reshard
