// The words that a rank brings to a collective call, in plain memory that others may read; and what is said of ranks
// whose words differ.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard::fabric {

struct OfferText {
  static constexpr std::size_t kNameShown = 192;
  static constexpr std::size_t kFailureShown = 512;

  OfferText() = default;
  OfferText(std::string_view name, std::string_view failure);

  std::uint64_t name_bytes = 0;
  std::uint64_t name_hash = 0;
  std::array<char, kNameShown> name{};        // may be cut: name_bytes and name_hash tell
  std::array<char, kFailureShown> failure{};  // why the rank cannot take part; empty: it can

  bool has_same_name(const OfferText& other) const {
    return name_bytes == other.name_bytes && name_hash == other.name_hash;
  }
  bool has_failed() const { return failure[0] != '\0'; }
  // `call("name") [id 3]`
  std::string described(std::string_view call, int id) const;
};

// Ranks by their names, calls as described.
std::string disagreement(Index rank, std::string_view call, Index other, std::string_view other_call);

}  // namespace reshard::fabric
