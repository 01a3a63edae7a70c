// HLO sharding text: an array of tiles, one tensor dimension after another, and what its last dimensions do.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "layout/convention.h"
#include "layout/scanner.h"
#include "layout/tile_assignment.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

constexpr std::string_view kDevices = "devices of an HLO sharding";

struct Sharding {
  TileAssignment tiles;
  std::vector<AxisKind> last;  // of the dimensions after those of the tensor
};

std::vector<Index> parse_extents(Scanner& in) {
  std::vector<Index> extents;
  in.expect('[');
  while (!in.accept(']')) {
    extents.push_back(in.number("an extent"));
    if (extents.back() < 1) in.fail_last(fmt::format("an extent must be at least 1, got {}", extents.back()));
    if (!in.accept(',') && in.peek() != ']') in.fail_here("expected ',' or ']'");
  }
  return extents;
}

void parse_iota(Scanner& in, TileAssignment& tiles) {
  in.expect('=');
  tiles.reshape = parse_extents(in);
  const Index devices = checked_product(tiles.dims, kDevices), numbers = checked_product(tiles.reshape, kDevices);
  if (devices != numbers)
    in.fail_here(fmt::format("[{}] has {} tiles, but [{}] numbers {} devices; the products must agree",
                             fmt::join(tiles.dims, ","), devices, fmt::join(tiles.reshape, ","), numbers));
  for (std::size_t k = 0; k < tiles.reshape.size(); ++k) tiles.transpose.push_back(static_cast<int>(k));
  if (!in.accept("T")) return;
  std::vector<int> transpose;
  in.expect('(');
  while (!in.accept(')')) {
    const Index dim = in.non_negative("a dimension");
    if (dim >= std::ssize(tiles.reshape) || std::ranges::count(transpose, static_cast<int>(dim)) > 0)
      in.fail_last(fmt::format("T(..) must name each of the {} dimensions of [{}] once", tiles.reshape.size(),
                               fmt::join(tiles.reshape, ",")));
    transpose.push_back(static_cast<int>(dim));
    if (!in.accept(',') && in.peek() != ')') in.fail_here("expected ',' or ')'");
  }
  if (transpose.size() != tiles.reshape.size())
    in.fail_here(fmt::format("T({}) names {} dimensions, but [{}] has {}", fmt::join(transpose, ","), transpose.size(),
                             fmt::join(tiles.reshape, ","), tiles.reshape.size()));
  tiles.transpose = std::move(transpose);
}

void parse_list(Scanner& in, TileAssignment& tiles) {
  do tiles.devices.push_back(RankId(in.non_negative("the number of a device")));
  while (in.accept(','));
  const Index devices = checked_product(tiles.dims, kDevices);
  if (devices != std::ssize(tiles.devices))
    in.fail_here(fmt::format("[{}] has {} tiles, but {} devices are listed", fmt::join(tiles.dims, ","), devices,
                             tiles.devices.size()));
}

AxisKind parse_subgroup_kind(Scanner& in) {
  if (in.accept("replicated")) return {};
  if (in.accept("unreduced")) return {AxisKind::Kind::partial, ReduceOp::sum, 0};
  in.fail_here("expected replicated or unreduced: a layout cannot say anything else of the last dimensions");
}

// After "devices=".
Sharding parse_tiles(Scanner& in, std::size_t dims) {
  Sharding sharding;
  sharding.tiles.dims = parse_extents(in);
  if (in.accept('<'))
    parse_iota(in, sharding.tiles);
  else
    parse_list(in, sharding.tiles);
  if (in.accept("last_tile_dim_replicate")) {
    sharding.last.push_back({});
  } else if (in.accept("last_tile_dims")) {
    in.expect('=');
    in.expect('{');
    do sharding.last.push_back(parse_subgroup_kind(in));
    while (in.accept(','));
    in.expect('}');
  }
  if (sharding.tiles.dims.size() != dims + sharding.last.size())
    in.fail_here(fmt::format("[{}] has {} dimensions; the tensor has {} and {} more are named",
                             fmt::join(sharding.tiles.dims, ","), sharding.tiles.dims.size(), dims,
                             sharding.last.size()));
  return sharding;
}

// All devices alike.
Sharding on_all(Scanner& in, std::size_t dims, Index devices, AxisKind kind) {
  if (devices < 1) in.fail_here("this sharding does not say on how many devices; give their number");
  Sharding sharding{{std::vector<Index>(dims, 1), {}, {devices}, {0}}, {kind}};
  sharding.tiles.dims.push_back(devices);
  return sharding;
}

Layout on_device(Dtype dtype, std::vector<Index> shape, RankId device) {
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.mesh = Mesh("", {}, device);
  return Layout(std::move(spec));
}

Layout layout_of(Dtype dtype, std::vector<Index> shape, const Sharding& sharding) {
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.mesh = mesh_of(sharding.tiles);
  spec.cuts.resize(spec.shape.size());
  spec.kinds.resize(spec.mesh.axes().size());
  for (std::size_t dim = 0; dim < sharding.tiles.dims.size(); ++dim) {
    const auto range = spec.mesh.find(tile_axis(dim));
    if (!range) continue;  // one tile
    Cut cut;
    for (int axis = range->first; axis < range->first + range->count; ++axis) {
      cut.axes.push_back(axis);
      if (dim >= spec.shape.size()) spec.kinds[axis] = sharding.last[dim - spec.shape.size()];
    }
    if (dim < spec.shape.size()) spec.cuts[dim].push_back(std::move(cut));
  }
  return Layout(std::move(spec));
}

// Leaf axes of every tile dimension: those that cut each dimension of the tensor, the unreduced and the replicated.
std::vector<std::vector<int>> axes_by_dim(const Layout& layout, bool& unreduced, bool& replicated) {
  const LayoutSpec& spec = layout.spec();
  std::vector<std::vector<int>> by_dim(spec.shape.size());
  for (int dim = 0; dim < layout.dims(); ++dim) {
    const bool divides = require_chunks(layout, dim, "an HLO sharding");
    if (spec.cuts[dim].size() > 1 && !divides)
      fail(Code::unsupported,
           "{}: an HLO sharding cuts dimension {} once, over the product of its axes; cutting axis by axis differs for "
           "{} elements",
           layout.text(), dim, spec.shape[dim]);
    for (const Cut& cut : spec.cuts[dim]) by_dim[dim].insert(by_dim[dim].end(), cut.axes.begin(), cut.axes.end());
  }
  std::vector<int> partial, free;
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis) {
    const AxisKind& kind = spec.kinds[axis];
    if (kind.kind == AxisKind::Kind::partial && kind.op != ReduceOp::sum)
      fail(Code::unsupported, "{}: an HLO sharding only leaves sums unreduced, not {} over axis \"{}\"", layout.text(),
           name_of(kind.op), spec.mesh.axes()[axis].name);
    if (kind.kind == AxisKind::Kind::partial) partial.push_back(static_cast<int>(axis));
    if (kind.kind == AxisKind::Kind::replicate) free.push_back(static_cast<int>(axis));
  }
  const auto more_than_one = [&](int axis) { return spec.mesh.axes()[axis].size > 1; };
  unreduced = std::ranges::any_of(partial, more_than_one);
  replicated = std::ranges::any_of(free, more_than_one);
  if (unreduced) by_dim.push_back(std::move(partial));
  if (replicated) by_dim.push_back(std::move(free));
  return by_dim;
}

}  // namespace

Layout from_hlo(Dtype dtype, std::vector<Index> shape, std::string_view text, Index devices) {
  Scanner in(text, "HLO sharding");
  if (in.accept("sharding")) in.expect('=');
  in.expect('{');
  if (in.accept("maximal")) {
    if (!in.accept("device")) in.fail_here("expected device=");
    in.expect('=');
    const RankId device(in.non_negative("the number of a device"));
    in.expect('}');
    in.expect_end();
    return on_device(dtype, std::move(shape), device);
  }
  Sharding sharding;
  if (in.accept("devices")) {
    in.expect('=');
    sharding = parse_tiles(in, shape.size());
  } else if (in.accept("replicated")) {
    sharding = on_all(in, shape.size(), devices, {});
  } else if (in.accept("unreduced")) {
    sharding = on_all(in, shape.size(), devices, {AxisKind::Kind::partial, ReduceOp::sum, 0});
  } else if (in.accept("manual") || in.accept("unknown")) {
    fail(Code::unsupported, "HLO sharding: {} does not say which device holds what", text);
  } else {
    in.fail_here("expected devices=[..], replicated, unreduced or maximal device=");
  }
  in.expect('}');
  in.expect_end();
  const Index count = checked_product(sharding.tiles.dims, kDevices);
  if (devices > 0 && devices != count)
    fail(Code::invalid_argument, "HLO sharding: {} is for {} devices, not for {}", text, count, devices);
  return layout_of(dtype, std::move(shape), sharding);
}

std::string to_hlo(const Layout& layout) {
  require_plain(layout, "an HLO sharding");
  bool unreduced = false, replicated = false;
  const std::vector<std::vector<int>> by_dim = axes_by_dim(layout, unreduced, replicated);
  const Mesh& mesh = layout.mesh();
  if (mesh.size() == 1) return fmt::format("{{maximal device={}}}", mesh.first_rank().value());
  const TileAssignment tiles = tiles_of(mesh, by_dim);
  const bool whole = std::ranges::all_of(tiles.dims.begin(), tiles.dims.end() - 1, [](Index n) { return n == 1; });
  if (replicated && whole && tiles.devices.empty()) return "{replicated}";
  const char* const last = unreduced && replicated ? " last_tile_dims={unreduced, replicated}"
                           : unreduced             ? " last_tile_dims={unreduced}"
                           : replicated            ? " last_tile_dim_replicate"
                                                   : "";
  return fmt::format("{{devices={}{}}}", text_of(tiles), last);
}

}  // namespace reshard
