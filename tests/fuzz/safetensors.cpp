// Any bytes as a safetensors file: they are refused with an Error, or what was read can be written again.
#include <cstdint>
#include <cstdlib>

#include "reshard/error.h"
#include "reshard/safetensors.h"

using namespace reshard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  SafetensorsHeader header;
  try {
    header = parse_safetensors(bytes, static_cast<Index>(size), "fuzz");
  } catch (const Error&) {
    return 0;
  }
  if (header.file_bytes() > static_cast<Index>(size)) std::abort();
  const std::string prefix = safetensors_prefix(header);
  if (prefix != std::string(reinterpret_cast<const char*>(data), prefix.size())) std::abort();
  std::vector<TensorInfo> tensors;
  for (const FileTensor& tensor : header.tensors) tensors.push_back(tensor.tensor);
  const SafetensorsHeader canonical = safetensors_header(tensors, header.metadata);
  const SafetensorsHeader again = parse_safetensors_text(canonical.text, "again");
  if (again.tensors != canonical.tensors || again.metadata != header.metadata) std::abort();
  return 0;
}
