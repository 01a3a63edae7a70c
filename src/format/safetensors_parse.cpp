#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"
#include "format/json.h"
#include "reshard/safetensors.h"

namespace reshard {

namespace {

constexpr Index kMaxHeaderBytes = 100'000'000;

Index read_length(std::span<const std::byte> start) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(start[i]);
  return length > static_cast<std::uint64_t>(kMaxHeaderBytes) ? -1 : static_cast<Index>(length);
}

std::vector<Index> read_shape(JsonReader& json) {
  std::vector<Index> shape;
  json.array([&] {
    shape.push_back(json.integer());
    if (shape.back() < 0) json.fault(fmt::format("extent {} of the shape is negative", shape.back()));
  });
  return shape;
}

void read_offsets(JsonReader& json, FileTensor& tensor) {
  std::vector<Index> offsets;
  json.array([&] { offsets.push_back(json.integer()); });
  if (offsets.size() != 2) json.fault(fmt::format("data_offsets has {} numbers instead of 2", offsets.size()));
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  if (tensor.begin < 0) json.fault(fmt::format("data_offsets begin at {}, before the data", tensor.begin));
  if (tensor.begin > tensor.end) {
    json.fault(fmt::format("data_offsets begin at {} and end before it, at {}", tensor.begin, tensor.end));
  }
}

Dtype read_dtype(JsonReader& json) {
  const std::string name = json.string();
  const auto dtype = safetensors_dtype(name);
  if (!dtype) json.fault(fmt::format("unknown dtype {}", json_quote(name)));
  return *dtype;
}

void check_bytes(const JsonReader& json, const FileTensor& tensor) {
  Index bytes = 0;
  try {
    bytes = bytes_of(tensor.tensor);
  } catch (const Error& error) {
    json.fault(error.what());
  }
  if (bytes != tensor.end - tensor.begin) {
    json.fault(fmt::format("{}[{}] is {} bytes, but data_offsets [{}, {}] hold {}",
                           safetensors_name(tensor.tensor.dtype), fmt::join(tensor.tensor.shape, ","), bytes,
                           tensor.begin, tensor.end, tensor.end - tensor.begin));
  }
}

FileTensor read_tensor(JsonReader& json, const std::string& name) {
  json.set_context(fmt::format("tensor {}", json_quote(name)));
  FileTensor tensor{.tensor = {.name = name}};
  bool dtype = false, shape = false, offsets = false;
  json.object([&](const std::string& key) {
    if (key == "dtype") {
      tensor.tensor.dtype = read_dtype(json);
      dtype = true;
    } else if (key == "shape") {
      tensor.tensor.shape = read_shape(json);
      shape = true;
    } else if (key == "data_offsets") {
      read_offsets(json, tensor);
      offsets = true;
    } else {
      json.fault(fmt::format("unknown key {}; a tensor has dtype, shape and data_offsets", json_quote(key)));
    }
  });
  if (!dtype) json.fault("no dtype");
  if (!shape) json.fault("no shape");
  if (!offsets) json.fault("no data_offsets");
  check_bytes(json, tensor);
  json.set_context("");
  return tensor;
}

void read_metadata(JsonReader& json, Metadata& metadata) {
  json.set_context("__metadata__");
  json.object([&](const std::string& key) { metadata.emplace_back(key, json.string()); });
  json.set_context("");
}

// The ranges that hold bytes must follow each other from 0 to `data_bytes` without overlap or hole.
void check_tiling(const std::vector<FileTensor>& tensors, Index data_bytes, std::string_view file) {
  std::vector<const FileTensor*> order;
  for (const FileTensor& tensor : tensors) {
    if (tensor.end > data_bytes) {
      fail(Code::corrupt, "{}: tensor {} ends at byte {}, but the data section has only {}", file,
           json_quote(tensor.tensor.name), tensor.end, data_bytes);
    }
    if (tensor.begin != tensor.end) order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->begin < b->begin; });
  Index covered = 0;
  const FileTensor* before = nullptr;
  for (const FileTensor* tensor : order) {
    if (tensor->begin < covered) {
      fail(Code::corrupt, "{}: tensors {} and {} overlap in the bytes from {} to {}", file,
           json_quote(before->tensor.name), json_quote(tensor->tensor.name), tensor->begin,
           std::min(covered, tensor->end));
    }
    if (tensor->begin > covered) {
      fail(Code::corrupt, "{}: no tensor owns the bytes from {} to {}, before tensor {}", file, covered, tensor->begin,
           json_quote(tensor->tensor.name));
    }
    covered = tensor->end;
    before = tensor;
  }
  if (covered != data_bytes) {
    fail(Code::corrupt, "{}: {} bytes follow the last tensor, which ends at byte {} of the data section", file,
         data_bytes - covered, covered);
  }
}

SafetensorsHeader read_header(std::string_view text, std::string_view file) {
  SafetensorsHeader header;
  if (!text.starts_with('{')) fail(Code::corrupt, "{}: the header does not begin with '{{'", file);
  JsonReader json(text, file);
  json.object([&](const std::string& key) {
    if (key == "__metadata__") {
      read_metadata(json, header.metadata);
    } else {
      header.tensors.push_back(read_tensor(json, key));
    }
  });
  json.end();
  header.text = text;
  return header;
}

}  // namespace

Index SafetensorsHeader::file_bytes() const {
  Index data = 0;
  for (const FileTensor& tensor : tensors) data = std::max(data, tensor.end);
  return checked_add(data_begin(), data, "bytes of a safetensors file");
}

SafetensorsHeader parse_safetensors(std::span<const std::byte> start, Index file_bytes, std::string_view file) {
  if (file_bytes < 8 || start.size() < 8) {
    fail(Code::corrupt, "{}: {} bytes are too few for a safetensors file", file, file_bytes);
  }
  const Index length = read_length(start);
  if (length < 0) fail(Code::corrupt, "{}: the header is said to be longer than {} bytes", file, kMaxHeaderBytes);
  if (length > file_bytes - 8 || length > static_cast<Index>(start.size()) - 8) {
    fail(Code::corrupt, "{}: the header is said to be {} bytes, but the file has only {}", file, length, file_bytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(start.data()) + 8, static_cast<std::size_t>(length));
  SafetensorsHeader header = read_header(text, file);
  check_tiling(header.tensors, file_bytes - header.data_begin(), file);
  return header;
}

SafetensorsHeader parse_safetensors_text(std::string_view text, std::string_view file) {
  if (static_cast<Index>(text.size()) > kMaxHeaderBytes) {
    fail(Code::corrupt, "{}: the header is longer than {} bytes", file, kMaxHeaderBytes);
  }
  SafetensorsHeader header = read_header(text, file);
  check_tiling(header.tensors, header.file_bytes() - header.data_begin(), file);
  return header;
}

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  MappedFile file = MappedFile::open(path);
  const ReadGuard guard(file);
  SafetensorsHeader header;
  try {
    header = parse_safetensors(file.bytes(), file.size(), path);
  } catch (const Error&) {
    guard.check();  // a file that shrank meanwhile is the better explanation
    throw;
  }
  guard.check();
  return SafetensorsFile(std::move(file), std::move(header));
}

std::span<const std::byte> SafetensorsFile::data(const FileTensor& tensor) const {
  return file_.bytes().subspan(static_cast<std::size_t>(header_.data_begin() + tensor.begin),
                               static_cast<std::size_t>(tensor.end - tensor.begin));
}

}  // namespace reshard
