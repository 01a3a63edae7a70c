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

LinearOp transpose(const Layout& in, const Transpose& dims) {
  return transpose(in, dims.axis, dims.split, dims.gather, dims.parts);
}

namespace {

// Whoever is `by` places further along the axis, in number `at` of a mesh.
RankId shifted_rank(const Mesh& mesh, std::size_t axis, Coordinate at, Index by) {
  const Index size = mesh.axes()[axis].size;
  at[axis] = ((at[axis] + by) % size + size) % size;
  return mesh.rank_at(at);
}

std::optional<std::size_t> single_axis(std::string_view name, const Mesh& mesh, std::string_view axis) {
  const auto range = mesh.find(axis);
  if (!range) return {};
  if (range->count != 1)
    fail(Code::invalid_argument, "{}: \"{}\" of mesh {} is several axes; name one of them", name, axis, mesh.text());
  return static_cast<std::size_t>(range->first);
}

}  // namespace

LinearOp ring_pass(const Layout& in, std::string_view axis, Index by) {
  constexpr const char* name = "ring_pass";
  const Mesh& mesh = in.mesh();
  const auto at = single_axis(name, mesh, axis);
  if (!at) return {name, in, in};
  std::vector<RankId> ranks;
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal)
    ranks.push_back(shifted_rank(mesh, *at, mesh.coordinate_at(ordinal), -(by % mesh.axes()[*at].size)));
  LayoutSpec spec = in.spec();
  spec.mesh = Mesh::listed(mesh.name(), mesh.axes(), std::move(ranks), mesh.groups());
  return {name, in, Layout(std::move(spec))};
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
  constexpr const char* name = "get_group_neighbors";
  const auto at = single_axis(name, mesh, axis);
  if (!at) fail(Code::invalid_argument, "{}: mesh {} has no axis \"{}\"", name, mesh.text(), axis);
  const auto own = mesh.coordinate_of(rank);
  if (!own) fail(Code::invalid_argument, "{}: rank {} is not in mesh {}", name, rank.value(), mesh.text());
  return {.previous = shifted_rank(mesh, *at, *own, -1), .next = shifted_rank(mesh, *at, *own, 1)};
}

}  // namespace reshard::op
