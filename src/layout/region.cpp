#include "reshard/region.h"

#include <algorithm>

namespace reshard {

Index length_of(const Segments& segments) {
  Index length = 0;
  for (const Segment& segment : segments) length += segment.length;
  return length;
}

Segments intersect(const Segments& a, const Segments& b) {
  Segments both;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    const GlobalIndex begin = std::max(x->global, y->global);
    const GlobalIndex x_end = x->global + x->length;
    const GlobalIndex y_end = y->global + y->length;
    const GlobalIndex end = std::min(x_end, y_end);
    if (begin < end) both.push_back({x->local + (begin - x->global), begin, end - begin});
    if (x_end < y_end) {
      ++x;
    } else {
      ++y;
    }
  }
  return both;
}

Index Region::elements() const {
  if (!held) return 0;
  Index elements = 1;
  for (const Segments& segments : dims) elements *= length_of(segments);
  return elements;
}

}  // namespace reshard
