// What is simpler than a pair of layouts, greatest steps first. Every step takes ranks, axes, dimensions, elements,
// cuts or rules away, or makes the form of a mesh plainer, and none gives any back, so steps come to an end.
#include <algorithm>
#include <numeric>

#include "property/layout_pair.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using Dim = std::size_t;

template <class T>
void erase_at(std::vector<T>& values, std::size_t at) {
  if (at < values.size()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
}

void erase_stored_dim(LayoutSpec& spec, Dim dim) {
  erase_at(spec.shape, dim);
  erase_at(spec.cuts, dim);
  erase_at(spec.view, dim);
  erase_at(spec.storage.strides, dim);
  std::erase(spec.storage.order, static_cast<int>(dim));
  for (int& d : spec.storage.order) d -= d > static_cast<int>(dim) ? 1 : 0;
}

// Takes `excess` off the entries, from entry `first` on and round.
void lower(std::vector<Index>& sizes, std::size_t first, Index excess) {
  for (std::size_t k = 0; k < sizes.size() && excess > 0; ++k) {
    Index& size = sizes[(first + k) % sizes.size()];
    const Index taken = std::min(size, excess);
    size -= taken;
    excess -= taken;
  }
}

// The stored dimension shorter by `taken`. What a list of sizes loses, it may lose at any entry: one layout for each.
std::vector<LayoutSpec> shorter(const LayoutSpec& spec, Dim dim, Index taken) {
  std::size_t entries = 1;
  for (const Cut& cut : spec.cuts[dim]) entries = std::max({entries, cut.sizes.size(), cut.piece_sizes.size()});
  std::vector<LayoutSpec> all(entries, spec);
  for (std::size_t first = 0; first < entries; ++first) {
    all[first].shape[dim] -= taken;
    for (Cut& cut : all[first].cuts[dim]) {
      lower(cut.sizes, first, taken);
      Index width = 1;  // sizes of packed pieces are those of one coordinate
      if (cut.pieces == Pieces::packed)
        for (const int axis : cut.axes) width *= spec.mesh.axes()[static_cast<std::size_t>(axis)].size;
      lower(cut.piece_sizes, first, taken / width);
    }
  }
  return all;
}

// The same for a dimension as it is seen, shorter by `taken`.
std::vector<LayoutSpec> seen_shorter(const LayoutSpec& spec, Dim dim, Index taken) {
  std::vector<LayoutSpec> all = shorter(spec, dim, taken);
  if (!spec.view.empty())
    for (LayoutSpec& each : all) each.view[dim].length -= taken;
  return all;
}

// Only the coordinates below `size` along one axis.
void narrow_axis(LayoutSpec& spec, std::size_t axis, Index size) {
  std::vector<Axis> axes = spec.mesh.axes();
  axes[axis].size = size;
  std::vector<RankId> ranks;
  for (Index ordinal = 0; ordinal < spec.mesh.size(); ++ordinal) {
    const Coordinate coordinate = spec.mesh.coordinate_at(ordinal);
    if (coordinate[axis] < size) ranks.push_back(spec.mesh.rank_at(coordinate));
  }
  spec.mesh = Mesh::listed(spec.mesh.name(), axes, std::move(ranks), spec.mesh.groups());
  for (std::vector<Cut>& cuts : spec.cuts)
    for (Cut& cut : cuts)
      if (cut.rule == Rule::sizes && cut.axes == std::vector<int>{static_cast<int>(axis)}) {
        const Index left = std::accumulate(cut.sizes.begin() + size, cut.sizes.end(), Index{0});
        cut.sizes.resize(static_cast<std::size_t>(size));
        cut.sizes.back() += left;
      }
}

void erase_axis(LayoutSpec& spec, std::size_t axis) {
  narrow_axis(spec, axis, 1);
  std::vector<Axis> axes = spec.mesh.axes();
  std::vector<RankId> ranks;
  for (Index ordinal = 0; ordinal < spec.mesh.size(); ++ordinal) ranks.push_back(spec.mesh.rank_at_ordinal(ordinal));
  erase_at(axes, axis);
  erase_at(spec.kinds, axis);
  spec.mesh = Mesh::listed(spec.mesh.name(), axes, std::move(ranks));
  for (std::vector<Cut>& cuts : spec.cuts) {
    for (Cut& cut : cuts) {
      std::erase(cut.axes, static_cast<int>(axis));
      for (int& a : cut.axes) a -= a > static_cast<int>(axis) ? 1 : 0;
    }
    std::erase_if(cuts, [](const Cut& cut) { return cut.axes.empty(); });
  }
}

// The stored dimension behind each dimension of the view.
std::vector<Dim> seen_dims(const LayoutSpec& spec) {
  std::vector<Dim> dims;
  for (Dim dim = 0; dim < spec.shape.size(); ++dim)
    if (spec.view.empty() || !spec.view[dim].dropped) dims.push_back(dim);
  return dims;
}

void simplify_mesh(const LayoutSpec& spec, std::vector<LayoutSpec>& simpler) {
  const auto with = [&](const Mesh& mesh) {
    simpler.push_back(spec);
    simpler.back().mesh = mesh;
  };
  const Mesh& mesh = spec.mesh;
  std::vector<Axis> plain = mesh.axes();
  for (std::size_t axis = 0; axis < plain.size(); ++axis)
    plain[axis].name = std::string(1, static_cast<char>('a' + axis));
  const Index first = mesh.first_rank().value();
  for (const Index base : {Index{0}, first / 2, std::max<Index>(first - 1, 0)}) with(Mesh("", plain, RankId(base)));
  with(Mesh("", mesh.axes(), mesh.first_rank()));
  with(Mesh(mesh.name(), mesh.axes(), mesh.first_rank(), mesh.groups()));
  if (!mesh.name().empty()) with(mesh.renamed(""));
  if (mesh.groups().empty()) return;
  std::vector<RankId> ranks;
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) ranks.push_back(mesh.rank_at_ordinal(ordinal));
  with(Mesh::listed(mesh.name(), mesh.axes(), std::move(ranks)));
}

// Less of the stored tensor outside of what is seen.
void simplify_view(const LayoutSpec& spec, Dim dim, std::vector<LayoutSpec>& simpler) {
  const Slice& slice = spec.view[dim];
  if (slice.dropped) {
    simpler.push_back(spec);
    erase_stored_dim(simpler.back(), dim);
  }
  const Index before = slice.begin.value(), after = spec.shape[dim] - before - slice.length;
  for (const auto& [first, last] : {std::pair(before, after), std::pair(before, Index{0}), std::pair(Index{0}, after),
                                    std::pair(Index{1}, Index{0}), std::pair(Index{0}, Index{1})}) {
    if (first > before || last > after) continue;
    for (LayoutSpec& each : shorter(spec, dim, first + last)) {
      each.view[dim].begin += -first;
      simpler.push_back(std::move(each));
    }
  }
}

void simplify_cuts(const LayoutSpec& spec, std::vector<LayoutSpec>& simpler) {
  for (Dim dim = 0; dim < spec.cuts.size(); ++dim)
    for (std::size_t k = 0; k < spec.cuts[dim].size(); ++k) {
      simpler.push_back(spec);
      erase_at(simpler.back().cuts[dim], k);
      const Cut& cut = spec.cuts[dim][k];
      const auto with = [&](auto change) {
        simpler.push_back(spec);
        change(simpler.back().cuts[dim][k]);
      };
      with([&](Cut& c) { c = {}, c.axes = cut.axes; });
      with([&](Cut& c) { c.axes.resize(1); });
      with([](Cut& c) { c.rule = Rule::chunk, c.sizes.clear(), c.block = 1; });
      with([](Cut& c) { c.pieces = Pieces::whole, c.piece_sizes.clear(), c.piece_units.clear(), c.piece_count = 1; });
      with([](Cut& c) { c.piece_count = std::max<Index>(1, c.piece_count - 1); });
      for (std::size_t piece = 1; piece < cut.piece_sizes.size(); ++piece)  // a piece joins the one before it
        with([&](Cut& c) {
          c.piece_sizes[piece - 1] += c.piece_sizes[piece];
          erase_at(c.piece_sizes, piece);
          erase_at(c.piece_units, piece);
        });
      with([](Cut& c) { c.piece_units.clear(); });
      with([](Cut& c) { c.unit = 1; });
      with([](Cut& c) { c.block = std::max<Index>(c.rule == Rule::window ? 0 : 1, c.block - 1); });
    }
}

// One side alone: the shape that is seen stays.
std::vector<LayoutSpec> simpler_specs(const LayoutSpec& spec) {
  std::vector<LayoutSpec> simpler;
  simpler.push_back({.dtype = spec.dtype, .shape = Layout(spec).shape()});
  for (std::size_t axis = 0; axis < spec.mesh.axes().size(); ++axis) {
    simpler.push_back(spec);
    erase_axis(simpler.back(), axis);
    const Index n = spec.mesh.axes()[axis].size;
    for (const Index size : {Index{1}, n / 2, n - 1}) {
      if (size < 1) continue;
      simpler.push_back(spec);
      narrow_axis(simpler.back(), axis, size);
    }
  }
  for (Dim dim = 0; dim < spec.view.size(); ++dim) simplify_view(spec, dim, simpler);
  simplify_cuts(spec, simpler);
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis)
    if (spec.kinds[axis].kind == AxisKind::Kind::at) {
      simpler.push_back(spec);
      simpler.back().kinds[axis] = {};
    }
  simpler.push_back(spec);
  simpler.back().storage = {};
  simplify_mesh(spec, simpler);
  return simpler;
}

class Steps {
 public:
  explicit Steps(const LayoutPair& pair) : pair_(pair), text_(pair.text()) {}

  void add(const LayoutSpec& source, const LayoutSpec& target, const PlanOptions& options) {
    try {
      LayoutPair made{Layout(source), Layout(target), options};
      if (made.text() != text_) pairs_.push_back(std::move(made));
    } catch (const Error&) {
      return;  // no layout
    }
  }

  // The dimension shorter as both sides see it.
  void shorten(Dim dim, Index taken) {
    const LayoutSpec &source = pair_.source.spec(), &target = pair_.target.spec();
    for (const LayoutSpec& from : seen_shorter(source, seen_dims(source)[dim], taken))
      for (const LayoutSpec& to : seen_shorter(target, seen_dims(target)[dim], taken)) add(from, to, pair_.options);
  }
  void erase(Dim dim) {
    LayoutSpec source = pair_.source.spec(), target = pair_.target.spec();
    erase_stored_dim(source, seen_dims(source)[dim]);
    erase_stored_dim(target, seen_dims(target)[dim]);
    add(source, target, pair_.options);
  }

  // One coordinate less along an axis that cuts the dimension evenly, and its share of the dimension.
  void drop_share(const LayoutSpec& own, const LayoutSpec& other, bool own_is_source, Dim dim, std::size_t axis) {
    const Dim own_dim = seen_dims(own)[dim];
    const Index n = own.mesh.axes()[axis].size;
    if (n < 2 || !own.view.empty() || own.shape[own_dim] % n != 0) return;
    LayoutSpec narrow = own;
    narrow_axis(narrow, axis, n - 1);
    narrow.shape[own_dim] -= own.shape[own_dim] / n;
    for (const LayoutSpec& rest : seen_shorter(other, seen_dims(other)[dim], own.shape[own_dim] / n))
      own_is_source ? add(narrow, rest, pair_.options) : add(rest, narrow, pair_.options);
  }
  void drop_shares(Dim dim) {
    const LayoutSpec &source = pair_.source.spec(), &target = pair_.target.spec();
    for (const bool own_is_source : {true, false}) {
      const LayoutSpec &own = own_is_source ? source : target, &other = own_is_source ? target : source;
      for (const Cut& cut : own.cuts[seen_dims(own)[dim]])
        for (const int axis : cut.axes) drop_share(own, other, own_is_source, dim, static_cast<std::size_t>(axis));
    }
  }

  std::vector<LayoutPair> take() { return std::move(pairs_); }

 private:
  const LayoutPair& pair_;
  std::string text_;
  std::vector<LayoutPair> pairs_;
};

}  // namespace

std::vector<LayoutPair> simpler_pairs(const LayoutPair& pair) {
  Steps steps(pair);
  const std::vector<Index>& shape = pair.source.shape();
  for (Dim dim = 0; dim < shape.size(); ++dim) steps.erase(dim);
  for (Dim dim = 0; dim < shape.size(); ++dim)
    for (const Index taken : {(shape[dim] + 1) / 2, Index{4}, Index{3}, Index{2}, Index{1}})
      if (0 < taken && taken <= shape[dim]) steps.shorten(dim, taken);
  for (Dim dim = 0; dim < shape.size(); ++dim) steps.drop_shares(dim);
  for (const LayoutSpec& source : simpler_specs(pair.source.spec()))
    steps.add(source, pair.target.spec(), pair.options);
  for (const LayoutSpec& target : simpler_specs(pair.target.spec()))
    steps.add(pair.source.spec(), target, pair.options);
  steps.add(pair.source.spec(), pair.target.spec(), {});
  for (const auto field : {&PlanOptions::ranks_per_rack, &PlanOptions::ranks_per_host, &PlanOptions::rotation}) {
    PlanOptions options = pair.options;
    options.*field = 0;
    steps.add(pair.source.spec(), pair.target.spec(), options);
  }
  return steps.take();
}

}  // namespace reshard
