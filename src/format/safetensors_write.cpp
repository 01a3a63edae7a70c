#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_set>

#include "base/checked.h"
#include "base/fail.h"
#include "format/json.h"
#include "format/output_fd.h"
#include "reshard/safetensors.h"

namespace reshard {

std::vector<FileTensor> place_tensors(std::span<const TensorInfo> tensors) {
  std::vector<FileTensor> placed;
  placed.reserve(tensors.size());
  std::unordered_set<std::string_view> names;
  Index at = 0;
  for (const TensorInfo& tensor : tensors) {
    if (!names.insert(tensor.name).second || tensor.name == "__metadata__") {
      fail(Code::invalid_argument, "tensor name {} {}", json_quote(tensor.name),
           tensor.name == "__metadata__" ? "is reserved by the safetensors format" : "is given twice");
    }
    const Index end = checked_add(at, bytes_of(tensor), "bytes of a safetensors file");
    placed.push_back({.tensor = tensor, .begin = at, .end = end});
    at = end;
  }
  return placed;
}

SafetensorsHeader safetensors_header(std::span<const TensorInfo> tensors, const Metadata& metadata) {
  SafetensorsHeader header{.text = "{", .metadata = metadata, .tensors = place_tensors(tensors)};
  auto separate = [&, first = true]() mutable {
    if (!first) header.text += ',';
    first = false;
  };
  if (!metadata.empty()) {
    separate();
    header.text += "\"__metadata__\":{";
    for (std::size_t i = 0; i < metadata.size(); ++i) {
      header.text +=
          fmt::format("{}{}:{}", i == 0 ? "" : ",", json_quote(metadata[i].first), json_quote(metadata[i].second));
    }
    header.text += '}';
  }
  for (const FileTensor& placed : header.tensors) {
    const TensorInfo& tensor = placed.tensor;
    if (!valid_utf8(tensor.name)) fail(Code::invalid_argument, "tensor name is not UTF-8: {}", tensor.name);
    separate();
    header.text +=
        fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", json_quote(tensor.name),
                    safetensors_name(tensor.dtype), fmt::join(tensor.shape, ","), placed.begin, placed.end);
  }
  header.text += '}';
  header.text.append((8 - header.text.size() % 8) % 8, ' ');
  return header;
}

std::string safetensors_prefix(const SafetensorsHeader& header) {
  std::string prefix;
  for (int i = 0; i < 8; ++i) prefix += static_cast<char>(header.text.size() >> (8 * i) & 0xFF);
  return prefix + header.text;
}

SafetensorsWriter::SafetensorsWriter(std::string path, SafetensorsHeader header)
    : path_(std::move(path)), header_(std::move(header)), written_(header_.tensors.size()) {
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace_back(header_.tensors[i].tensor.name, i);
  std::sort(by_name_.begin(), by_name_.end());
  const std::string partial = path_ + ".partial";
  fd_ = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail(Code::io, "{}: cannot create: {}", partial, std::strerror(errno));
  try {
    const std::string prefix = safetensors_prefix(header_);
    write_at(fd_, 0, std::as_bytes(std::span(prefix)), partial);
  } catch (...) {
    close(fd_);
    unlink(partial.c_str());
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() {
  if (fd_ < 0) return;
  close(fd_);
  unlink((path_ + ".partial").c_str());
}

void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), std::pair(name, std::size_t{0}));
  if (found == by_name_.end() || found->first != name) {
    fail(Code::invalid_argument, "{}: the header has no tensor '{}'", path_, name);
  }
  const FileTensor& tensor = header_.tensors[found->second];
  if (static_cast<Index>(bytes.size()) != tensor.end - tensor.begin) {
    fail(Code::invalid_argument, "{}: tensor '{}' is {} bytes, {} given; give all its elements, row-major", path_, name,
         tensor.end - tensor.begin, bytes.size());
  }
  if (written_[found->second]) fail(Code::invalid_argument, "{}: tensor '{}' is written twice", path_, name);
  write_at(fd_, header_.data_begin() + tensor.begin, bytes, path_ + ".partial");
  written_[found->second] = true;
}

void SafetensorsWriter::finish() {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (!written_[i]) {
      fail(Code::invalid_argument, "{}: tensor '{}' was never written", path_, header_.tensors[i].tensor.name);
    }
  }
  publish(fd_, path_ + ".partial", path_);
  close(fd_);
  fd_ = -1;
}

}  // namespace reshard
