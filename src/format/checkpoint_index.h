// model.safetensors.index.json: which file holds which tensor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

inline constexpr std::string_view kIndexName = "model.safetensors.index.json";

struct IndexEntry {
  std::string tensor;
  std::string file;
};

struct CheckpointIndex {
  std::vector<IndexEntry> entries;
  std::optional<Index> total_bytes;  // where the index states a whole number
};

// Throws Error(corrupt): no weight_map, a tensor listed twice, a file name that leaves the folder.
CheckpointIndex parse_index(std::string_view text, std::string_view file);
// As the field writes it: two spaces, sorted names.
std::string index_text(CheckpointIndex index);

}  // namespace reshard
