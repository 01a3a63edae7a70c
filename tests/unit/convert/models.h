// Small models for conversions: every element of every tensor is made from the tensor's name and its own place.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/convert.h"
#include "unit/format/files.h"

namespace reshard::test {

struct SmallModel {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> bytes = {};  // by name; filled in by the functions below
  std::string config = {};                        // text of config.json; empty = none
};

// Llama with odd sizes: 6 heads over 2 key/value heads, 3 layers, a vocabulary of 37; embeddings are tied.
SmallModel small_llama();
// The same attention, 5 experts per layer.
SmallModel small_mixtral();
// One tensor of every dtype, a scalar, empty ones, fewer rows than ranks, rows long enough to be written directly.
SmallModel odd_shapes();
// `count` tensors of a few KiB: "t.0", "t.1", ...
SmallModel many_tensors(int count);

// As published: model.safetensors, or numbered files of about `max_file_bytes` of data and an index.
void write_published(const std::string& folder, const SmallModel& model, Index max_file_bytes = 5'000'000'000);

ModelRules shipped_rules(std::string_view file);
// One layout per tensor, "*" standing for those that are not listed.
ModelRules listed_rules(std::string_view mesh, const std::map<std::string, std::string>& layouts);

// Path within the folder to contents, for all files.
std::map<std::string, std::string> contents(const std::string& folder);
void expect_equal_folders(const std::string& expected, const std::string& found);

}  // namespace reshard::test
