// A tensor by name: what an index, a header or a list says of it, without its bytes.
#pragma once

#include <string>
#include <vector>

#include "reshard/dtype.h"
#include "reshard/index.h"

namespace reshard {

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape = {};
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// Checked: throws Error(invalid_argument) that names the tensor past 2^63-1.
Index bytes_of(const TensorInfo& tensor);

}  // namespace reshard
