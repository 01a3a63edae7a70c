#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "reshard/safetensors.h"

namespace reshard {

namespace {

struct Named {
  Dtype dtype;
  std::string_view name;
};

// In the order of the reference library, which sorts tensors by it when it writes.
constexpr std::array<Named, 16> kDtypes = {{{Dtype::boolean, "BOOL"},
                                            {Dtype::u8, "U8"},
                                            {Dtype::i8, "I8"},
                                            {Dtype::f8e5m2, "F8_E5M2"},
                                            {Dtype::f8e4m3, "F8_E4M3"},
                                            {Dtype::i16, "I16"},
                                            {Dtype::u16, "U16"},
                                            {Dtype::f16, "F16"},
                                            {Dtype::bf16, "BF16"},
                                            {Dtype::i32, "I32"},
                                            {Dtype::u32, "U32"},
                                            {Dtype::f32, "F32"},
                                            {Dtype::complex64, "C64"},
                                            {Dtype::f64, "F64"},
                                            {Dtype::i64, "I64"},
                                            {Dtype::u64, "U64"}}};

std::size_t position_of(Dtype dtype) {
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    if (kDtypes[i].dtype == dtype) return i;
  }
  fail(Code::unsupported, "safetensors files cannot hold {}: store it as f64 with one more dimension of 2",
       name_of(dtype));
}

}  // namespace

std::string_view safetensors_name(Dtype dtype) { return kDtypes[position_of(dtype)].name; }

std::optional<Dtype> safetensors_dtype(std::string_view name) {
  for (const Named& named : kDtypes) {
    if (named.name == name) return named.dtype;
  }
  return std::nullopt;
}

void sort_as_reference(std::vector<TensorInfo>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    const std::size_t left = position_of(a.dtype), right = position_of(b.dtype);
    return left != right ? left > right : a.name < b.name;
  });
}

Index bytes_of(const TensorInfo& tensor) {
  // The non-zero extents must fit too: strides are products of them.
  Index product = 1;
  bool empty = false;
  const std::string what = fmt::format("bytes of tensor '{}'", tensor.name);
  for (const Index extent : tensor.shape) {
    if (extent < 0) fail(Code::invalid_argument, "tensor '{}' has the extent {}", tensor.name, extent);
    empty = empty || extent == 0;
    if (extent > 0) product = checked_mul(product, extent, what);
  }
  product = checked_mul(product, bytes_of(tensor.dtype), what);
  return empty ? 0 : product;
}

}  // namespace reshard
