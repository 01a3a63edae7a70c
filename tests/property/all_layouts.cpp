#include "property/all_layouts.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace reshard {
namespace {

// Extends every arrangement of the axes before `axis` by each place that `axis` can take.
std::vector<AxisOrders> with_axis(const std::vector<AxisOrders>& before, int axis) {
  std::vector<AxisOrders> result;
  for (const AxisOrders& orders : before) {
    result.push_back(orders);  // replicated
    for (std::size_t d = 0; d < orders.size(); ++d)
      for (std::size_t at = 0; at <= orders[d].size(); ++at) {
        AxisOrders placed = orders;
        placed[d].insert(placed[d].begin() + static_cast<std::ptrdiff_t>(at), axis);
        result.push_back(placed);
      }
  }
  return result;
}

}  // namespace

std::vector<std::vector<Index>> small_mesh_sizes() {
  std::vector<std::vector<Index>> sizes;
  for (Index a = 1; a <= 8; ++a) sizes.push_back({a});
  for (Index a = 2; a <= 4; ++a)
    for (Index b = 2; a * b <= 8; ++b) sizes.push_back({a, b});
  sizes.push_back({2, 2, 2});
  return sizes;
}

std::vector<AxisOrders> all_axis_orders(int axes, int dims) {
  std::vector<AxisOrders> all = {AxisOrders(static_cast<std::size_t>(dims))};
  for (int axis = 0; axis < axes; ++axis) all = with_axis(all, axis);
  return all;
}

Index SmallLayout::ranks() const {
  Index count = 1;
  for (const Index size : mesh) count *= size;
  return count;
}

std::vector<SmallLayout> all_small_layouts(int dims) {
  std::vector<SmallLayout> all;
  for (const std::vector<Index>& mesh : small_mesh_sizes())
    for (const AxisOrders& cuts : all_axis_orders(static_cast<int>(mesh.size()), dims)) all.push_back({mesh, cuts});
  return all;
}

Layout layout_of(const SmallLayout& small, const std::vector<Index>& shape, RankId base) {
  std::vector<Axis> axes;
  for (std::size_t a = 0; a < small.mesh.size(); ++a)
    axes.push_back({std::string(1, static_cast<char>('x' + a)), small.mesh[a]});
  LayoutSpec spec;
  spec.shape = shape;
  spec.mesh = Mesh("", axes, base);
  spec.cuts.resize(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (const int axis : small.cuts[d]) {
      Cut cut;
      cut.axes = {axis};
      spec.cuts[d].push_back(cut);
    }
  return Layout(spec);
}

}  // namespace reshard
