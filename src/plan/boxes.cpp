#include "reshard/boxes.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/box_cover.h"

namespace reshard {
namespace {

constexpr Index kMostBoxes = Index{1} << 22;

Box whole(const std::vector<Index>& shape) { return {std::vector<GlobalIndex>(shape.size()), shape}; }

// Calls visit(box) for the boxes of a region, row-major.
template <class Visit>
void each_box(const Region& region, const Visit& visit) {
  if (region.elements() == 0) return;
  std::vector<std::size_t> at(region.dims.size(), 0);
  for (;;) {
    Box box;
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      box.offsets.push_back(region.dims[dim][at[dim]].global);
      box.sizes.push_back(region.dims[dim][at[dim]].length);
    }
    visit(std::move(box));
    std::size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == region.dims[dim - 1].size()) at[--dim] = 0;
    if (dim == 0) return;
  }
}

Index box_count(const Region& region) {
  Index count = region.elements() > 0 ? 1 : 0;
  for (const Segments& segments : region.dims) count = checked_mul(count, std::ssize(segments), "boxes of a rank");
  return count;
}

void check_alike(const BoxList& source, const BoxList& target) {
  if (source.shape() != target.shape())
    fail(Code::invalid_argument, "source boxes are of a tensor of shape [{}], target boxes of [{}]",
         fmt::join(source.shape(), ","), fmt::join(target.shape(), ","));
  if (source.dtype() != target.dtype())
    fail(Code::invalid_argument, "source boxes are {} and target boxes {}: convert the dtype before or after the move",
         name_of(source.dtype()), name_of(target.dtype()));
}

class BoxPlanner {
 public:
  BoxPlanner(const BoxList& source, const BoxList& target)
      : source_(source), target_(target), cover_(source), turn_(static_cast<std::size_t>(cover_.index().size()), 0) {
    const std::vector<BoxFault> faults = cover_.overlaps(1, plan_.comparisons);
    if (!faults.empty()) fail(Code::invalid_argument, "source boxes: {}", faults.front().message);
  }

  BoxPlan plan() && {
    for (Index k = 0; k < std::ssize(target_.boxes()); ++k) fill(k);
    return std::move(plan_);
  }

 private:
  void fill(Index target) {
    const auto& [rank, box] = target_.boxes()[target];
    Index missing = box.elements();
    if (missing == 0) return;
    for (const Index k : cover_.index().overlapping(box, plan_.comparisons)) {
      Box both = *common(cover_.index().box(k), box);
      const Holder& sender = sender_of(k, rank);
      missing -= both.elements();
      Index& bytes = sender.rank == rank ? plan_.copied : plan_.sent;
      const Index more = checked_mul(both.elements(), bytes_of(source_.dtype()), "bytes of a transfer");
      bytes = checked_add(bytes, more, "bytes of all transfers");
      plan_.transfers.push_back({sender.box, target, std::move(both)});
    }
    if (missing > 0)
      fail(Code::invalid_argument, "target box {} of rank {}, {}, needs {} elements that no source rank holds: {}",
           target, rank.value(), box.text(), missing, cover_.holes(box, 1).front().message);
  }

  const Holder& sender_of(Index box, RankId receiver) {
    const std::vector<Holder>& holders = cover_.holders(box);
    const auto own = std::ranges::lower_bound(holders, receiver, {}, &Holder::rank);
    if (own != holders.end() && own->rank == receiver) return *own;
    return holders[turn_[box]++ % holders.size()];
  }

  const BoxList& source_;
  const BoxList& target_;
  BoxCover cover_;
  std::vector<std::size_t> turn_;  // of the holders of each source box
  BoxPlan plan_;
};

}  // namespace

Index Box::elements() const {
  if (std::ranges::find(sizes, Index{0}) != sizes.end()) return 0;  // whatever the others multiply to
  Index elements = 1;
  for (const Index size : sizes) elements *= size;
  return elements;
}

std::string Box::text() const {
  std::vector<std::string> dims;
  for (std::size_t dim = 0; dim < offsets.size(); ++dim)
    dims.push_back(fmt::format("{}:{}", offsets[dim].value(), (offsets[dim] + sizes[dim]).value()));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

BoxList::BoxList(Dtype dtype, std::vector<Index> shape, std::vector<OwnedBox> boxes)
    : dtype_(dtype), shape_(std::move(shape)), boxes_(std::move(boxes)) {
  for (const Index extent : shape_)
    if (extent < 0)
      fail(Code::invalid_argument, "boxes: the tensor's shape [{}] has a negative extent", fmt::join(shape_, ","));
  elements_ = checked_product(shape_, "elements of a tensor");
  for (std::size_t k = 0; k < boxes_.size(); ++k) {
    const auto& [rank, box] = boxes_[k];
    if (rank.value() < 0) fail(Code::invalid_argument, "box {}: rank {} is negative", k, rank.value());
    if (box.offsets.size() != shape_.size() || box.sizes.size() != shape_.size())
      fail(Code::invalid_argument, "box {} of rank {}: {} offsets and {} sizes for a tensor of {} dimensions", k,
           rank.value(), box.offsets.size(), box.sizes.size(), shape_.size());
    for (std::size_t dim = 0; dim < shape_.size(); ++dim)
      if (box.offsets[dim] < GlobalIndex(0) || box.sizes[dim] < 0 || box.sizes[dim] > shape_[dim] ||
          box.offsets[dim].value() > shape_[dim] - box.sizes[dim])
        fail(Code::invalid_argument, "box {} of rank {}: dimension {} from {} with size {} does not lie in [0, {})", k,
             rank.value(), dim, box.offsets[dim].value(), box.sizes[dim], shape_[dim]);
  }
}

BoxList boxes_of(const Layout& layout) {
  if (layout.has_partial())
    fail(Code::unsupported, "{}: boxes hold values, not pending sums; reduce first", layout.text());
  if (layout.mesh().size() > kMostBoxes)
    fail(Code::unsupported, "{}: {} ranks are too many to list their boxes, at most {}", layout.text(),
         layout.mesh().size(), kMostBoxes);
  std::vector<OwnedBox> boxes;
  for (Index place = 0; place < layout.mesh().size(); ++place) {
    const RankId rank = layout.mesh().rank_at_ordinal(place);
    const Region region = layout.region(rank);
    if (box_count(region) > kMostBoxes - std::ssize(boxes))
      fail(Code::unsupported, "{}: more than {} boxes", layout.text(), kMostBoxes);
    each_box(region, [&](Box box) { boxes.push_back({rank, std::move(box)}); });
  }
  return BoxList(layout.dtype(), layout.shape(), std::move(boxes));
}

std::vector<BoxFault> check_boxes(const BoxList& list, std::size_t most) {
  const BoxCover cover(list);
  Index comparisons = 0, held = 0;
  std::vector<BoxFault> faults = cover.overlaps(most, comparisons);
  if (faults.empty()) {
    for (Index k = 0; k < cover.index().size(); ++k) held += cover.index().box(k).elements();
    if (held == list.elements()) return faults;
  }
  for (BoxFault& hole : cover.holes(whole(list.shape()), most)) faults.push_back(std::move(hole));
  return faults;
}

BoxPlan plan_boxes(const BoxList& source, const BoxList& target) {
  check_alike(source, target);
  return BoxPlanner(source, target).plan();
}

}  // namespace reshard
