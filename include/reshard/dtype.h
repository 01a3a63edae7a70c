// Element types of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

enum class Dtype : std::uint8_t {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f8e4m3,
  f8e5m2,
  f16,
  bf16,
  f32,
  f64,
  complex64,
  complex128,
};

// Bytes per element: 1 to 16.
Index bytes_of(Dtype dtype);
// The name used in every text form: "bool", "u8", ..., "bf16", "complex128".
std::string_view name_of(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);
// All dtypes, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

}  // namespace reshard
