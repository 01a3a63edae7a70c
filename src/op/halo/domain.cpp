#include "op/halo/domain.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "base/fail.h"
#include "op/halo/edge.h"

namespace reshard::halo {
namespace {

std::string where_of(const std::string& tensor, const Halo& halo) {
  return fmt::format("widen {} by {}", tensor, halo.text());
}

// Ghosts of a rank that owns [begin, begin + length) of n cells.
Index before_of(const HaloDim& d, Index begin, Index length) {
  if (length == 0) return 0;
  return d.edge.kind == HaloEdge::Kind::none ? std::min(d.lo, begin) : d.lo;
}
Index after_of(const HaloDim& d, Index begin, Index length, Index n) {
  if (length == 0) return 0;
  return d.edge.kind == HaloEdge::Kind::none ? std::min(d.hi, n - begin - length) : d.hi;
}

// Of one dimension, for each coordinate of the axes that cut it, as one number, first axis slowest.
struct Parts {
  std::vector<int> axes;
  std::vector<Index> begins;
  std::vector<Index> lengths;
};

Index number_of(const Parts& parts, const Mesh& mesh, std::span<const Index> coordinate) {
  Index number = 0;
  for (const int axis : parts.axes)
    number = number * mesh.axes()[static_cast<std::size_t>(axis)].size + coordinate[static_cast<std::size_t>(axis)];
  return number;
}

// Where the tensor exists, and all cuts are at 0.
Coordinate first_coordinate(const Layout& layout) {
  Coordinate coordinate;
  for (const AxisKind& kind : layout.spec().kinds) coordinate.push_back(kind.kind == AxisKind::Kind::at ? kind.at : 0);
  return coordinate;
}

bool must_be_whole(const Halo& halo, std::size_t dim) {
  const HaloDim* pole = pole_of(halo);
  return dim_of(halo, dim) != nullptr || (pole != nullptr && pole->edge.longitude == static_cast<int>(dim));
}

Parts parts_of_dim(const Layout& layout, std::size_t dim, const Halo& halo, const std::string& where) {
  const Mesh& mesh = layout.mesh();
  Parts parts;
  for (const Cut& cut : layout.spec().cuts[dim]) parts.axes.insert(parts.axes.end(), cut.axes.begin(), cut.axes.end());
  Index count = 1;
  for (const int axis : parts.axes) count *= mesh.axes()[static_cast<std::size_t>(axis)].size;
  Coordinate coordinate = first_coordinate(layout);
  const Index apart = std::max<Index>(1, layout.shape()[dim]);
  for (Index number = 0; number < count; ++number) {
    Index rest = number;
    for (std::size_t k = parts.axes.size(); k-- > 0;) {
      const auto axis = static_cast<std::size_t>(parts.axes[k]);
      coordinate[axis] = rest % mesh.axes()[axis].size;
      rest /= mesh.axes()[axis].size;
    }
    const Segments segments = layout.region_at(coordinate).dims[dim];
    if (must_be_whole(halo, dim) && segments.size() > 1)
      fail(Code::unsupported,
           "{}: rank {} holds {} segments of dimension {}; redistribute to a cut of one segment each, as chunk or "
           "balanced",
           where, mesh.rank_at(coordinate).value(), segments.size(), dim);
    const bool is_one = must_be_whole(halo, dim);
    parts.begins.push_back(!is_one            ? checked_mul(number, apart, "parts of a dimension")
                           : segments.empty() ? 0
                                              : segments.front().global.value());
    parts.lengths.push_back(length_of(segments));
  }
  return parts;
}

bool exists_at(const Layout& layout, std::span<const Index> coordinate) {
  const std::vector<AxisKind>& kinds = layout.spec().kinds;
  for (std::size_t axis = 0; axis < kinds.size(); ++axis)
    if (kinds[axis].kind == AxisKind::Kind::at && kinds[axis].at != coordinate[axis]) return false;
  return true;
}

// Along axes that cut nothing.
Index group_of(const Layout& layout, std::span<const Index> coordinate) {
  Index group = 0;
  const auto& axes = layout.mesh().axes();
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (layout.spec().kinds[axis].kind != AxisKind::Kind::cut) group = group * axes[axis].size + coordinate[axis];
  return group;
}

bool is_linear(const AxisKind& kind) { return kind.kind != AxisKind::Kind::partial || kind.op == ReduceOp::sum; }

void check_layout(const Layout& in, const Halo& halo, const std::string& where) {
  if (in.is_view()) fail(Code::unsupported, "{}: a view is no tensor of its own; redistribute it to one first", where);
  if (!in.spec().storage.form.empty())
    fail(Code::unsupported, "{}: the form \"{}\" is private, only its owner knows how to widen it", where,
         in.spec().storage.form);
  if (!std::ranges::all_of(in.spec().kinds, is_linear))
    fail(Code::unsupported, "{}: pending values that are no sums cannot be widened; reduce them first", where);
  for (const HaloDim& d : halo.dims)
    if (in.has_partial() && d.edge.kind == HaloEdge::Kind::constant && d.edge.value != 0)
      fail(Code::unsupported,
           "{}: dimension {} would get {} in every pending term, and their sum as many times that; reduce first", where,
           d.dim, d.edge.value);
}

LocalStorage row_major(std::vector<Index> extents) {
  LocalStorage storage{.extents = std::move(extents), .strides = {}, .offset = 0, .elements = 1};
  storage.strides.resize(storage.extents.size());
  for (std::size_t dim = storage.extents.size(); dim-- > 0;) {
    storage.strides[dim] = storage.elements;
    storage.elements = checked_mul(storage.elements, storage.extents[dim], "cells of a widened box");
  }
  return storage;
}

void add_ghosts(const Domain& domain, Piece& piece) {
  piece.before.assign(domain.dims(), 0);
  piece.after.assign(domain.dims(), 0);
  for (const HaloDim& d : domain.halo.dims) {
    const auto dim = static_cast<std::size_t>(d.dim);
    piece.before[dim] = before_of(d, piece.begin[dim], piece.length[dim]);
    piece.after[dim] = after_of(d, piece.begin[dim], piece.length[dim], domain.shape[dim]);
  }
}

}  // namespace

bool Piece::is_empty() const { return std::ranges::find(length, 0) != length.end(); }

LocalStorage Piece::own_by_widened() const {
  LocalStorage storage = own;
  for (std::size_t dim = 0; dim < before.size(); ++dim) storage.offset -= before[dim] * own.strides[dim];
  return storage;
}

RankId Domain::end_rank() const {
  RankId end(0);
  for (const Piece& piece : pieces) end = std::max(end, piece.rank + 1);
  return end;
}

Layout widened_layout(const Layout& in, const Halo& asked) {
  const std::string tensor = in.text();
  const Halo halo = checked(asked, in.shape(), in.dtype(), where_of(tensor, asked));
  const std::string where = where_of(tensor, halo);
  check_layout(in, halo, where);
  LayoutSpec spec = in.spec();
  spec.storage.strides.clear();
  for (std::size_t dim = 0; dim < spec.shape.size(); ++dim) {
    if (!must_be_whole(halo, dim)) continue;
    const Parts parts = parts_of_dim(in, dim, halo, where);  // checks that they are
    const HaloDim* d = dim_of(halo, dim);
    if (d == nullptr) continue;
    const Index n = in.shape()[dim];
    std::vector<Index> sizes;
    Index sum = 0;
    for (std::size_t k = 0; k < parts.lengths.size(); ++k) {
      const Index ghosts =
          before_of(*d, parts.begins[k], parts.lengths[k]) + after_of(*d, parts.begins[k], parts.lengths[k], n);
      sizes.push_back(checked_add(parts.lengths[k], ghosts, "cells of a widened shard"));
      sum = checked_add(sum, sizes.back(), "cells of all widened shards");
    }
    spec.shape[dim] = sum;
    spec.cuts[dim].clear();
    if (!parts.axes.empty()) {
      Cut cut;
      cut.axes = parts.axes;
      cut.rule = Rule::sizes;
      cut.sizes = std::move(sizes);
      spec.cuts[dim].push_back(std::move(cut));
    }
  }
  return Layout(std::move(spec));
}

Domain domain_of(const Layout& in, const Halo& asked, const Layout& out) {
  Domain domain{.where = {}, .dtype = in.dtype(), .shape = in.shape(), .halo = {}, .pieces = {}};
  const std::string tensor = in.text();
  domain.halo = checked(asked, domain.shape, domain.dtype, where_of(tensor, asked));
  domain.where = where_of(tensor, domain.halo);
  const Mesh& mesh = in.mesh();
  std::vector<Parts> parts;
  for (std::size_t dim = 0; dim < domain.dims(); ++dim)
    parts.push_back(parts_of_dim(in, dim, domain.halo, domain.where));
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) {
    const Coordinate coordinate = mesh.coordinate_at(ordinal);
    if (!exists_at(in, coordinate)) continue;
    Piece piece{.rank = mesh.rank_at(coordinate),
                .group = group_of(in, coordinate),
                .begin = {},
                .length = {},
                .before = {},
                .after = {},
                .own = in.storage_at(coordinate),
                .widened = out.storage_at(coordinate)};
    for (const Parts& along : parts) {
      const auto number = static_cast<std::size_t>(number_of(along, mesh, coordinate));
      piece.begin.push_back(along.begins[number]);
      piece.length.push_back(along.lengths[number]);
    }
    add_ghosts(domain, piece);
    domain.pieces.push_back(std::move(piece));
  }
  return domain;
}

Domain domain_of(const BoxList& in, const Halo& asked) {
  Domain domain{.where = {}, .dtype = in.dtype(), .shape = in.shape(), .halo = {}, .pieces = {}};
  const std::string tensor = fmt::format("{} boxes of {}", in.boxes().size(), name_of(in.dtype()));
  domain.halo = checked(asked, domain.shape, domain.dtype, where_of(tensor, asked));
  domain.where = where_of(tensor, domain.halo);
  if (const auto faults = check_boxes(in, 1); !faults.empty())
    fail(Code::invalid_argument, "{}: {}", domain.where, faults.front().message);
  std::map<RankId, std::string> box_of;
  std::map<std::string, RankId> holder_of;
  for (const auto& [rank, box] : in.boxes()) {
    const std::string text = box.text();
    if (const auto [at, is_new] = box_of.emplace(rank, text); !is_new)
      fail(Code::unsupported, "{}: rank {} has two boxes, {} and {}; a halo is around one", domain.where, rank.value(),
           at->second, text);
    if (const auto [at, is_new] = holder_of.emplace(text, rank); !is_new && box.elements() > 0)
      fail(Code::unsupported, "{}: ranks {} and {} have copies of {}; list each box once", domain.where,
           at->second.value(), rank.value(), text);
    Piece piece{.rank = rank,
                .group = 0,
                .begin = {},
                .length = box.sizes,
                .before = {},
                .after = {},
                .own = row_major(box.sizes),
                .widened = {}};
    for (const GlobalIndex offset : box.offsets) piece.begin.push_back(offset.value());
    add_ghosts(domain, piece);
    std::vector<Index> extents;
    for (std::size_t dim = 0; dim < domain.dims(); ++dim) extents.push_back(piece.width(dim));
    piece.widened = row_major(std::move(extents));
    domain.pieces.push_back(std::move(piece));
  }
  return domain;
}

}  // namespace reshard::halo
