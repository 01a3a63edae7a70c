#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "base/checked.h"
#include "base/fail.h"
#include "format/checkpoint_index.h"
#include "format/text_file.h"
#include "reshard/checkpoint.h"

namespace reshard {

namespace {

constexpr Index kMaxListBytes = 256 << 20;
constexpr std::string_view kListSuffix = ".shapes.tsv";

// Takes the text before `separator` off the front of `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

std::vector<Index> parse_shape(std::string_view text, const std::string& where) {
  std::vector<Index> shape;
  while (!text.empty()) {
    const std::string_view number = take(text, ',');
    Index extent = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
    if (error != std::errc() || end != number.data() + number.size() || extent < 0) {
      fail(Code::corrupt, "{}: '{}' is no extent", where, number);
    }
    shape.push_back(extent);
  }
  return shape;
}

TensorInfo parse_line(std::string_view line, const std::string& where) {
  TensorInfo tensor;
  tensor.name = take(line, '\t');
  const std::string_view dtype = take(line, '\t');
  const auto known = safetensors_dtype(dtype);
  if (!known) fail(Code::corrupt, "{}: tensor '{}' has the unknown dtype '{}'", where, tensor.name, dtype);
  tensor.dtype = *known;
  tensor.shape = parse_shape(line, fmt::format("{}: tensor '{}'", where, tensor.name));
  bytes_of(tensor);  // throws if the size does not fit
  return tensor;
}

std::string beside(const std::string& path, std::string_view suffix) {
  return path.substr(0, path.size() - kListSuffix.size()) + std::string(suffix);
}

}  // namespace

std::vector<TensorInfo> tensors_from_shapes(std::string_view list, std::string_view file) {
  std::vector<TensorInfo> tensors;
  int number = 0;
  while (!list.empty()) {
    std::string_view line = take(list, '\n');
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    tensors.push_back(parse_line(line, fmt::format("{}:{}", file, number)));
  }
  return tensors;
}

std::vector<TensorInfo> tensors_from_index_and_shapes(std::string_view index_text, std::string_view list,
                                                      std::string_view file) {
  const CheckpointIndex index = parse_index(index_text, file);
  std::vector<TensorInfo> tensors = tensors_from_shapes(list, file);
  std::unordered_map<std::string_view, bool> listed;
  for (const IndexEntry& entry : index.entries) listed.emplace(entry.tensor, false);
  Index total = 0;
  for (const TensorInfo& tensor : tensors) {
    const auto found = listed.find(tensor.name);
    if (found == listed.end()) fail(Code::corrupt, "{}: tensor '{}' is not in the index", file, tensor.name);
    if (found->second) fail(Code::corrupt, "{}: tensor '{}' has two lines", file, tensor.name);
    found->second = true;
    total = checked_add(total, bytes_of(tensor), "bytes of the model");
  }
  for (const auto& [name, seen] : listed) {
    if (!seen) fail(Code::corrupt, "{}: tensor '{}' of the index has no line", file, name);
  }
  if (index.total_bytes && *index.total_bytes != total) {
    fail(Code::corrupt, "{}: the index states {} bytes, the shapes make {}", file, *index.total_bytes, total);
  }
  return tensors;
}

TensorList load_tensor_list(const std::string& path) {
  if (!path.ends_with(kListSuffix)) {
    const Checkpoint checkpoint = open_checkpoint(path);
    if (!checkpoint.manifest()) return {checkpoint.infos(), checkpoint.config_text()};
    TensorList list{{}, checkpoint.config_text()};
    for (const ModelTensor& tensor : checkpoint.manifest()->model.tensors()) list.tensors.push_back(tensor.tensor);
    return list;
  }
  const std::string text = read_text_file(path, kMaxListBytes);
  const std::string index = beside(path, ".index.json"), config = beside(path, ".config.json");
  TensorList list;
  list.tensors = std::filesystem::exists(index)
                     ? tensors_from_index_and_shapes(read_text_file(index, kMaxListBytes), text, path)
                     : tensors_from_shapes(text, path);
  if (std::filesystem::exists(config)) list.config_text = read_text_file(config, kMaxListBytes);
  return list;
}

}  // namespace reshard
