// The memory of a rank as a list of numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "reshard/tensor.h"

namespace reshard {

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto* first = reinterpret_cast<const T*>(tensor.bytes().data());
  return {first, first + tensor.bytes().size() / sizeof(T)};
}

template <class T>
void set(Tensor& tensor, const std::vector<T>& values) {
  ASSERT_EQ(values.size() * sizeof(T), tensor.bytes().size());
  std::ranges::copy(std::as_bytes(std::span(values)), tensor.bytes().begin());
}

}  // namespace reshard
