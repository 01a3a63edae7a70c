// The grid of ranks over a sphere, and the names that go by its axes.
#include "base/fail.h"
#include "op/primitives.h"

namespace reshard::op {
namespace {

Index size_along(const Mesh& mesh, const std::string& axis) {
  const auto range = mesh.find(axis);
  Index size = 1;
  for (int leaf = 0; range && leaf < range->count; ++leaf)
    size *= mesh.axes()[static_cast<std::size_t>(range->first + leaf)].size;
  return size;
}

Index rank_along(const Mesh& mesh, const std::string& axis, RankId rank) {
  const auto coordinate = mesh.coordinate_of(rank);
  if (!coordinate) fail(Code::invalid_argument, "grid: rank {} is not in mesh {}", rank.value(), mesh.text());
  const auto range = mesh.find(axis);
  Index at = 0;
  for (int leaf = 0; range && leaf < range->count; ++leaf) {
    const auto k = static_cast<std::size_t>(range->first + leaf);
    at = at * mesh.axes()[k].size + (*coordinate)[k];
  }
  return at;
}

}  // namespace

Grid::Grid(Mesh mesh, std::string polar, std::string azimuth)
    : is_initialized_(true), mesh_(std::move(mesh)), polar_(std::move(polar)), azimuth_(std::move(azimuth)) {
  if (polar_ == azimuth_)
    fail(Code::invalid_argument, "grid: \"{}\" is both the polar and the azimuth axis; they cut different dimensions",
         polar_);
}

void Grid::check(std::string_view name) const {
  if (!is_initialized_)
    fail(Code::invalid_argument,
         "{}: the grid is not initialised: make it as Grid(mesh, polar axis, azimuth axis); an axis that the mesh does "
         "not have is no axis",
         name);
}

void Grid::check(std::string_view name, const Layout& in) const {
  check(name);
  if (!(in.mesh() == mesh_))
    fail(Code::invalid_argument, "{}: the tensor is on another mesh than the grid\n  tensor {}\n  grid   {}", name,
         in.text(), mesh_.text());
}

bool Grid::has_polar() const {
  check("has_polar");
  return mesh_.find(polar_).has_value();
}

bool Grid::has_azimuth() const {
  check("has_azimuth");
  return mesh_.find(azimuth_).has_value();
}

Index Grid::polar_size() const {
  check("polar_size");
  return size_along(mesh_, polar_);
}

Index Grid::azimuth_size() const {
  check("azimuth_size");
  return size_along(mesh_, azimuth_);
}

Index Grid::polar_rank(RankId rank) const {
  check("polar_rank");
  return rank_along(mesh_, polar_, rank);
}

Index Grid::azimuth_rank(RankId rank) const {
  check("azimuth_rank");
  return rank_along(mesh_, azimuth_, rank);
}

const std::string& Grid::polar(std::string_view name, const Layout& in) const {
  check(name, in);
  return polar_;
}

const std::string& Grid::azimuth(std::string_view name, const Layout& in) const {
  check(name, in);
  return azimuth_;
}

LinearOp distributed_transpose_polar(const Grid& grid, const Layout& in, std::pair<int, int> dims, const Split& split) {
  constexpr const char* name = "distributed_transpose_polar";
  return named::turn(name, in, grid.polar(name, in), dims.first, dims.second, split);
}

LinearOp distributed_transpose_azimuth(const Grid& grid, const Layout& in, std::pair<int, int> dims,
                                       const Split& split) {
  constexpr const char* name = "distributed_transpose_azimuth";
  return named::turn(name, in, grid.azimuth(name, in), dims.first, dims.second, split);
}

LinearOp copy_to_polar_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "copy_to_polar_region";
  return named::copy(name, in, grid.polar(name, in));
}

LinearOp copy_to_azimuth_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "copy_to_azimuth_region";
  return named::copy(name, in, grid.azimuth(name, in));
}

LinearOp reduce_from_polar_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "reduce_from_polar_region";
  return named::reduce(name, in, grid.polar(name, in));
}

LinearOp reduce_from_azimuth_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "reduce_from_azimuth_region";
  return named::reduce(name, in, grid.azimuth(name, in));
}

LinearOp all_reduce_polar_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "all_reduce_polar_region";
  return named::reduce_all(name, in, grid.polar(name, in));
}

LinearOp all_reduce_azimuth_region(const Grid& grid, const Layout& in) {
  constexpr const char* name = "all_reduce_azimuth_region";
  return named::reduce_all(name, in, grid.azimuth(name, in));
}

LinearOp scatter_to_polar_region(const Grid& grid, const Layout& in, int dim, const Split& split) {
  constexpr const char* name = "scatter_to_polar_region";
  return named::scatter(name, in, grid.polar(name, in), dim, split);
}

LinearOp scatter_to_azimuth_region(const Grid& grid, const Layout& in, int dim, const Split& split) {
  constexpr const char* name = "scatter_to_azimuth_region";
  return named::scatter(name, in, grid.azimuth(name, in), dim, split);
}

LinearOp gather_from_polar_region(const Grid& grid, const Layout& in, int dim) {
  constexpr const char* name = "gather_from_polar_region";
  return named::gather(name, in, grid.polar(name, in), dim);
}

LinearOp gather_from_azimuth_region(const Grid& grid, const Layout& in, int dim) {
  constexpr const char* name = "gather_from_azimuth_region";
  return named::gather(name, in, grid.azimuth(name, in), dim);
}

LinearOp gather_from_copy_to_polar_region(const Grid& grid, const Layout& in, int dim) {
  constexpr const char* name = "gather_from_copy_to_polar_region";
  return named::gather_copy(name, in, grid.polar(name, in), dim);
}

LinearOp gather_from_copy_to_azimuth_region(const Grid& grid, const Layout& in, int dim) {
  constexpr const char* name = "gather_from_copy_to_azimuth_region";
  return named::gather_copy(name, in, grid.azimuth(name, in), dim);
}

LinearOp reduce_from_scatter_to_polar_region(const Grid& grid, const Layout& in, int dim, const Split& split) {
  constexpr const char* name = "reduce_from_scatter_to_polar_region";
  return named::reduce_scatter(name, in, grid.polar(name, in), dim, split);
}

LinearOp reduce_from_scatter_to_azimuth_region(const Grid& grid, const Layout& in, int dim, const Split& split) {
  constexpr const char* name = "reduce_from_scatter_to_azimuth_region";
  return named::reduce_scatter(name, in, grid.azimuth(name, in), dim, split);
}

}  // namespace reshard::op
