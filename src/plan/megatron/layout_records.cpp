// A layout as Megatron's records, where Megatron has the words for it.
#include <algorithm>
#include <map>

#include "base/fail.h"
#include "layout/locate.h"
#include "plan/copies.h"
#include "plan/megatron/shard_form.h"

namespace reshard::megatron {
namespace {

class Recorder {
 public:
  Recorder(const Layout& layout, std::string_view name) : layout_(layout), spec_(layout.spec()), name_(name) {}

  std::vector<Parameter> records() {
    read_spec();
    std::vector<Parameter> records;
    for (Index place = 0; place < layout_.mesh().size(); ++place) {
      const RankId rank = layout_.mesh().rank_at_ordinal(place);
      if (layout_.region(rank).held) records.push_back(record(rank));
    }
    std::ranges::sort(records, {}, &Parameter::owner);
    return records;
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(Code::unsupported, "{}: Megatron's metadata cannot say this: {}", layout_.text(),
         fmt::format(format, std::forward<Args>(args)...));
  }

  void read_spec() {
    if (layout_.has_partial()) refuse("a pending reduction");
    if (layout_.is_view()) refuse("a view of a larger tensor");
    if (!(spec_.storage == StorageOrder{})) refuse("shards that are not stored row by row");
    for (int dim = 0; dim < static_cast<int>(spec_.cuts.size()); ++dim) {
      const std::vector<Cut>& cuts = spec_.cuts[static_cast<std::size_t>(dim)];
      std::size_t next = 0;
      if (next < cuts.size() && cuts[next].rule != Rule::window) set_tp(dim, cuts[next++]);
      if (next < cuts.size()) set_gtp(dim, cuts[next++]);
      if (next < cuts.size())
        refuse("{} cuts of dimension {}; there can be one by TP and one by GTP", cuts.size(), dim);
    }
  }

  void set_tp(int dim, const Cut& cut) {
    if (tp_ != nullptr) refuse("dimensions {} and {} both cut; partition_dim is one", form_.partition_dim, dim);
    tp_ = &cut;
    form_.is_tp = true;
    form_.partition_dim = dim;
    const Index parts = cut_width(layout_.mesh(), cut), length = spec_.shape[static_cast<std::size_t>(dim)];
    switch (cut.pieces) {
      case Pieces::whole: check_even(cut, parts, length); break;
      case Pieces::strided:
        check_even(cut, parts, length / cut.piece_count);
        form_.partition_stride = cut.piece_count;
        break;
      case Pieces::packed:
        for (const Index size : cut.piece_sizes) check_even(cut, parts, size * parts);
        form_.partition_sizes = cut.piece_sizes;
        break;
      case Pieces::parts:
        for (const Index size : cut.piece_sizes) {
          check_even(cut, parts, size);
          form_.partition_sizes.push_back(size / parts);
        }
        break;
      case Pieces::strided_shard: refuse("the strided shard of DTensor on dimension {}", dim);
    }
  }

  void set_gtp(int dim, const Cut& cut) {
    if (dim != 0) refuse("dimension {} cut twice; GTP cuts dimension 0", dim);
    if (cut.pieces != Pieces::whole) refuse("GTP's window is of the axis as stored, without pieces");
    gtp_ = &cut;
    form_.is_gtp = true;
    if (cut.rule == Rule::window) {
      form_.gtp_pad = cut.block;
      return;
    }
    const Index left = tp_ == nullptr ? spec_.shape[0] : spec_.shape[0] / cut_width(layout_.mesh(), *tp_);
    check_even(cut, cut_width(layout_.mesh(), cut), left);
  }

  // Equal contiguous parts, whatever the rule would do with a remainder.
  void check_even(const Cut& cut, Index parts, Index length) const {
    const bool contiguous = cut.rule != Rule::cyclic && cut.rule != Rule::window;
    const bool equal = cut.rule == Rule::sizes
                           ? std::ranges::adjacent_find(cut.sizes, std::not_equal_to{}) == cut.sizes.end()
                           : length % parts == 0 && length / parts % cut.unit == 0 && cut.piece_units.empty();
    if (!contiguous || !equal) refuse("{} elements in {} parts that are not equal and contiguous", length, parts);
  }

  Parameter record(RankId rank) {
    Parameter out = form_;
    out.name = out.resolved_name = name_;
    out.owner = rank;
    out.dtype = layout_.dtype();
    out.shape = layout_.storage(rank).extents;
    const Coordinate at = *layout_.mesh().coordinate_of(rank);
    if (tp_ != nullptr) out.tp_group = group(at, tp_->axes);
    if (gtp_ != nullptr) out.gtp_group = group(at, gtp_->axes);
    out.dp_group = group(at, free_axes(layout_));
    return out;
  }

  RankGroup group(Coordinate at, const std::vector<int>& axes) {
    set_axes(layout_.mesh(), axes, 0, at);
    RankGroup& known = groups_[{axes, at}];
    if (known.given()) return known;
    std::vector<RankId> ranks;
    for (Index k = 0; k < width_of(layout_.mesh(), axes); ++k) {
      set_axes(layout_.mesh(), axes, k, at);
      ranks.push_back(layout_.mesh().rank_at(at));
    }
    return known = RankGroup(std::move(ranks));
  }

  const Layout& layout_;
  const LayoutSpec& spec_;
  std::string name_;
  Parameter form_;  // what all records share
  const Cut* tp_ = nullptr;
  const Cut* gtp_ = nullptr;
  std::map<std::pair<std::vector<int>, Coordinate>, RankGroup> groups_;
};

}  // namespace

std::vector<Parameter> parameters_of(const Layout& layout, std::string_view name) {
  return Recorder(layout, name).records();
}

}  // namespace reshard::megatron
