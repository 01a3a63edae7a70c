#include "op/primitives.h"

#include "base/fail.h"
#include "op/axis_edit.h"

namespace reshard::op {
namespace named {

LinearOp copy(std::string name, const Layout& in, std::string_view axis) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_invariant().varying();
  return {std::move(name), in, std::move(out)};
}

LinearOp reduce(std::string name, const Layout& in, std::string_view axis) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_pending().invariant();
  return {std::move(name), in, std::move(out)};
}

LinearOp reduce_all(std::string name, const Layout& in, std::string_view axis) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_pending().varying();
  return {std::move(name), in, std::move(out)};
}

LinearOp scatter(std::string name, const Layout& in, std::string_view axis, int dim, const Split& split) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_invariant().cut(dim, split);
  return {std::move(name), in, std::move(out)};
}

LinearOp gather(std::string name, const Layout& in, std::string_view axis, int dim) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_cut(dim).invariant();
  return {std::move(name), in, std::move(out)};
}

LinearOp gather_copy(std::string name, const Layout& in, std::string_view axis, int dim) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_cut(dim).varying();
  return {std::move(name), in, std::move(out)};
}

LinearOp reduce_scatter(std::string name, const Layout& in, std::string_view axis, int dim, const Split& split) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_pending().cut(dim, split);
  return {std::move(name), in, std::move(out)};
}

LinearOp turn(std::string name, const Layout& in, std::string_view axis, int to, int from, const Split& split) {
  AxisEdit edit(name, in, axis);
  Layout out = edit.expect_cut(from).cut(to, split);
  return {std::move(name), in, std::move(out)};
}

}  // namespace named

Split balanced() {
  Split split;
  split.rule = Rule::balanced;
  return split;
}

Split sizes(std::vector<Index> sizes) {
  Split split;
  split.rule = Rule::sizes;
  split.sizes = std::move(sizes);
  return split;
}

LinearOp copy_to(const Layout& in, std::string_view axis) { return named::copy("copy_to", in, axis); }

LinearOp reduce_from(const Layout& in, std::string_view axis) { return named::reduce("reduce_from", in, axis); }

LinearOp all_reduce(const Layout& in, std::string_view axis) { return named::reduce_all("all_reduce", in, axis); }

LinearOp scatter_to(const Layout& in, std::string_view axis, int dim, const Split& split) {
  return named::scatter("scatter_to", in, axis, dim, split);
}

LinearOp gather_from(const Layout& in, std::string_view axis, int dim) {
  return named::gather("gather_from", in, axis, dim);
}

LinearOp gather_from_copy_to(const Layout& in, std::string_view axis, int dim) {
  return named::gather_copy("gather_from_copy_to", in, axis, dim);
}

LinearOp reduce_from_scatter_to(const Layout& in, std::string_view axis, int dim, const Split& split) {
  return named::reduce_scatter("reduce_from_scatter_to", in, axis, dim, split);
}

LinearOp transpose(const Layout& in, std::string_view axis, int to, int from, const Split& split) {
  return named::turn("transpose", in, axis, to, from, split);
}

std::vector<Index> compute_split_shapes(Index size, Index parts, const Split& split) {
  LayoutSpec spec{.dtype = Dtype::u8, .shape = {size}, .mesh = Mesh("", {{"part", parts}}), .cuts = {{split}}};
  spec.cuts[0][0].axes = {0};
  const Layout layout(std::move(spec));
  std::vector<Index> lengths;
  for (Index part = 0; part < parts; ++part) lengths.push_back(length_of(layout.region(RankId(part)).dims[0]));
  return lengths;
}

Neighbors get_group_neighbors(const Mesh& mesh, std::string_view axis, RankId rank) {
  const auto range = mesh.find(axis);
  if (!range || range->count != 1)
    fail(Code::invalid_argument, "get_group_neighbors: mesh {} has no single axis \"{}\"", mesh.text(), axis);
  const auto own = mesh.coordinate_of(rank);
  if (!own) fail(Code::invalid_argument, "get_group_neighbors: rank {} is not in mesh {}", rank.value(), mesh.text());
  const auto at = static_cast<std::size_t>(range->first);
  const Index size = mesh.axes()[at].size;
  const auto shifted = [&](Index by) {
    Coordinate coordinate = *own;
    coordinate[at] = (coordinate[at] + by) % size;
    return mesh.rank_at(coordinate);
  };
  return {.previous = shifted(size - 1), .next = shifted(1)};
}

}  // namespace reshard::op
