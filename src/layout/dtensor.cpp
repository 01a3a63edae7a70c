#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/fail.h"
#include "layout/convention.h"
#include "layout/locate.h"
#include "layout/scanner.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

struct Placement {
  enum class Kind { replicate, shard, strided_shard, partial } kind = Kind::replicate;
  int dim = 0;
  Index split_factor = 1;
  ReduceOp op = ReduceOp::sum;
  std::optional<Index> turn;  // place in the order in which axes cut this dimension
};

int parse_dim(Scanner& in, Index dims) {
  if (in.accept("dim")) in.expect('=');
  const Index dim = in.number("a dimension");
  if (dim < -dims || dim >= dims)
    in.fail_last(fmt::format("dimension {} is out of range for a tensor of {} dimensions", dim, dims));
  return static_cast<int>(dim < 0 ? dim + dims : dim);
}

ReduceOp parse_op(Scanner& in) {
  const std::string_view name = in.name("a reduce op");
  const auto op = reduce_op_named(name);
  if (!op) in.fail_last(fmt::format("\"{}\" is not sum, avg, min, max or product", name));
  return *op;
}

Placement parse_placement(Scanner& in, Index dims) {
  Placement placement;
  if (in.accept("Replicate") || in.accept("R")) {
    if (in.accept('(')) in.expect(')');
    return placement;
  }
  if (in.accept("Partial") || in.accept("P")) {
    placement.kind = Placement::Kind::partial;
    if (in.accept('(') && !in.accept(')')) {
      placement.op = parse_op(in);
      in.expect(')');
    }
    return placement;
  }
  const bool strided = in.accept("_StridedShard") || in.accept("_S");
  if (!strided && !in.accept("Shard") && !in.accept("S"))
    in.fail_here("expected Shard(d), Replicate(), Partial(op) or _StridedShard(d, sf=f)");
  placement.kind = strided ? Placement::Kind::strided_shard : Placement::Kind::shard;
  in.expect('(');
  placement.dim = parse_dim(in, dims);
  if (strided) {
    in.expect(',');
    if (in.accept("sf") || in.accept("split_factor")) in.expect('=');
    placement.split_factor = in.non_negative("a split factor");
    if (placement.split_factor < 1) in.fail_last("the split factor must be at least 1");
  }
  in.expect(')');
  if (in.accept('[')) {
    placement.turn = in.non_negative("the place in the order of cuts");
    in.expect(']');
  }
  return placement;
}

std::vector<Placement> parse_placements(std::string_view text, Index dims, const Mesh& mesh) {
  Scanner in(text, "DTensor placements");
  std::vector<Placement> placements;
  const char close = in.accept('[') ? ']' : in.accept('(') ? ')' : '\0';
  while (!in.at_end() && in.peek() != close) {
    placements.push_back(parse_placement(in, dims));
    in.accept(',');
  }
  if (close != '\0') in.expect(close);
  in.expect_end();
  if (placements.size() != mesh.axes().size())
    in.fail_here(
        fmt::format("{} placements for the {} axes of mesh {}", placements.size(), mesh.axes().size(), mesh.text()));
  return placements;
}

// Mesh axes that cut `dim`, first to cut first.
std::vector<int> axes_in_turn(const std::vector<Placement>& placements, int dim) {
  std::vector<int> axes;
  std::vector<Index> turns;
  for (std::size_t axis = 0; axis < placements.size(); ++axis) {
    const Placement& placement = placements[axis];
    if (placement.kind != Placement::Kind::shard && placement.kind != Placement::Kind::strided_shard) continue;
    if (placement.dim != dim) continue;
    axes.push_back(static_cast<int>(axis));
    if (placement.turn) turns.push_back(*placement.turn);
  }
  if (turns.empty()) return axes;
  std::vector<Index> sorted = turns;
  std::ranges::sort(sorted);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    if (sorted.size() != axes.size() || sorted[k] != static_cast<Index>(k))
      fail(Code::invalid_argument,
           "DTensor placements: the places of dimension {} are [{}]; they must be 0 to {}, once each", dim,
           fmt::join(turns, "]["), axes.size() - 1);
  std::vector<int> ordered(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) ordered[static_cast<std::size_t>(turns[k])] = axes[k];
  return ordered;
}

// A strided shard waits until the axes after it, as many as its split factor says, have cut.
std::vector<int> resolve_order(const std::vector<Placement>& placements, std::vector<int> axes, const Mesh& mesh) {
  std::vector<int> ordered;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const Placement& placement = placements[axes[k]];
    if (placement.kind == Placement::Kind::shard) {
      ordered.insert(ordered.begin(), axes[k]);
      continue;
    }
    Index product = 1;
    auto place = ordered.begin();
    while (place != ordered.end() && product < placement.split_factor) product *= mesh.axes()[*place++].size;
    if (product != placement.split_factor)
      fail(Code::unsupported,
           "DTensor placements: split factor {} of axis \"{}\" is no product of the sizes of the axes that cut after "
           "it; "
           "read it literally instead",
           placement.split_factor, mesh.axes()[axes[k]].name);
    ordered.insert(place, axes[k]);
  }
  return ordered;
}

std::string placement_text(const Layout& layout, int axis, const std::vector<std::string>& cuts) {
  const AxisKind& kind = layout.spec().kinds[axis];
  if (kind.kind == AxisKind::Kind::partial) return fmt::format("Partial({})", name_of(kind.op));
  return kind.kind == AxisKind::Kind::replicate ? "Replicate()" : cuts[axis];
}

}  // namespace

Layout from_dtensor(Dtype dtype, std::vector<Index> shape, const Mesh& mesh, std::string_view text,
                    StridedReading reading) {
  const auto placements = parse_placements(text, static_cast<Index>(shape.size()), mesh);
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.mesh = mesh;
  spec.cuts.resize(spec.shape.size());
  spec.kinds.resize(placements.size());
  for (std::size_t axis = 0; axis < placements.size(); ++axis)
    if (placements[axis].kind == Placement::Kind::partial)
      spec.kinds[axis] = {AxisKind::Kind::partial, placements[axis].op, 0};
  for (int dim = 0; dim < static_cast<int>(spec.shape.size()); ++dim) {
    std::vector<int> axes = axes_in_turn(placements, dim);
    if (reading == StridedReading::ordered) axes = resolve_order(placements, axes, mesh);
    for (const int axis : axes) {
      Cut cut;
      cut.axes = {axis};
      if (placements[axis].kind == Placement::Kind::strided_shard && reading == StridedReading::literal) {
        cut.pieces = Pieces::strided_shard;
        cut.piece_count = placements[axis].split_factor;
      }
      spec.cuts[dim].push_back(std::move(cut));
    }
  }
  return Layout(std::move(spec));
}

std::string to_dtensor(const Layout& layout) {
  require_plain(layout, "DTensor");
  const LayoutSpec& spec = layout.spec();
  std::vector<std::string> cuts(spec.mesh.axes().size());
  for (int dim = 0; dim < layout.dims(); ++dim) {
    const std::vector<Cut>& cut_list = spec.cuts[dim];
    const bool strided =
        std::ranges::any_of(cut_list, [](const Cut& cut) { return cut.pieces == Pieces::strided_shard; });
    const bool divides = !strided && require_chunks(layout, dim, "DTensor");
    std::vector<int> axes;
    for (const Cut& cut : cut_list) {
      if (cut.axes.size() > 1 && !divides)
        fail(Code::unsupported,
             "{}: DTensor cuts axis by axis; one flat cut of dimension {} over {} axes differs for {} elements",
             layout.text(), dim, cut.axes.size(), spec.shape[dim]);
      const bool plain = cut.pieces == Pieces::whole && cut.rule == Rule::chunk;
      if (strided && ((cut.pieces != Pieces::strided_shard && !plain) || cut.unit != 1 || cut.axes.size() > 1))
        fail(Code::unsupported, "{}: DTensor has no such cut of dimension {} beside a strided shard", layout.text(),
             dim);
      for (const int axis : cut.axes) {
        axes.push_back(axis);
        cuts[axis] = cut.pieces == Pieces::strided_shard
                         ? fmt::format("_StridedShard(dim={}, sf={})", dim, cut.piece_count)
                         : fmt::format("Shard(dim={})", dim);
      }
    }
    if (!std::ranges::is_sorted(axes))
      for (std::size_t k = 0; k < axes.size(); ++k) cuts[axes[k]] += fmt::format("[{}]", k);
  }
  std::vector<std::string> placements;
  for (int axis = 0; axis < static_cast<int>(cuts.size()); ++axis)
    placements.push_back(placement_text(layout, axis, cuts));
  return fmt::format("[{}]", fmt::join(placements, ", "));
}

}  // namespace reshard
