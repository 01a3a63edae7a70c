#include "reshard/layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/checked.h"
#include "base/fail.h"
#include "layout/locate.h"

namespace reshard {
namespace {

constexpr Index kGreatestExtent = Index{1} << 62;  // leaves room for sums of two positions

std::string shape_text(const LayoutSpec& spec) {
  return fmt::format("{}[{}]", name_of(spec.dtype), fmt::join(spec.shape, ","));
}

std::string axes_text(const Mesh& mesh, const Cut& cut) {
  std::string out;
  for (const int axis : cut.axes) out += (out.empty() ? "" : " ") + mesh.axes()[axis].name;
  return out;
}

// Strides of an empty tensor are products of its other extents, so these must fit as well.
void check_bytes(const LayoutSpec& spec, std::vector<Index> extents, const std::string& what) {
  for (Index& extent : extents) extent = std::max<Index>(extent, 1);
  checked_mul(checked_product(extents, what), bytes_of(spec.dtype), what);
}

void check_shape(const LayoutSpec& spec) {
  for (const Index extent : spec.shape)
    if (extent < 0 || extent > kGreatestExtent)
      fail(Code::invalid_argument, "{}: extent {} is out of range", shape_text(spec), extent);
  check_bytes(spec, spec.shape, "bytes of tensor " + shape_text(spec));
}

// Fields that a cut does not use take their defaults, so that equal cuts compare equal.
void normalise(Cut& cut) {
  const bool listed = cut.pieces == Pieces::packed || cut.pieces == Pieces::parts;
  if (!listed) cut.piece_sizes.clear();
  if (cut.pieces != Pieces::parts) cut.piece_units.clear();
  if (cut.pieces != Pieces::strided && cut.pieces != Pieces::strided_shard) cut.piece_count = 1;
  if (cut.pieces == Pieces::packed && cut.rule == Rule::chunk) cut.rule = Rule::even;
  if (cut.rule != Rule::sizes) cut.sizes.clear();
  if (cut.rule != Rule::cyclic && cut.rule != Rule::window) cut.block = 1;
  if (cut.piece_units.empty()) return;
  if (std::ranges::count(cut.piece_units, cut.piece_units.front()) == std::ssize(cut.piece_units)) {
    cut.unit = cut.piece_units.front();
    cut.piece_units.clear();
  } else {
    cut.unit = 1;
  }
}

// Every axis does one thing: fills in kinds, throws when an axis is used twice.
void check_axes(LayoutSpec& spec) {
  const std::vector<Axis>& axes = spec.mesh.axes();
  if (spec.kinds.empty()) spec.kinds.resize(axes.size());
  if (spec.kinds.size() != axes.size())
    fail(Code::invalid_argument, "{}: {} kinds for {} mesh axes", shape_text(spec), spec.kinds.size(), axes.size());
  for (AxisKind& kind : spec.kinds)
    if (kind.kind == AxisKind::Kind::cut) kind = {};
  for (std::size_t dim = 0; dim < spec.cuts.size(); ++dim)
    for (const Cut& cut : spec.cuts[dim]) {
      if (cut.axes.empty())
        fail(Code::invalid_argument, "{}: a cut of dimension {} names no axis", shape_text(spec), dim);
      for (const int axis : cut.axes) {
        if (axis < 0 || axis >= static_cast<int>(axes.size()))
          fail(Code::invalid_argument, "{}: a cut of dimension {} names axis {} of a mesh of {} axes", shape_text(spec),
               dim, axis, axes.size());
        AxisKind& kind = spec.kinds[axis];
        if (kind.kind != AxisKind::Kind::replicate || kind.varying)
          fail(Code::invalid_argument, "{}: axis \"{}\" is used twice; it can do one thing to a tensor",
               shape_text(spec), axes[axis].name);
        kind = {AxisKind::Kind::cut, ReduceOp::sum, 0};
      }
    }
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    AxisKind& kind = spec.kinds[axis];
    if (kind.kind == AxisKind::Kind::at && (kind.at < 0 || kind.at >= axes[axis].size))
      fail(Code::invalid_argument, "{}: at({}) is outside axis \"{}\" of size {}", shape_text(spec), kind.at,
           axes[axis].name, axes[axis].size);
    if (kind.kind != AxisKind::Kind::at) kind.at = 0;
    if (kind.kind != AxisKind::Kind::partial) kind.op = ReduceOp::sum;
    if (kind.kind != AxisKind::Kind::replicate) kind.varying = false;
  }
}

// Checks each cut for every length that can reach it; returns the greatest number of elements stored.
Index check_cuts(const LayoutSpec& spec, int dim) {
  std::set<Index> lengths{spec.shape[dim]};
  Index stored = spec.shape[dim];
  for (std::size_t level = 0; level < spec.cuts[dim].size(); ++level) {
    const Cut& cut = spec.cuts[dim][level];
    const Index width = cut_width(spec.mesh, cut);
    const std::string where =
        fmt::format("dimension {} of {}, axis \"{}\"", dim, shape_text(spec), axes_text(spec.mesh, cut));
    if (cut.rule == Rule::window && level + 1 < spec.cuts[dim].size())
      fail(Code::invalid_argument, "{}: a window must be the last cut of its dimension", where);
    std::set<Index> next;
    stored = 0;
    for (const Index length : lengths) {
      check_division(cut, length, width, where);
      const Division division(cut, length, width);
      for (const Index at : division.representatives()) {
        next.insert(division.held(at));
        stored = std::max(stored, division.stored(at));
      }
    }
    lengths = std::move(next);
  }
  return stored;
}

void check_view(const LayoutSpec& spec) {
  if (spec.view.empty()) return;
  if (spec.view.size() != spec.shape.size())
    fail(Code::invalid_argument, "{}: {} slices for {} dimensions", shape_text(spec), spec.view.size(),
         spec.shape.size());
  for (std::size_t dim = 0; dim < spec.view.size(); ++dim) {
    const Slice& slice = spec.view[dim];
    const Index begin = slice.begin.value();
    if (begin < 0 || slice.length < 0 || begin > spec.shape[dim] || slice.length > spec.shape[dim] - begin)
      fail(Code::invalid_argument, "{}: a slice of {} from {} on is outside dimension {} of {} elements",
           shape_text(spec), slice.length, begin, dim, spec.shape[dim]);
    if (slice.dropped && slice.length != 1)
      fail(Code::invalid_argument, "{}: dimension {} is dropped, so its slice has one element, not {}",
           shape_text(spec), dim, slice.length);
  }
}

void check_order(const LayoutSpec& spec) {
  std::vector<int> sorted = spec.storage.order;
  std::ranges::sort(sorted);
  std::vector<int> all(spec.shape.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    fail(Code::invalid_argument, "{}: order({}) must name each of the {} dimensions once", shape_text(spec),
         fmt::join(spec.storage.order, ","), spec.shape.size());
}

void check_strides(const LayoutSpec& spec, const std::vector<Index>& stored) {
  const std::vector<Index>& strides = spec.storage.strides;
  if (strides.size() != spec.shape.size())
    fail(Code::invalid_argument, "{}: {} strides for {} dimensions", shape_text(spec), strides.size(),
         spec.shape.size());
  std::vector<int> dims;
  for (int dim = 0; dim < static_cast<int>(strides.size()); ++dim) {
    if (strides[dim] < 0)
      fail(Code::invalid_argument, "{}: stride {} of dimension {} is negative", shape_text(spec), strides[dim], dim);
    if (stored[dim] > 1) dims.push_back(dim);
  }
  std::ranges::sort(dims, {}, [&](int dim) { return strides[dim]; });
  Index reach = 0;
  const std::string what = "bytes of tensor " + shape_text(spec);
  for (const int dim : dims) {
    if (strides[dim] <= reach)
      fail(Code::invalid_argument,
           "{}: stride {} of dimension {} makes elements overlap; shards reach {} elements below it", shape_text(spec),
           strides[dim], dim, reach + 1);
    reach = checked_add(reach, checked_mul(strides[dim], stored[dim] - 1, what), what);
  }
  checked_mul(checked_add(reach, 1, what), bytes_of(spec.dtype), what);
}

void check_storage(LayoutSpec& spec, const std::vector<Index>& stored) {
  StorageOrder& storage = spec.storage;
  check_bytes(spec, stored, "bytes of a shard of " + shape_text(spec));
  if (!storage.order.empty() + !storage.strides.empty() + !storage.form.empty() > 1)
    fail(Code::invalid_argument, "{}: storage has an order, strides or a private form, not two of them",
         shape_text(spec));
  if (!storage.form.empty() && !spec.view.empty())
    fail(Code::invalid_argument, "{}: a slice of the private form \"{}\" means nothing: describe the whole tensor",
         shape_text(spec), storage.form);
  if (!storage.order.empty()) check_order(spec);
  if (!storage.strides.empty()) check_strides(spec, stored);
  if (std::ranges::is_sorted(storage.order)) storage.order.clear();  // row-major is the default
}

void check_plain(const Layout& layout, std::string_view what) {
  const std::string& form = layout.spec().storage.form;
  if (!form.empty())
    fail(Code::unsupported, "{}: the form \"{}\" is private, only its owner knows {}", layout.text(), form, what);
}

}  // namespace

Layout::Layout(LayoutSpec spec) : spec_(std::move(spec)) {
  check_shape(spec_);
  if (spec_.cuts.size() > spec_.shape.size())
    fail(Code::invalid_argument, "{}: dimension {} is cut, but the tensor has {} dimensions", shape_text(spec_),
         spec_.cuts.size() - 1, spec_.shape.size());
  spec_.cuts.resize(spec_.shape.size());
  for (std::vector<Cut>& cuts : spec_.cuts) std::ranges::for_each(cuts, normalise);
  check_axes(spec_);
  std::vector<Index> stored(spec_.shape.size());
  for (int dim = 0; dim < static_cast<int>(spec_.shape.size()); ++dim) stored[dim] = check_cuts(spec_, dim);
  check_view(spec_);
  check_storage(spec_, stored);
  for (int dim = 0; dim < static_cast<int>(spec_.shape.size()); ++dim) {
    if (is_view() && spec_.view[dim].dropped) continue;
    stored_dims_.push_back(dim);
    shape_.push_back(is_view() ? spec_.view[dim].length : spec_.shape[dim]);
  }
  // A view of everything is no view.
  const auto whole = [&](std::size_t dim) {
    const Slice& slice = spec_.view[dim];
    return !slice.dropped && slice.begin.value() == 0 && slice.length == spec_.shape[dim];
  };
  bool all = true;
  for (std::size_t dim = 0; dim < spec_.view.size(); ++dim) all = all && whole(dim);
  if (all) spec_.view.clear();
  elements_ = checked_product(shape_, "elements");
}

bool Layout::has_partial() const {
  return std::ranges::any_of(spec_.kinds, [](const AxisKind& kind) { return kind.kind == AxisKind::Kind::partial; });
}

namespace {

bool exists_at(const LayoutSpec& spec, std::span<const Index> coordinate) {
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis)
    if (spec.kinds[axis].kind == AxisKind::Kind::at && spec.kinds[axis].at != coordinate[axis]) return false;
  return true;
}

// Of a stored dimension, the part inside the view, in indices of the view.
Segments inside(const Segments& segments, const Slice& slice) {
  const Segments box{{LocalIndex(0), slice.begin, slice.length}};
  Segments out = intersect(segments, box);
  for (Segment& segment : out) segment.global = GlobalIndex(segment.global - slice.begin);
  return out;
}

}  // namespace

Region Layout::region(RankId rank) const {
  const auto coordinate = spec_.mesh.coordinate_of(rank);
  if (!coordinate) return {false, std::vector<Segments>(shape_.size())};
  return region_at(*coordinate);
}

Region Layout::region_at(std::span<const Index> coordinate) const {
  Region region{exists_at(spec_, coordinate), {}};
  for (int dim = 0; region.held && dim < static_cast<int>(spec_.shape.size()); ++dim) {
    Segments segments = segments_along(spec_, dim, coordinate);
    if (is_view()) segments = inside(segments, spec_.view[dim]);
    if (is_view() && spec_.view[dim].dropped) {
      region.held = !segments.empty();
    } else {
      region.dims.push_back(std::move(segments));
    }
  }
  if (!region.held) region.dims.assign(shape_.size(), {});
  return region;
}

LocalStorage Layout::storage(RankId rank) const {
  check_plain(*this, "how this is stored");
  const auto coordinate = spec_.mesh.coordinate_of(rank);
  if (!coordinate) return {std::vector<Index>(shape_.size()), std::vector<Index>(shape_.size()), 0, 0};
  return storage_at(*coordinate);
}

LocalStorage Layout::storage_at(std::span<const Index> coordinate) const {
  check_plain(*this, "how this is stored");
  const int dims = static_cast<int>(spec_.shape.size());
  LocalStorage storage{std::vector<Index>(shape_.size()), std::vector<Index>(shape_.size()), 0, 0};
  if (!exists_at(spec_, coordinate)) return storage;
  std::vector<Index> extents(dims), strides = spec_.storage.strides;
  for (int dim = 0; dim < dims; ++dim) extents[dim] = stored_along(spec_, dim, coordinate);
  if (strides.empty()) {
    strides.resize(dims);
    Index stride = 1;
    for (int k = dims; k-- > 0;) {
      const int dim = spec_.storage.order.empty() ? k : spec_.storage.order[k];
      strides[dim] = stride;
      stride *= extents[dim];
    }
  }
  if (std::ranges::find(extents, 0) == extents.end()) {
    storage.elements = 1;
    for (int dim = 0; dim < dims; ++dim) storage.elements += (extents[dim] - 1) * strides[dim];
  }
  for (int dim = 0, kept = 0; dim < dims; ++dim) {
    if (is_view() && spec_.view[dim].dropped) {
      const Segments at = inside(segments_along(spec_, dim, coordinate), spec_.view[dim]);
      if (!at.empty()) storage.offset += at.front().local.value() * strides[dim];
      continue;
    }
    storage.extents[kept] = extents[dim];
    storage.strides[kept++] = strides[dim];
  }
  return storage;
}

Index Layout::local_bytes(RankId rank) const { return storage(rank).elements * bytes_of(spec_.dtype); }

Layout Layout::with_shape(std::vector<Index> shape) const {
  LayoutSpec spec = spec_;
  spec.shape = std::move(shape);
  return Layout(std::move(spec));
}

Layout Layout::with_dtype(Dtype dtype) const {
  LayoutSpec spec = spec_;
  spec.dtype = dtype;
  return Layout(std::move(spec));
}

Layout Layout::transposed(std::span<const int> order) const {
  std::vector<int> sorted(order.begin(), order.end()), all(shape_.size());
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    fail(Code::invalid_argument, "{}: transpose({}) must name each of the {} dimensions once", text(),
         fmt::join(order, ","), shape_.size());
  check_plain(*this, "its transpose");
  // Old stored dimension behind each new one; dropped dimensions stay where they are.
  std::vector<int> from(spec_.shape.size());
  std::iota(from.begin(), from.end(), 0);
  for (std::size_t dim = 0; dim < order.size(); ++dim) from[stored_dims_[dim]] = stored_dims_[order[dim]];
  std::vector<int> to(from.size());
  for (std::size_t dim = 0; dim < from.size(); ++dim) to[from[dim]] = static_cast<int>(dim);

  LayoutSpec spec = spec_;
  for (std::size_t dim = 0; dim < from.size(); ++dim) {
    spec.shape[dim] = spec_.shape[from[dim]];
    spec.cuts[dim] = spec_.cuts[from[dim]];
    if (is_view()) spec.view[dim] = spec_.view[from[dim]];
    if (!spec_.storage.strides.empty()) spec.storage.strides[dim] = spec_.storage.strides[from[dim]];
  }
  if (spec_.storage.strides.empty()) {
    spec.storage.order.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k)
      spec.storage.order[k] = to[spec_.storage.order.empty() ? static_cast<int>(k) : spec_.storage.order[k]];
  }
  return Layout(std::move(spec));
}

bool operator==(const Layout& a, const Layout& b) {
  const LayoutSpec &x = a.spec_, &y = b.spec_;
  return x.dtype == y.dtype && x.shape == y.shape && x.mesh == y.mesh && x.cuts == y.cuts && x.kinds == y.kinds &&
         x.view == y.view && x.storage == y.storage;
}

bool same_ownership(const Layout& a, const Layout& b) {
  if (a.shape() != b.shape()) return false;
  const auto first_holds_as_second = [](const Layout& first, const Layout& second) {
    for (Index ordinal = 0; ordinal < first.mesh().size(); ++ordinal) {
      const RankId rank = first.mesh().rank_at_ordinal(ordinal);
      const Region mine = first.region(rank), other = second.region(rank);
      if (mine.elements() != other.elements()) return false;
      if (mine.elements() == 0) continue;
      for (std::size_t dim = 0; dim < mine.dims.size(); ++dim) {
        const auto elements = [](const Segments& s) { return length_of(s); };
        if (elements(intersect(mine.dims[dim], other.dims[dim])) != elements(mine.dims[dim])) return false;
      }
    }
    return true;
  };
  return first_holds_as_second(a, b) && first_holds_as_second(b, a);
}

}  // namespace reshard
