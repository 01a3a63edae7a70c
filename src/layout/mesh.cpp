#include "reshard/mesh.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

// A mesh without a regular form keeps every rank, 24 bytes each; past this many it is a mistake rather than a mesh.
constexpr Index kGreatestList = Index{1} << 22;
// Leaves room for sums of two coordinates.
constexpr Index kGreatestMesh = Index{1} << 62;

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<Index> row_major_strides(const std::vector<Axis>& axes) {
  std::vector<Index> strides(axes.size());
  Index stride = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= axes[k].size;
  }
  return strides;
}

// Axes by falling |stride| if the digits of a rank can be read off one after another; nothing otherwise. Strides as
// they come from a list may reach past 64 bits: they have no digits either.
std::optional<std::vector<int>> digits(const std::vector<Axis>& axes, const std::vector<Index>& strides) {
  std::vector<int> order;
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (axes[k].size > 1) order.push_back(static_cast<int>(k));
  std::ranges::stable_sort(order, std::greater{}, [&](int k) { return std::abs(strides[k]); });
  Index reach = 0;  // of all faster digits together
  for (std::size_t j = order.size(); j-- > 0;) {
    const Index stride = std::abs(strides[order[j]]);
    if (stride <= reach) return std::nullopt;
    Index along = 0;
    if (__builtin_mul_overflow(stride, axes[order[j]].size - 1, &along) || __builtin_add_overflow(reach, along, &reach))
      return std::nullopt;
  }
  return order;
}

}  // namespace

Mesh::Mesh(std::string name, std::vector<Axis> axes, std::vector<AxisGroup> groups)
    : name_(std::move(name)), axes_(std::move(axes)), groups_(std::move(groups)) {
  if (!name_.empty() && !is_name(name_)) fail(Code::invalid_argument, "mesh name \"{}\" is not a name", name_);
  std::set<std::string_view> seen;
  const auto check_name = [&](std::string_view axis) {
    if (!is_name(axis)) fail(Code::invalid_argument, "mesh \"{}\": \"{}\" is not a name for an axis", name_, axis);
    if (!seen.insert(axis).second)
      fail(Code::invalid_argument, "mesh \"{}\": axis \"{}\" is named twice; give each axis a name of its own", name_,
           axis);
  };
  for (const Axis& axis : axes_) {
    check_name(axis.name);
    if (axis.size < 1)
      fail(Code::invalid_argument, "mesh \"{}\": axis \"{}\" has size {}; a mesh axis has at least 1 rank", name_,
           axis.name, axis.size);
    size_ = checked_mul(size_, axis.size, "ranks of mesh");
    if (size_ > kGreatestMesh) fail(Code::invalid_argument, "mesh \"{}\" has more than 2^62 ranks", name_);
  }
  int free_from = 0;
  for (const AxisGroup& group : groups_) {
    check_name(group.name);
    if (group.leaves.first < free_from || group.leaves.count < 1 ||
        group.leaves.first + group.leaves.count > static_cast<int>(axes_.size()))
      fail(Code::invalid_argument, "mesh \"{}\": axis \"{}\" must name consecutive axes that no other name covers",
           name_, group.name);
    free_from = group.leaves.first + group.leaves.count;
  }
}

Mesh::Mesh(std::string name, std::vector<Axis> axes, RankId base, std::vector<AxisGroup> groups)
    : Mesh(std::move(name), std::move(axes), std::move(groups)) {
  strides_ = row_major_strides(axes_);
  if (base.value() < 0) fail(Code::invalid_argument, "mesh \"{}\": rank {} is negative", name_, base.value());
  checked_add(base.value(), size_, "ranks of mesh");
  base_ = base;
  by_stride_ = *digits(axes_, strides_);
}

Mesh Mesh::strided(std::string name, std::vector<Axis> axes, RankId base, std::vector<Index> strides,
                   std::vector<AxisGroup> groups) {
  Mesh mesh(std::move(name), std::move(axes), std::move(groups));
  if (strides.size() != mesh.axes_.size())
    fail(Code::invalid_argument, "mesh \"{}\": {} strides for {} axes", mesh.name_, strides.size(), mesh.axes_.size());
  const std::vector<Index> plain = row_major_strides(mesh.axes_);
  Index least = base.value(), greatest = base.value();
  for (std::size_t k = 0; k < strides.size(); ++k) {
    if (mesh.axes_[k].size == 1) strides[k] = plain[k];  // has no effect: one form for equal meshes
    const Index reach = checked_mul(strides[k], mesh.axes_[k].size - 1, "ranks of mesh");
    Index& end = reach < 0 ? least : greatest;
    end = checked_add(end, reach, "ranks of mesh");
  }
  if (least < 0) fail(Code::invalid_argument, "mesh \"{}\": rank {} is negative", mesh.name_, least);
  checked_add(greatest, 1, "ranks of mesh");
  mesh.base_ = base;
  if (auto order = digits(mesh.axes_, strides)) {
    mesh.strides_ = std::move(strides);
    mesh.by_stride_ = std::move(*order);
    return mesh;
  }
  if (mesh.size_ > kGreatestList || greatest - least < mesh.size_ - 1)
    fail(Code::invalid_argument, "mesh \"{}\": strides of {} ranks overlap; give each rank one coordinate", mesh.name_,
         mesh.size_);
  mesh.strides_ = strides;
  std::vector<RankId> ranks;
  ranks.reserve(static_cast<std::size_t>(mesh.size_));
  for (Index ordinal = 0; ordinal < mesh.size_; ++ordinal) ranks.push_back(mesh.rank_at_ordinal(ordinal));
  return listed(mesh.name_, mesh.axes_, std::move(ranks), mesh.groups_);
}

Mesh Mesh::listed(std::string name, std::vector<Axis> axes, std::vector<RankId> ranks, std::vector<AxisGroup> groups) {
  Mesh mesh(std::move(name), std::move(axes), std::move(groups));
  if (static_cast<Index>(ranks.size()) != mesh.size_)
    fail(Code::invalid_argument, "mesh \"{}\": {} ranks listed for a mesh of {}", mesh.name_, ranks.size(), mesh.size_);
  auto list = std::make_shared<List>();
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k].value() < 0 || ranks[k].value() == INT64_MAX)
      fail(Code::invalid_argument, "mesh \"{}\": rank {} is out of range", mesh.name_, ranks[k].value());
    list->by_rank.emplace_back(ranks[k], static_cast<Index>(k));
  }
  std::ranges::sort(list->by_rank);
  const auto twice = std::ranges::adjacent_find(list->by_rank, {}, [](const auto& entry) { return entry.first; });
  if (twice != list->by_rank.end())
    fail(Code::invalid_argument, "mesh \"{}\": rank {} is listed twice; each rank has one coordinate", mesh.name_,
         twice->first.value());

  mesh.base_ = ranks.front();
  std::vector<Index> strides = row_major_strides(mesh.axes_);
  for (std::size_t k = 0; k < strides.size(); ++k)
    if (mesh.axes_[k].size > 1) strides[k] = ranks[static_cast<std::size_t>(strides[k])] - mesh.base_;
  mesh.strides_ = strides;
  const auto order = digits(mesh.axes_, strides);
  bool regular = order.has_value();
  // Wraps where the strides do not fit the list, and then differs from it.
  const auto regular_rank = [&](Index ordinal) {
    const Coordinate coordinate = mesh.coordinate_at(ordinal);
    std::uint64_t rank = static_cast<std::uint64_t>(mesh.base_.value());
    for (std::size_t k = 0; k < strides.size(); ++k)
      rank += static_cast<std::uint64_t>(coordinate[k]) * static_cast<std::uint64_t>(strides[k]);
    return RankId(static_cast<Index>(rank));
  };
  for (Index ordinal = 0; regular && ordinal < mesh.size_; ++ordinal)
    regular = regular_rank(ordinal) == ranks[static_cast<std::size_t>(ordinal)];
  if (regular) {
    mesh.by_stride_ = *order;
    return mesh;
  }
  mesh.strides_.clear();
  list->by_ordinal = std::move(ranks);
  mesh.list_ = std::move(list);
  return mesh;
}

std::optional<AxisRange> Mesh::find(std::string_view axis) const {
  for (std::size_t k = 0; k < axes_.size(); ++k)
    if (axes_[k].name == axis) return AxisRange{static_cast<int>(k), 1};
  for (const AxisGroup& group : groups_)
    if (group.name == axis) return group.leaves;
  return std::nullopt;
}

RankId Mesh::rank_at(std::span<const Index> coordinate) const {
  if (list_) {
    Index ordinal = 0;
    for (std::size_t k = 0; k < axes_.size(); ++k) ordinal = ordinal * axes_[k].size + coordinate[k];
    return list_->by_ordinal[static_cast<std::size_t>(ordinal)];
  }
  RankId rank = base_;
  for (std::size_t k = 0; k < axes_.size(); ++k) rank += coordinate[k] * strides_[k];
  return rank;
}

std::optional<Coordinate> Mesh::coordinate_of(RankId rank) const {
  if (list_) {
    const auto found =
        std::ranges::lower_bound(list_->by_rank, rank, {}, [](const auto& entry) { return entry.first; });
    if (found == list_->by_rank.end() || found->first != rank) return std::nullopt;
    return coordinate_at(found->second);
  }
  if (rank.value() < 0) return std::nullopt;
  Coordinate coordinate(axes_.size(), 0);
  Index rest = rank - base_;
  for (const int k : by_stride_)  // count falling axes from their other end, so that all digits are non-negative
    if (strides_[k] < 0) rest -= strides_[k] * (axes_[k].size - 1);
  if (rest < 0) return std::nullopt;
  for (const int k : by_stride_) {
    const Index stride = std::abs(strides_[k]);
    const Index digit = rest / stride;
    if (digit >= axes_[k].size) return std::nullopt;
    coordinate[k] = strides_[k] < 0 ? axes_[k].size - 1 - digit : digit;
    rest -= digit * stride;
  }
  if (rest != 0) return std::nullopt;
  return coordinate;
}

bool Mesh::contains(RankId rank) const { return coordinate_of(rank).has_value(); }

Index Mesh::ordinal_at(std::span<const Index> coordinate) const {
  Index ordinal = 0;
  for (std::size_t k = 0; k < axes_.size(); ++k) ordinal = ordinal * axes_[k].size + coordinate[k];
  return ordinal;
}

std::optional<Index> Mesh::ordinal_of(RankId rank) const {
  const auto coordinate = coordinate_of(rank);
  if (!coordinate) return std::nullopt;
  return ordinal_at(*coordinate);
}

Coordinate Mesh::coordinate_at(Index ordinal) const {
  Coordinate coordinate(axes_.size());
  for (std::size_t k = axes_.size(); k-- > 0;) {
    coordinate[k] = ordinal % axes_[k].size;
    ordinal /= axes_[k].size;
  }
  return coordinate;
}

RankId Mesh::first_rank() const {
  if (list_) return list_->by_rank.front().first;
  RankId first = base_;
  for (std::size_t k = 0; k < axes_.size(); ++k) first += std::min<Index>(0, strides_[k] * (axes_[k].size - 1));
  return first;
}

RankId Mesh::end_rank() const {
  if (list_) return list_->by_rank.back().first + 1;
  RankId end = base_ + 1;
  for (std::size_t k = 0; k < axes_.size(); ++k) end += std::max<Index>(0, strides_[k] * (axes_[k].size - 1));
  return end;
}

Mesh Mesh::renamed(std::string name) const {
  if (!name.empty() && !is_name(name)) fail(Code::invalid_argument, "mesh name \"{}\" is not a name", name);
  Mesh copy = *this;
  copy.name_ = std::move(name);
  return copy;
}

bool operator==(const Mesh& a, const Mesh& b) {
  if (a.name_ != b.name_ || a.axes_ != b.axes_ || a.groups_ != b.groups_) return false;
  if (a.list_ || b.list_)
    return a.list_ && b.list_ && (a.list_ == b.list_ || a.list_->by_ordinal == b.list_->by_ordinal);
  return a.base_ == b.base_ && a.strides_ == b.strides_;
}

}  // namespace reshard
