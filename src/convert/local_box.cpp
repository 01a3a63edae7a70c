#include "convert/local_box.h"

#include <algorithm>

namespace reshard::convert_detail {

Index LocalBox::elements() const {
  Index elements = 1;
  for (std::size_t dim = 0; dim < begin.size(); ++dim) elements *= end[dim] - begin[dim];
  return elements;
}

LocalBox whole_box(const std::vector<Index>& shape) { return {std::vector<Index>(shape.size()), shape}; }

Index linear_begin(const LocalBox& box, const std::vector<Index>& shape) {
  Index at = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) at = at * shape[dim] + box.begin[dim];
  return at;
}

std::vector<LocalBox> split(const LocalBox& box, Index limit) {
  const Index elements = box.elements();
  if (elements == 0) return {};
  if (elements <= limit) return {box};
  std::size_t dim = 0;
  while (box.end[dim] - box.begin[dim] == 1) ++dim;
  const Index row = elements / (box.end[dim] - box.begin[dim]);
  const Index rows = std::max<Index>(1, limit / row);
  std::vector<LocalBox> boxes;
  for (Index begin = box.begin[dim]; begin < box.end[dim]; begin += rows) {
    LocalBox part = box;
    part.begin[dim] = begin;
    part.end[dim] = std::min(begin + rows, box.end[dim]);
    for (LocalBox& smaller : split(part, limit)) boxes.push_back(std::move(smaller));
  }
  return boxes;
}

}  // namespace reshard::convert_detail
