#include "base/checked.h"

#include "base/fail.h"

namespace reshard {

Index checked_mul(Index a, Index b, std::string_view what) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    fail(Code::invalid_argument, "{}: {} * {} does not fit in 64 bits", what, a, b);
  return product;
}

Index checked_add(Index a, Index b, std::string_view what) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    fail(Code::invalid_argument, "{}: {} + {} does not fit in 64 bits", what, a, b);
  return sum;
}

Index checked_product(std::span<const Index> extents, std::string_view what) {
  Index product = 1;
  for (const Index extent : extents) {
    if (extent == 0) return 0;
    product = checked_mul(product, extent, what);
  }
  return product;
}

}  // namespace reshard
