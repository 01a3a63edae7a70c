#include "plan/megatron_choice.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"

namespace reshard {
namespace {

constexpr Index kGreatestBucketList = Index{1} << 26;  // buckets that are listed one by one

// What one step along an axis of a regular mesh adds to the rank.
Index stride_of(const Mesh& mesh, int axis) {
  Coordinate coordinate(mesh.axes().size(), 0);
  const RankId begin = mesh.rank_at(coordinate);
  coordinate[static_cast<std::size_t>(axis)] = 1;
  return mesh.rank_at(coordinate).value() - begin.value();
}

}  // namespace

MegatronChoice::MegatronChoice(const Layout& source) : source_(source) {
  const auto& axes = source.mesh().axes();
  const auto& kinds = source.spec().kinds;
  bool found = false;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool selected = kinds[axis].kind == AxisKind::Kind::at;
    first_.push_back(selected ? kinds[axis].at : 0);
    if (selected || axes[axis].size == 1) continue;
    if (!found && kinds[axis].kind == AxisKind::Kind::replicate) {
      data_parallel_ = static_cast<int>(axis);
      found = true;
    } else {
      others_.push_back(static_cast<int>(axis));
      buckets_ *= axes[axis].size;
    }
  }
  if (!in_closed_form()) list();
}

// Whether each axis steps over all that the faster ones reach, so that ranks ascend with coordinates.
bool MegatronChoice::in_closed_form() {
  const Mesh& mesh = source_.mesh();
  if (!mesh.is_regular()) return false;
  std::ranges::stable_sort(others_, std::greater{}, [&](int axis) { return stride_of(mesh, axis); });
  Index reach = 0;
  for (auto axis = others_.rbegin(); axis != others_.rend(); ++axis) {
    const Index stride = stride_of(mesh, *axis);
    if (stride <= reach) return false;
    reach += stride * (mesh.axes()[static_cast<std::size_t>(*axis)].size - 1);
  }
  return true;
}

void MegatronChoice::list() {
  const Mesh& mesh = source_.mesh();
  if (buckets_ > kGreatestBucketList)
    fail(Code::unsupported, "{}: {} data-parallel groups in no regular order are more than {}", source_.text(),
         buckets_, kGreatestBucketList);
  const Index entries = mesh.axes()[static_cast<std::size_t>(data_parallel_)].size;
  std::vector<std::pair<RankId, Coordinate>> ascending;
  for (Index k = 0; k < buckets_; ++k) {
    Coordinate coordinate = bucket(k);
    RankId least(std::numeric_limits<Index>::max());
    for (Index entry = 0; entry < entries; ++entry) {
      coordinate[static_cast<std::size_t>(data_parallel_)] = entry;
      least = std::min(least, mesh.rank_at(coordinate));
    }
    coordinate[static_cast<std::size_t>(data_parallel_)] = 0;
    ascending.emplace_back(least, std::move(coordinate));
  }
  std::ranges::sort(ascending);
  listed_ = std::move(ascending);
}

Coordinate MegatronChoice::bucket(Index at) const {
  if (!listed_.empty()) return listed_[static_cast<std::size_t>(at)].second;
  Coordinate coordinate = first_;
  for (auto axis = others_.rbegin(); axis != others_.rend(); ++axis) {
    const Index size = source_.mesh().axes()[static_cast<std::size_t>(*axis)].size;
    coordinate[static_cast<std::size_t>(*axis)] = at % size;
    at /= size;
  }
  return coordinate;
}

bool MegatronChoice::is_candidate(const Coordinate& coordinate) const {
  const auto& kinds = source_.spec().kinds;
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
    if (kinds[axis].kind == AxisKind::Kind::at && kinds[axis].at != coordinate[axis]) return false;
  return true;
}

Coordinate MegatronChoice::candidate(RankId target) const {
  const Mesh& mesh = source_.mesh();
  if (const auto own = mesh.coordinate_of(target); own && is_candidate(*own)) return *own;
  Coordinate coordinate = bucket(target.value() % buckets_);
  const Index entries = mesh.axes()[static_cast<std::size_t>(data_parallel_)].size;
  std::vector<std::pair<RankId, Index>> ascending;
  for (Index entry = 0; entry < entries; ++entry) {
    coordinate[static_cast<std::size_t>(data_parallel_)] = entry;
    ascending.emplace_back(mesh.rank_at(coordinate), entry);
  }
  const Index entry = buckets_ == 1 ? 0 : target.value() / buckets_ % entries;
  std::ranges::nth_element(ascending, ascending.begin() + entry);
  coordinate[static_cast<std::size_t>(data_parallel_)] = ascending[static_cast<std::size_t>(entry)].second;
  return coordinate;
}

}  // namespace reshard
