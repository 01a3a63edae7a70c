// Which of the equal copies of one source shard serves which receiver.
//
// All ranks that hold the same source shard are its copies; all target ranks that need a part of it are its receivers.
// Every rank belongs to exactly one shard, so the choice is made shard by shard, and whoever asks derives the same
// answer from the two layouts alone. Cost: the target shards that overlap the source shard, counted dimension by
// dimension, and the ranks set apart: copies, or ranks on their hosts or in their racks. The policy `optimal` lists all
// receivers and copies, `modulo` all copies.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "layout/locate.h"
#include "plan/megatron_choice.h"
#include "plan/wide.h"
#include "reshard/plan.h"

namespace reshard {

// Mesh axes that cut nothing and select nothing: ranks that differ only in these hold the same.
std::vector<int> free_axes(const Layout& layout);
Index width_of(const Mesh& mesh, std::span<const int> axes);
// Sets `axes` of the coordinate to the index `at`, first axis slowest.
void set_axes(const Mesh& mesh, std::span<const int> axes, Index at, std::span<Index> coordinate);

// What holds given elements of a layout: the product over stored dimensions of the shares along each.
class Shares {
 public:
  // `wanted`: per logical dimension, segments whose global indices are those of the layout's view. Nothing is wanted if
  // any dimension is empty.
  Shares(const Layout& layout, const std::vector<Segments>& wanted);

  bool empty() const { return count_ == 0; }
  // Number of shards, and what shard k (row-major over the dimensions) is.
  Index count() const { return count_; }
  // Coordinate of shard k with every free axis at 0.
  Coordinate coordinate(Index k) const;
  // Overlaps per logical dimension.
  std::vector<const Share*> along(Index k) const;
  Index elements(Index k) const;
  // Elements of all shards before k, and of all together.
  Index elements_before(Index k) const;
  Index elements() const;
  // The shard at a coordinate; -1 if it holds nothing of what is wanted.
  Index find(std::span<const Index> coordinate) const;

 private:
  const Layout& layout_;
  std::vector<std::vector<Share>> dims_;  // per stored dimension
  std::vector<std::vector<Index>> ends_;  // elements of each share and those before it
  Index count_ = 1;
};

// The copies of one source shard and its receivers.
class Copies {
 public:
  // `coordinate` is any coordinate of the source mesh that holds the shard. Throws Error(invalid_argument) for racks
  // that cut hosts, Error(unsupported) where a policy would list too much.
  Copies(const Layout& source, const Layout& target, const PlanOptions& options, Coordinate coordinate);

  // The copy that sends to `receiver`, a rank that needs a part of the shard. `part` and `copy` say which target shard
  // of parts() the receiver holds and which of its equals it is.
  RankId sender(RankId receiver, Index part, Index copy) const;
  // Target shards that overlap this source shard.
  const Shares& parts() const { return parts_; }
  // Receivers with the same target shard.
  Index receivers_per_part() const { return target_width_; }
  RankId receiver(Index part, Index copy) const;

 private:
  // A receiver's elements begin after `before` others when all receivers lie end to end, part by part.
  struct Receiver {
    Wide before = 0;
    Index elements = 0;
  };
  struct Receivers {
    std::vector<Receiver> list;  // ascending once sorted
    std::vector<Wide> ends;      // elements up to the end of each
    void add(const Receiver& receiver) { list.push_back(receiver); }
    void sort();
    Wide elements() const { return ends.empty() ? 0 : ends.back(); }
    Wide elements_before(Wide place) const;
  };
  // The copies in one place, a host or a rack, and the receivers they serve there.
  struct Group {
    std::vector<RankId> copies;
    Receivers receivers;
  };
  // All places of one kind that have a copy, by number: ranks [k n, (k+1) n) share place k.
  struct Tier {
    Index ranks = 0;
    std::unordered_map<Index, Group> groups;
    Index place_of(RankId rank) const { return rank.value() / ranks; }
  };
  RankId copy_rank(Index at) const;
  Index turned(Index at) const;  // by the options' rotation
  bool is_copy(RankId rank) const;
  Wide before(Index part, Index copy) const;
  std::optional<Receiver> receiver_at(RankId rank) const;
  void check_listed() const;
  void set_apart();
  void set_apart_near(const Tier& widest);
  void set_apart_if_served(RankId rank, const Receiver& receiver);
  void deal_whole();

  const Layout& source_;
  const Layout& target_;
  const PlanOptions& options_;
  Coordinate coordinate_;
  std::vector<int> source_free_;
  std::vector<int> target_free_;
  Index width_ = 1;         // number of copies
  Index target_width_ = 1;  // receivers of each part
  Shares parts_;
  std::vector<RankId> by_rank_;             // modulo: copies in ascending order
  std::optional<MegatronChoice> megatron_;  // megatron
  std::vector<RankId> dealt_;               // optimal: who serves each copy of part 0, of part 1, ..
  std::vector<Tier> tiers_;                 // local: hosts, then racks, as far as known
  Receivers apart_;                         // local, balanced: not dealt to all copies
};

}  // namespace reshard
