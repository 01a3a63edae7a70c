#include "multi/halo/halo_oracle.h"

#include <map>
#include <stdexcept>
#include <string>

#include "oracle/ownership.h"

namespace reshard::halo_oracle {
namespace {

// An index on its way back into [0, n).
struct Walker {
  Index at = 0;
  bool is_constant = false;
  bool has_crossed = false;
};

Walker walk(Walker w, const HaloEdge& edge, Index n) {
  while (w.at < 0 || w.at >= n) {
    const bool low = w.at < 0;
    switch (edge.kind) {
      case HaloEdge::Kind::none: throw std::logic_error("a ghost beyond an edge without ghosts");
      case HaloEdge::Kind::zero:
      case HaloEdge::Kind::constant: return {.is_constant = true};
      case HaloEdge::Kind::clamp: w.at = low ? 0 : n - 1; break;
      case HaloEdge::Kind::mirror: w.at = n == 1 ? 0 : low ? -w.at : 2 * (n - 1) - w.at; break;
      case HaloEdge::Kind::periodic: w.at += low ? n : -n; break;
      case HaloEdge::Kind::pole:
        w.at = low ? -1 - w.at : 2 * n - 1 - w.at;
        w.has_crossed = !w.has_crossed;
        break;
    }
  }
  return w;
}

const HaloDim* find(const Halo& halo, std::size_t dim) {
  for (const HaloDim& d : halo.dims)
    if (d.dim == static_cast<int>(dim)) return &d;
  return nullptr;
}

// The cell at global indices that may lie outside.
Cell cell_at(std::vector<Index> global, const std::vector<Index>& shape, const Halo& halo) {
  Cell cell;
  for (const HaloDim& d : halo.dims) {  // of several constants that of the last
    const Index at = global[static_cast<std::size_t>(d.dim)];
    if ((d.edge.kind == HaloEdge::Kind::zero || d.edge.kind == HaloEdge::Kind::constant) &&
        (at < 0 || at >= shape[static_cast<std::size_t>(d.dim)])) {
      cell.is_constant = true;
      cell.value = d.edge.kind == HaloEdge::Kind::zero ? 0 : d.edge.value;
    }
  }
  if (cell.is_constant) return cell;
  for (const HaloDim& d : halo.dims) {
    const auto dim = static_cast<std::size_t>(d.dim);
    const Walker w = walk({global[dim]}, d.edge, shape[dim]);
    global[dim] = w.at;
    if (!w.has_crossed) continue;
    cell.sign = d.edge.flips ? -1 : 1;
    // The longitude may still be outside itself, and goes round.
    const auto longitude = static_cast<std::size_t>(d.edge.longitude);
    const Index n = shape[longitude];
    global[longitude] = ((global[longitude] + n / 2) % n + n) % n;
  }
  cell.origin = oracle::linear_index(global, shape);
  return cell;
}

// Indices of one dimension of a widened shard, of which `own` are own cells.
struct Line {
  std::vector<Index> global;
  Index before = 0;
  Index own = 0;
};

Line line_of(const std::vector<Index>& own, const HaloDim* d, Index n) {
  Line line{own, 0, static_cast<Index>(own.size())};
  if (d == nullptr || own.empty()) return line;
  const auto exists = [&](Index at) { return d->edge.kind != HaloEdge::Kind::none || (at >= 0 && at < n); };
  std::vector<Index> all;
  for (Index k = d->lo; k > 0; --k)
    if (exists(own.front() - k)) all.push_back(own.front() - k);
  line.before = static_cast<Index>(all.size());
  all.insert(all.end(), own.begin(), own.end());
  for (Index k = 1; k <= d->hi; ++k)
    if (exists(own.back() + k)) all.push_back(own.back() + k);
  line.global = all;
  return line;
}

void add_cells(Shard& shard, const std::vector<Line>& lines, const std::vector<Index>& shape, const Halo& halo) {
  for (const Line& line : lines) shard.extents.push_back(static_cast<Index>(line.global.size()));
  oracle::each_index(shard.extents, [&](const std::vector<Index>& local) {
    std::vector<Index> global;
    bool is_own = true;
    for (std::size_t dim = 0; dim < lines.size(); ++dim) {
      global.push_back(lines[dim].global[static_cast<std::size_t>(local[dim])]);
      is_own = is_own && local[dim] >= lines[dim].before && local[dim] < lines[dim].before + lines[dim].own;
    }
    Cell cell = cell_at(global, shape, halo);
    cell.is_own = is_own;
    cell.local = local;
    shard.cells.push_back(std::move(cell));
  });
}

std::vector<Index> held(const oracle::Line& line) {
  std::vector<Index> held;
  for (const Index index : line)
    if (index != oracle::hole) held.push_back(index);
  return held;
}

Halo counted_from_0(Halo halo, int dims) {
  for (HaloDim& d : halo.dims) {
    if (d.dim < 0) d.dim += dims;
    if (d.edge.longitude < 0 && d.edge.kind == HaloEdge::Kind::pole) d.edge.longitude += dims;
  }
  return halo;
}

// Where each cell lies: the pieces of `out` are laid end to end, so that local indices are places among those held.
void place(Shard& shard, const oracle::Part& part, const std::vector<Index>& shape) {
  std::vector<std::vector<Index>> lines;
  for (const oracle::Line& line : part.logical) lines.push_back(held(line));
  for (std::size_t dim = 0; dim < lines.size(); ++dim)
    if (static_cast<Index>(lines[dim].size()) != shard.extents[dim])
      throw std::logic_error("dimension " + std::to_string(dim) + " of rank " + std::to_string(shard.rank) + " has " +
                             std::to_string(lines[dim].size()) + " widened cells, expected " +
                             std::to_string(shard.extents[dim]));
  std::map<Index, Index> address_of;
  for (std::size_t address = 0; address < part.buffer.size(); ++address)
    if (part.buffer[address] != oracle::hole) address_of[part.buffer[address]] = static_cast<Index>(address);
  for (Cell& cell : shard.cells) {
    std::vector<Index> global;
    for (std::size_t dim = 0; dim < lines.size(); ++dim)
      global.push_back(lines[dim][static_cast<std::size_t>(cell.local[dim])]);
    cell.address = address_of.at(oracle::linear_index(global, shape));
  }
  shard.buffer = static_cast<Index>(part.buffer.size());
}

Index group_of(const Layout& layout, const Coordinate& coordinate) {
  Index group = 0;
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
    if (layout.spec().kinds[axis].kind != AxisKind::Kind::cut)
      group = group * layout.mesh().axes()[axis].size + coordinate[axis];
  return group;
}

}  // namespace

std::vector<Shard> shards_of(const Layout& in, const Halo& asked, const Layout& out) {
  const Halo halo = counted_from_0(asked, in.dims());
  const oracle::Ownership own = oracle::ownership_of(in), wide = oracle::ownership_of(out);
  std::vector<Shard> shards;
  for (Index ordinal = 0; ordinal < in.mesh().size(); ++ordinal) {
    const RankId rank = in.mesh().rank_at_ordinal(ordinal);
    const oracle::Part& part = own.parts.at(rank.value());
    if (!part.held) continue;
    Shard shard{.rank = rank.value(),
                .group = group_of(in, in.mesh().coordinate_at(ordinal)),
                .own = part.buffer,
                .extents = {},
                .cells = {}};
    std::vector<Line> lines;
    for (std::size_t dim = 0; dim < in.shape().size(); ++dim)
      lines.push_back(line_of(held(part.logical[dim]), find(halo, dim), in.shape()[dim]));
    add_cells(shard, lines, in.shape(), halo);
    place(shard, wide.parts.at(rank.value()), out.shape());
    shards.push_back(std::move(shard));
  }
  return shards;
}

std::vector<Shard> shards_of(const std::vector<Index>& shape, const std::vector<OwnBox>& boxes, const Halo& halo) {
  std::vector<Shard> shards;
  for (const OwnBox& box : boxes) {
    Shard shard{.rank = box.rank, .group = 0, .own = {}, .extents = {}, .cells = {}};
    std::vector<Line> lines;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      std::vector<Index> own;
      for (Index k = 0; k < box.length[dim]; ++k) own.push_back(box.begin[dim] + k);
      lines.push_back(line_of(own, find(halo, dim), shape[dim]));
    }
    oracle::each_index(box.length, [&](std::vector<Index> index) {
      for (std::size_t dim = 0; dim < index.size(); ++dim) index[dim] += box.begin[dim];
      shard.own.push_back(oracle::linear_index(index, shape));
    });
    add_cells(shard, lines, shape, halo);
    for (std::size_t k = 0; k < shard.cells.size(); ++k) shard.cells[k].address = static_cast<Index>(k);
    shard.buffer = static_cast<Index>(shard.cells.size());
    shards.push_back(std::move(shard));
  }
  return shards;
}

}  // namespace reshard::halo_oracle
