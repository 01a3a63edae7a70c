// Files for tests: a folder that goes away, hand-made safetensors bytes, and tensors whose values name their origin.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/error.h"
#include "reshard/safetensors.h"

namespace reshard::test {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "reshard-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out) throw std::runtime_error("cannot write " + path);
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Length, header and `data_bytes` bytes that count up.
inline std::string raw_file(std::string_view header, std::size_t data_bytes) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  out += header;
  for (std::size_t i = 0; i < data_bytes; ++i) out += static_cast<char>(i);
  return out;
}

inline SafetensorsHeader parse(std::string_view bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), static_cast<Index>(bytes.size()), "f.safetensors");
}

// What `action` throws; the test fails if it throws nothing or another code.
inline std::string message_of(Code code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.code()), name_of(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

// Each element holds a hash of the tensor's name and its own place, so that no two are alike.
inline std::string stamped(const TensorInfo& tensor) {
  const auto bytes = static_cast<std::size_t>(bytes_of(tensor));
  std::string out(bytes, '\0');
  const std::uint64_t seed = std::hash<std::string>{}(tensor.name);
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t value = (seed ^ i) * 0x9E3779B97F4A7C15u;
    std::memcpy(out.data() + i, &value, std::min<std::size_t>(8, bytes - i));
  }
  return out;
}

inline void write_stamped(const std::string& path, const SafetensorsHeader& header) {
  SafetensorsWriter writer(path, header);
  for (const FileTensor& tensor : header.tensors) {
    const std::string bytes = stamped(tensor.tensor);
    writer.write(tensor.tensor.name, std::as_bytes(std::span(bytes)));
  }
  writer.finish();
}

}  // namespace reshard::test
