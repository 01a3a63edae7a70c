// The safetensors file format: a header of JSON that names tensors, then their bytes, row-major and little-endian.
//
//   8 bytes   length n of the header, little-endian
//   n bytes   {"__metadata__":{"k":"v"}, "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}, space-padded
//   the rest  the data section; the offsets tile it exactly
//
// The reader is strict: sizes, offsets, overlaps, holes, trailing bytes, dtypes, shape products, repeated names, text
// that is not UTF-8. A fault throws Error(corrupt) that names the file, the tensor and the value.
//
// Thread rule: all types here are plain values or immutable.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reshard/dtype.h"
#include "reshard/index.h"
#include "reshard/mapped_file.h"
#include "reshard/tensor_info.h"

namespace reshard {

// A tensor of a file; `begin` and `end` are bytes from the start of the data section.
struct FileTensor {
  TensorInfo tensor;
  Index begin = 0;
  Index end = 0;
  friend bool operator==(const FileTensor&, const FileTensor&) = default;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsHeader {
  std::string text;  // as in the file, padding included: writing it again gives the same bytes
  Metadata metadata;
  std::vector<FileTensor> tensors;  // in the order of the text
  // Offset of the data section in the file.
  Index data_begin() const { return 8 + static_cast<Index>(text.size()); }
  // Size of the whole file.
  Index file_bytes() const;
};

// "F32", "BF16", ... of the format; complex128 has no name there and is refused.
std::string_view safetensors_name(Dtype dtype);
std::optional<Dtype> safetensors_dtype(std::string_view name);

// `start` holds at least the header; `file_bytes` is the size of the whole file; `file` names it in errors.
SafetensorsHeader parse_safetensors(std::span<const std::byte> start, Index file_bytes, std::string_view file);
// Header text alone, as kept from another file; checks all that does not need the file.
SafetensorsHeader parse_safetensors_text(std::string_view text, std::string_view file);

// Opened and checked; the data stays in the file.
class SafetensorsFile {
 public:
  static SafetensorsFile open(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  const MappedFile& file() const { return file_; }
  // Read under a ReadGuard of file().
  std::span<const std::byte> data(const FileTensor& tensor) const;

 private:
  SafetensorsFile(MappedFile file, SafetensorsHeader header) : file_(std::move(file)), header_(std::move(header)) {}
  MappedFile file_;
  SafetensorsHeader header_;
};

// The order in which the format's reference library writes: wider and later dtypes first, then by name.
void sort_as_reference(std::vector<TensorInfo>& tensors);
// Data ranges one after another, in the order given. Throws Error(invalid_argument) for a repeated name.
std::vector<FileTensor> place_tensors(std::span<const TensorInfo> tensors);
// The header text the reference library writes for these, padded so that the data section starts at a multiple of 8.
SafetensorsHeader safetensors_header(std::span<const TensorInfo> tensors, const Metadata& metadata = {});
// What stands in the file before the data section: length and text.
std::string safetensors_prefix(const SafetensorsHeader& header);

// Writes a file tensor by tensor; it appears under its name, whole and on disk, or not at all.
//
// Thread rule: confined.
class SafetensorsWriter {
 public:
  // Creates `path` + ".partial". Throws Error(io).
  SafetensorsWriter(std::string path, SafetensorsHeader header);
  // Removes the partial file if finish() was not reached.
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // All bytes of one tensor, row-major; any order of tensors, each exactly once.
  void write(std::string_view name, std::span<const std::byte> bytes);
  // Throws Error(invalid_argument) that names the first tensor still missing.
  void finish();

 private:
  std::string path_;
  SafetensorsHeader header_;
  std::vector<bool> written_;
  std::vector<std::pair<std::string_view, std::size_t>> by_name_;  // sorted
  int fd_ = -1;
};

}  // namespace reshard
