#include "reshard/dtype.h"

#include <algorithm>
#include <array>

namespace reshard {
namespace {

struct Entry {
  Dtype dtype;
  std::string_view name;
  Index bytes;
};

constexpr std::array kEntries{
    Entry{Dtype::boolean, "bool", 1},
    Entry{Dtype::u8, "u8", 1},
    Entry{Dtype::i8, "i8", 1},
    Entry{Dtype::u16, "u16", 2},
    Entry{Dtype::i16, "i16", 2},
    Entry{Dtype::u32, "u32", 4},
    Entry{Dtype::i32, "i32", 4},
    Entry{Dtype::u64, "u64", 8},
    Entry{Dtype::i64, "i64", 8},
    Entry{Dtype::f8e4m3, "f8e4m3", 1},
    Entry{Dtype::f8e5m2, "f8e5m2", 1},
    Entry{Dtype::f16, "f16", 2},
    Entry{Dtype::bf16, "bf16", 2},
    Entry{Dtype::f32, "f32", 4},
    Entry{Dtype::f64, "f64", 8},
    Entry{Dtype::complex64, "complex64", 8},
    Entry{Dtype::complex128, "complex128", 16},
};

constexpr auto kDtypes = [] {
  std::array<Dtype, kEntries.size()> all{};
  std::ranges::transform(kEntries, all.begin(), &Entry::dtype);
  return all;
}();

const Entry& entry(Dtype dtype) { return kEntries[static_cast<std::size_t>(dtype)]; }

}  // namespace

Index bytes_of(Dtype dtype) { return entry(dtype).bytes; }

std::string_view name_of(Dtype dtype) { return entry(dtype).name; }

std::optional<Dtype> dtype_named(std::string_view name) {
  const auto found = std::ranges::find(kEntries, name, &Entry::name);
  if (found == kEntries.end()) return std::nullopt;
  return found->dtype;
}

std::span<const Dtype> all_dtypes() { return kDtypes; }

}  // namespace reshard
