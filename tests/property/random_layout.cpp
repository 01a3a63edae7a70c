#include "property/random_layout.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "oracle/ownership.h"

namespace reshard {
namespace {

using oracle::Line;

const std::vector<Rule> rules = {Rule::chunk, Rule::balanced, Rule::balanced_last, Rule::floor,
                                 Rule::even,  Rule::sizes,    Rule::cyclic,        Rule::window};
const std::vector<Pieces> groupings = {Pieces::whole, Pieces::whole,  Pieces::strided,
                                       Pieces::parts, Pieces::packed, Pieces::strided_shard};

// `total` as `count` terms, some of them 0.
std::vector<Index> random_sizes(Random& random, Index total, Index count) {
  std::vector<Index> ends = {0, total};
  for (Index k = 1; k < count; ++k) ends.push_back(random.between(0, total));
  std::sort(ends.begin(), ends.end());
  std::vector<Index> sizes;
  for (std::size_t k = 1; k < ends.size(); ++k) sizes.push_back(ends[k] - ends[k - 1]);
  return sizes;
}

// A cut that may or may not be possible for an axis of `n` over `parts` coordinates.
Cut random_cut(Random& random, Index n, Index parts, bool last) {
  Cut cut;
  cut.pieces = random.among(groupings);
  cut.rule = random.among(rules);
  const bool whole = cut.pieces == Pieces::whole;
  if (cut.pieces == Pieces::packed) cut.rule = Rule::even;
  if (cut.pieces == Pieces::strided_shard) cut.rule = Rule::chunk;
  if (!whole && (cut.rule == Rule::sizes || cut.rule == Rule::window)) cut.rule = Rule::chunk;
  if (cut.rule == Rule::window && !last) cut.rule = Rule::balanced;
  if (cut.rule == Rule::sizes) cut.sizes = random_sizes(random, n, parts);
  if (cut.rule == Rule::cyclic) cut.block = random.between(1, 3);
  if (cut.rule == Rule::window) cut.block = (parts - n % parts) % parts + parts * random.below(2);
  if (cut.rule != Rule::sizes && cut.rule != Rule::window && random.one_in(4)) cut.unit = random.between(2, 3);
  if (cut.pieces == Pieces::strided || cut.pieces == Pieces::strided_shard) cut.piece_count = random.between(1, 4);
  if (cut.pieces == Pieces::packed) {
    cut.piece_sizes = random_sizes(random, n / parts, 2);
    if (n % parts != 0) cut.pieces = Pieces::whole, cut.piece_sizes.clear();
  }
  if (cut.pieces == Pieces::parts) {
    cut.piece_sizes = random_sizes(random, n, random.between(2, 3));
    if (random.one_in(3)) {
      cut.unit = 1;
      for (const Index size : cut.piece_sizes) cut.piece_units.push_back(size % 2 == 0 && size > 0 ? 2 : 1);
    }
  }
  return cut;
}

// Cuts of one dimension, kept possible at every coordinate by trying them out.
class DimensionCutter {
 public:
  DimensionCutter(Random& random, Index n) : random_(random), lines_{oracle::whole_line(n)} {}

  void cut(const std::vector<int>& axes, Index parts, bool last, std::vector<Cut>& cuts) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Index n = static_cast<Index>(random_.among(lines_).size());
      Cut cut = attempt == 7 ? Cut{} : random_cut(random_, n, parts, last);
      cut.axes = axes;
      if (!possible(cut, parts)) continue;
      cuts.push_back(cut);
      return;
    }
  }

 private:
  bool possible(const Cut& cut, Index parts) {
    std::vector<Line> next;
    try {
      for (const Line& line : lines_)
        for (const Line& part : oracle::deal(line, cut, parts)) next.push_back(part);
    } catch (const std::logic_error&) {
      return false;
    }
    lines_ = next;
    return true;
  }
  Random& random_;
  std::vector<Line> lines_;  // at every coordinate of the axes so far
};

Index extent(const Mesh& mesh, const std::vector<int>& axes) {
  Index parts = 1;
  for (const int axis : axes) parts *= mesh.axes()[static_cast<std::size_t>(axis)].size;
  return parts;
}

// Deals the axes out to the dimensions and gives what is left a kind.
void cut_dimensions(Random& random, LayoutSpec& spec, const RandomOptions& options) {
  std::vector<int> axes(spec.mesh.axes().size());
  std::iota(axes.begin(), axes.end(), 0);
  random.shuffle(axes);
  std::vector<std::vector<int>> shares(spec.shape.size());
  spec.kinds.resize(axes.size());
  for (const int axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    const bool spare = shares.empty() || (options.replicas && random.one_in(4));
    if (!spare && !(options.at && random.one_in(8))) {
      shares[static_cast<std::size_t>(random.below(static_cast<Index>(shares.size())))].push_back(axis);
    } else if (!options.replicas || (options.at && random.one_in(2))) {
      spec.kinds[a].kind = AxisKind::Kind::at;
      spec.kinds[a].at = random.below(spec.mesh.axes()[a].size);
    }
  }
  spec.cuts.resize(shares.size());
  for (std::size_t d = 0; d < shares.size(); ++d) {
    DimensionCutter cutter(random, spec.shape[d]);
    while (!shares[d].empty()) {
      const std::size_t taken = shares[d].size() > 1 && random.one_in(3) ? 2 : 1;
      const std::vector<int> flat(shares[d].end() - static_cast<std::ptrdiff_t>(taken), shares[d].end());
      shares[d].resize(shares[d].size() - taken);
      cutter.cut(flat, extent(spec.mesh, flat), shares[d].empty(), spec.cuts[d]);
    }
  }
}

// Makes the stored tensor larger than `shape`, and the view a box of it.
void add_view(Random& random, LayoutSpec& spec) {
  std::vector<Index> stored;
  for (const Index n : spec.shape) {
    const Index before = random.below(3);
    spec.view.push_back({GlobalIndex(before), n, false});
    stored.push_back(before + n + random.below(3));
  }
  if (stored.size() < 4 && random.one_in(2)) {
    const auto at = random.below(static_cast<Index>(stored.size()) + 1);
    const Index n = random.between(1, 3);
    stored.insert(stored.begin() + at, n);
    spec.view.insert(spec.view.begin() + at, Slice{GlobalIndex(random.below(n)), 1, true});
  }
  spec.shape = stored;
}

std::vector<int> random_order(Random& random, std::size_t dims) {
  std::vector<int> order(dims);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  return order;
}

// The greatest local extent of each stored dimension over all ranks.
std::vector<Index> greatest_extents(const LayoutSpec& spec) {
  std::vector<Index> greatest(spec.shape.size(), 0);
  for (const auto& [rank, part] : oracle::ownership_of(Layout(spec)).parts)
    for (std::size_t d = 0; d < greatest.size(); ++d)
      greatest[d] = std::max(greatest[d], static_cast<Index>(part.stored[d].size()));
  return greatest;
}

void add_storage(Random& random, LayoutSpec& spec) {
  const std::vector<int> order = random_order(random, spec.shape.size());
  if (random.one_in(2)) {
    spec.storage.order = order;
    return;
  }
  const std::vector<Index> extents = greatest_extents(spec);
  std::vector<Index> strides(extents.size());
  Index step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[k]);
    strides[dim] = step;
    step *= std::max<Index>(extents[dim], 1) + random.below(2);
  }
  spec.storage.strides = strides;
}

std::vector<Axis> random_axes(Random& random) {
  const Index count = random.between(0, 3);
  std::vector<Axis> axes;
  Index size = 1;
  for (Index a = 0; a < count; ++a) {
    const Index n = random.between(1, 4);
    if (size * n > 12) break;
    size *= n;
    axes.push_back({std::string(1, static_cast<char>('p' + a)), n});
  }
  return axes;
}

Index ranks_of(const std::vector<Axis>& axes) {
  Index count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

// Row-major in a shuffled order of axes, sometimes with gaps, some axes counting down from `base`.
std::vector<Index> shuffled_strides(Random& random, const std::vector<Axis>& axes, RankId& base) {
  std::vector<Index> strides(axes.size());
  Index step = random.between(1, 2);
  for (const int axis : random_order(random, axes.size())) {
    const auto a = static_cast<std::size_t>(axis);
    const bool down = random.one_in(4);
    strides[a] = down ? -step : step;
    if (down) base += step * (axes[a].size - 1);
    step *= axes[a].size;
  }
  return strides;
}

}  // namespace

Mesh random_mesh(Random& random) {
  const std::vector<Axis> axes = random_axes(random);
  std::vector<AxisGroup> groups;
  if (axes.size() >= 2 && random.one_in(3))
    groups.push_back({"both", {static_cast<int>(random.below(static_cast<Index>(axes.size()) - 1)), 2}});
  const std::string name = random.one_in(3) ? "trainer" : "";
  RankId base(random.below(6));
  switch (random.below(3)) {
    case 0: return Mesh(name, axes, base, groups);
    case 1: {
      const std::vector<Index> strides = shuffled_strides(random, axes, base);
      return Mesh::strided(name, axes, base, strides, groups);
    }
    default: break;
  }
  std::vector<RankId> ranks;
  for (Index r = 0; r < 20; ++r) ranks.push_back(RankId(r));
  random.shuffle(ranks);
  ranks.resize(static_cast<std::size_t>(ranks_of(axes)));
  return Mesh::listed(name, axes, ranks, groups);
}

std::vector<Index> random_shape(Random& random) {
  std::vector<Index> shape(static_cast<std::size_t>(random.between(0, 4)));
  const Index most = shape.size() < 2 ? 40 : shape.size() == 2 ? 14 : 6;
  for (Index& n : shape) n = random.one_in(20) ? 0 : random.between(1, most);
  return shape;
}

Layout random_layout(Random& random, const std::vector<Index>& shape, Dtype dtype, const RandomOptions& options) {
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = shape;
  spec.mesh = options.mesh ? *options.mesh : random_mesh(random);
  if (options.views && random.one_in(3)) add_view(random, spec);
  cut_dimensions(random, spec, options);
  if (options.storage && !spec.shape.empty() && random.one_in(3)) add_storage(random, spec);
  return Layout(spec);
}

}  // namespace reshard
