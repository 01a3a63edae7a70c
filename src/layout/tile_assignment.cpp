#include "layout/tile_assignment.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"

namespace reshard {
namespace {

constexpr Index kGreatestTileList = Index{1} << 22;  // as for a mesh

// Some of the tiles of one dimension: device number = .. + index * stride.
struct Digit {
  Index size = 1;
  Index stride = 1;
};

// Of the transposed array, slowest first; no digits of size 1.
std::vector<Digit> transposed_digits(const TileAssignment& tiles) {
  std::vector<Index> strides(tiles.reshape.size());
  Index stride = 1;
  for (std::size_t k = strides.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= tiles.reshape[k];
  }
  std::vector<Digit> digits;
  for (const int k : tiles.transpose)
    if (tiles.reshape[k] > 1) digits.push_back({tiles.reshape[k], strides[k]});
  return digits;
}

void push_slower(std::vector<Digit>& digits, Digit slower) {
  if (!digits.empty() && slower.stride == digits.front().stride * digits.front().size)
    digits.front().size *= slower.size;
  else
    digits.insert(digits.begin(), slower);
}

// Digits of each dimension, slowest first: `rest` dealt out from its fastest end, split where a dimension ends inside a
// digit. Nothing if neither of the two is a multiple of the other there.
std::optional<std::vector<std::vector<Digit>>> digits_by_dim(const std::vector<Index>& dims, std::vector<Digit> rest) {
  std::vector<std::vector<Digit>> by_dim(dims.size());
  for (std::size_t dim = dims.size(); dim-- > 0;)
    for (Index left = dims[dim]; left > 1;) {
      Digit& fastest = rest.back();
      const Index size = std::min(left, fastest.size);
      if (left % size != 0 || fastest.size % size != 0) return std::nullopt;
      push_slower(by_dim[dim], {size, fastest.stride});
      left /= size;
      fastest.size /= size;
      fastest.stride *= size;
      if (fastest.size == 1) rest.pop_back();
    }
  return by_dim;
}

std::vector<RankId> listed_devices(const TileAssignment& tiles, Index count) {
  if (count > kGreatestTileList)
    fail(Code::unsupported, "HLO sharding: {} has no regular form, and {} devices are too many to list (at most {})",
         text_of(tiles), count, kGreatestTileList);
  const std::vector<Digit> digits = transposed_digits(tiles);
  std::vector<RankId> devices;
  for (Index at = 0; at < count; ++at) {
    Index rest = at, device = 0;
    for (std::size_t k = digits.size(); k-- > 0;) {
      device += rest % digits[k].size * digits[k].stride;
      rest /= digits[k].size;
    }
    devices.push_back(RankId(device));
  }
  return devices;
}

Mesh listed_mesh(const std::vector<Index>& dims, std::vector<RankId> devices) {
  std::vector<Axis> axes;
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (dims[dim] > 1) axes.push_back({tile_axis(dim), dims[dim]});
  return Mesh::listed("", std::move(axes), std::move(devices));
}

Mesh strided_mesh(const std::vector<std::vector<Digit>>& by_dim) {
  std::vector<Axis> axes;
  std::vector<Index> strides;
  std::vector<AxisGroup> groups;
  for (std::size_t dim = 0; dim < by_dim.size(); ++dim) {
    const std::vector<Digit>& digits = by_dim[dim];
    if (digits.size() > 1)
      groups.push_back({tile_axis(dim), {static_cast<int>(axes.size()), static_cast<int>(digits.size())}});
    for (std::size_t k = 0; k < digits.size(); ++k) {
      axes.push_back({digits.size() > 1 ? fmt::format("{}_{}", tile_axis(dim), k) : tile_axis(dim), digits[k].size});
      strides.push_back(digits[k].stride);
    }
  }
  return Mesh::strided("", std::move(axes), RankId(0), std::move(strides), std::move(groups));
}

Index stride_of(const Mesh& mesh, int axis) {
  Coordinate coordinate(mesh.axes().size(), 0);
  const RankId first = mesh.rank_at(coordinate);
  coordinate[axis] = 1;
  return mesh.rank_at(coordinate) - first;
}

// Axes of more than one rank from the slowest to the fastest rank, if the mesh numbers its ranks 0, 1, .. so.
std::optional<std::vector<int>> iota_order(const Mesh& mesh) {
  if (!mesh.is_regular() || mesh.first_rank() != RankId(0) || mesh.end_rank() != RankId(mesh.size()))
    return std::nullopt;
  std::vector<int> order;
  for (std::size_t axis = 0; axis < mesh.axes().size(); ++axis)
    if (mesh.axes()[axis].size > 1) order.push_back(static_cast<int>(axis));
  std::vector<Index> strides(mesh.axes().size());
  for (const int axis : order) strides[axis] = stride_of(mesh, axis);
  std::ranges::sort(order, std::greater{}, [&](int axis) { return strides[axis]; });
  return order.empty() || strides[order.back()] == 1 ? std::optional(order) : std::nullopt;
}

// Dimensions that stay neighbours under the transposition are one.
void merge_neighbours(TileAssignment& tiles) {
  std::vector<bool> joins(tiles.reshape.size(), false);  // each dimension with the one before it
  for (std::size_t k = 1; k < tiles.transpose.size(); ++k)
    joins[tiles.transpose[k]] = tiles.transpose[k] == tiles.transpose[k - 1] + 1;
  std::vector<Index> reshape;
  std::vector<int> number(tiles.reshape.size());
  for (std::size_t k = 0; k < tiles.reshape.size(); ++k) {
    if (joins[k])
      reshape.back() *= tiles.reshape[k];
    else
      reshape.push_back(tiles.reshape[k]);
    number[k] = static_cast<int>(reshape.size()) - 1;
  }
  std::vector<int> transpose;
  for (const int k : tiles.transpose)
    if (!joins[k]) transpose.push_back(number[k]);
  tiles.reshape = std::move(reshape);
  tiles.transpose = std::move(transpose);
}

}  // namespace

std::string tile_axis(std::size_t dim) { return fmt::format("d{}", dim); }

Mesh mesh_of(const TileAssignment& tiles) {
  if (!tiles.devices.empty()) return listed_mesh(tiles.dims, tiles.devices);
  if (const auto by_dim = digits_by_dim(tiles.dims, transposed_digits(tiles))) return strided_mesh(*by_dim);
  Index count = 1;
  for (const Index extent : tiles.dims) count *= extent;
  return listed_mesh(tiles.dims, listed_devices(tiles, count));
}

TileAssignment tiles_of(const Mesh& mesh, const std::vector<std::vector<int>>& by_dim) {
  TileAssignment tiles;
  std::vector<int> axes;  // in the order of the array
  for (const std::vector<int>& dim : by_dim) {
    tiles.dims.push_back(1);
    for (const int axis : dim) {
      tiles.dims.back() *= mesh.axes()[axis].size;
      axes.push_back(axis);
    }
  }
  if (const auto order = iota_order(mesh)) {
    for (const int axis : *order) tiles.reshape.push_back(mesh.axes()[axis].size);
    for (const int axis : axes)
      if (const auto at = std::ranges::find(*order, axis); at != order->end())
        tiles.transpose.push_back(static_cast<int>(at - order->begin()));
    merge_neighbours(tiles);
    return tiles;
  }
  if (mesh.size() > kGreatestTileList)
    fail(Code::unsupported, "mesh {}: an HLO sharding lists its devices unless they are numbered 0 to {}; at most {}",
         mesh.text(), mesh.size() - 1, kGreatestTileList);
  Coordinate coordinate(mesh.axes().size());
  for (Index at = 0; at < mesh.size(); ++at) {
    Index rest = at;
    for (std::size_t k = axes.size(); k-- > 0;) {
      coordinate[axes[k]] = rest % mesh.axes()[axes[k]].size;
      rest /= mesh.axes()[axes[k]].size;
    }
    tiles.devices.push_back(mesh.rank_at(coordinate));
  }
  return tiles;
}

std::string text_of(const TileAssignment& tiles) {
  std::string out = fmt::format("[{}]", fmt::join(tiles.dims, ","));
  if (!tiles.devices.empty()) {
    std::vector<Index> devices;
    for (const RankId device : tiles.devices) devices.push_back(device.value());
    return out + fmt::format("{}", fmt::join(devices, ","));
  }
  out += fmt::format("<=[{}]", tiles.reshape.empty() ? "1" : fmt::format("{}", fmt::join(tiles.reshape, ",")));
  return tiles.transpose.size() > 1 ? out + fmt::format("T({})", fmt::join(tiles.transpose, ",")) : out;
}

}  // namespace reshard
