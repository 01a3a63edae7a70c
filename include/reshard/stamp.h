// Values that name their origin: each element's bits are made from its global index and an epoch, so that a wrong route
// shows as a wrong value, and a value left over from an earlier call as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reshard/dtype.h"
#include "reshard/region.h"
#include "reshard/tensor.h"

namespace reshard {

// Where the elements of a buffer come from; `shape` is that of the whole tensor.
struct StampedPart {
  Dtype dtype = Dtype::f32;
  LocalStorage storage;
  Region region;
  std::span<const Index> shape;
};

// Writes every element that the rank holds, and nothing else. More than 1 GB/s for elements of 4 bytes and more.
// Throws Error(invalid_argument) when the buffer is smaller than the storage says.
void stamp(Tensor& tensor, std::uint64_t epoch = 0);
void stamp_bytes(std::span<std::byte> buffer, const StampedPart& part, std::uint64_t epoch = 0);

// The first element that differs, in words: "[2,5] holds global (7,1) of epoch 2, expected (6,1) of epoch 3"; nothing
// when all is right. Elements of less than 4 bytes, and values that no stamp makes, are shown as they are.
std::optional<std::string> stamp_fault(std::span<const std::byte> buffer, const StampedPart& part,
                                       std::uint64_t epoch = 0);
// Throws Error(corrupt): "rank 3 [2,5] holds ...".
void expect_stamped(const Tensor& tensor, std::uint64_t epoch = 0);

}  // namespace reshard
