// What a batch costs on all ranks, added up by class.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/checked.h"
#include "plan/copies.h"
#include "plan/lower_bound.h"
#include "plan/packing.h"
#include "reshard/batch_plan.h"

namespace reshard {
namespace {

constexpr std::string_view kAllTensors = "bytes of all tensors and ranks";

// What goes from one rank to another.
struct Pair {
  Index bytes = 0;
  Index direct = 0;  // messages that are not packed
  PackedMessages packed = {};
};

struct Sums {
  RankBytes bytes = {};
  bool holds = false, wants = false;
  Index staged_in = 0;                                    // the largest message
  std::array<Index, Packing::slots_out> staged_out = {};  // in each slot
  Index staged() const { return staged_in + staged_out[0] + staged_out[1]; }
};

// Calls visit(coordinate) for one coordinate of each shard: that with all free axes at 0.
template <class Visit>
void each_shard(const Layout& layout, const std::vector<int>& free, Visit&& visit) {
  for (Index ordinal = 0; ordinal < layout.mesh().size(); ++ordinal) {
    const Coordinate coordinate = layout.mesh().coordinate_at(ordinal);
    if (std::ranges::all_of(free, [&](int axis) { return coordinate[static_cast<std::size_t>(axis)] == 0; }))
      visit(coordinate);
  }
}

std::vector<RankId> ranks_of_shard(const Layout& layout, const std::vector<int>& free, Coordinate coordinate) {
  std::vector<RankId> ranks;
  for (Index copy = 0; copy < width_of(layout.mesh(), free); ++copy) {
    set_axes(layout.mesh(), free, copy, coordinate);
    ranks.push_back(layout.mesh().rank_at(coordinate));
  }
  return ranks;
}

// The copies of each source shard, for each of several turns.
class Senders {
 public:
  Senders(const Layout& source, const Layout& target, std::vector<PlanOptions> turns)
      : source_(source), target_(target), turns_(std::move(turns)) {}

  const std::vector<std::unique_ptr<Copies>>& of(const Coordinate& shard) {
    std::vector<std::unique_ptr<Copies>>& copies = copies_[shard];
    if (copies.empty())
      for (const PlanOptions& options : turns_)
        copies.push_back(std::make_unique<Copies>(source_, target_, options, shard));
    return copies;
  }

 private:
  const Layout& source_;
  const Layout& target_;
  std::vector<PlanOptions> turns_;
  std::map<Coordinate, std::vector<std::unique_ptr<Copies>>> copies_;
};

class Adder {
 public:
  explicit Adder(const BatchPlan& plan)
      : plan_(plan), packing_(plan.options().plan.staging_limit, plan.options().pack_below) {}

  // Classes that differ in their turn only: the same parts go to the same ranks, from other copies.
  void add(std::span<const BatchClass> classes);
  BatchCertificate certificate() &&;

 private:
  using Row = std::unordered_map<RankId, Pair>;
  static Index sum(Index a, Index b) { return checked_add(a, b, kAllTensors); }
  static Index product(Index a, Index b) { return checked_mul(a, b, kAllTensors); }

  void add_needs(const Layout& source, const Layout& target, Index count);
  void add_transfer(RankId from, RankId to, Sums& target, Row& row, Index bytes, Index alignment, Index count);

  const BatchPlan& plan_;
  Packing packing_;
  std::unordered_map<RankId, Sums> ranks_;
  std::unordered_map<RankId, Row> pairs_;  // by target, by source
  Index transfers_ = 0;
};

void Adder::add(std::span<const BatchClass> classes) {
  const Layout &source = plan_.source(classes.front()), &target = plan_.target(classes.front());
  Index all = 0;
  std::vector<PlanOptions> turns;
  for (const BatchClass& c : classes) {
    turns.push_back(plan_.options(c));
    all += c.count;
  }
  add_needs(source, target, all);
  Senders senders(source, target, std::move(turns));
  const std::vector<int> free = free_axes(target);
  const Index bytes_each = bytes_of(source.dtype());
  each_shard(target, free, [&](const Coordinate& coordinate) {
    const Region region = target.region_at(coordinate);
    if (!region.held) return;
    const Shares shares(source, region.dims);
    const std::vector<RankId> receivers = ranks_of_shard(target, free, coordinate);
    for (Index copy = 0; copy < std::ssize(receivers) && !shares.empty(); ++copy) {
      const RankId to = receivers[static_cast<std::size_t>(copy)];
      const auto own = source.mesh().coordinate_of(to);
      const Index own_shard = own ? shares.find(*own) : -1;
      Sums& sums = ranks_[to];
      Row& row = pairs_[to];
      for (Index k = 0; k < shares.count(); ++k) {
        const Index bytes = product(shares.elements(k), bytes_each);
        if (k == own_shard) {
          sums.bytes.copied = sum(sums.bytes.copied, product(bytes, all));
          continue;
        }
        const auto& copies = senders.of(shares.coordinate(k));
        const Index part = copies.front()->parts().find(coordinate);
        for (std::size_t turn = 0; turn < classes.size(); ++turn)
          add_transfer(copies[turn]->sender(to, part, copy), to, sums, row, bytes, bytes_each, classes[turn].count);
      }
    }
  });
}

// What `count` tensors with these layouts must move, from what ranks hold and want alone.
void Adder::add_needs(const Layout& source, const Layout& target, Index count) {
  const std::vector<int> source_free = free_axes(source), target_free = free_axes(target);
  each_shard(source, source_free, [&](const Coordinate& coordinate) {
    const bool holds = source.region_at(coordinate).elements() > 0;
    for (const RankId rank : ranks_of_shard(source, source_free, coordinate)) ranks_[rank].holds |= holds;
  });
  const bool apart =
      source.mesh().end_rank() <= target.mesh().first_rank() || target.mesh().end_rank() <= source.mesh().first_rank();
  each_shard(target, target_free, [&](const Coordinate& coordinate) {
    const Region wanted = target.region_at(coordinate);
    for (const RankId rank : ranks_of_shard(target, target_free, coordinate)) {
      const Index missing = apart ? wanted.elements() : elements_missing(source.region(rank), wanted);
      Sums& sums = ranks_[rank];
      sums.wants |= wanted.elements() > 0;
      sums.bytes.needed = sum(sums.bytes.needed, product(missing * bytes_of(source.dtype()), count));
    }
  });
}

void Adder::add_transfer(RankId from, RankId to, Sums& target, Row& row, Index bytes, Index alignment, Index count) {
  const Index all = product(bytes, count);
  Sums& source = ranks_[from];
  source.bytes.sent = sum(source.bytes.sent, all);
  target.bytes.received = sum(target.bytes.received, all);
  transfers_ += count;
  Pair& pair = row[from];
  pair.bytes += all;
  if (!packing_.packs(bytes)) {
    pair.direct += count;
    return;
  }
  pair.packed.add(packing_, bytes, alignment, count, [&](Index message, Index used) {
    Index& staged = source.staged_out[static_cast<std::size_t>(Packing::slot_out(from, to, message))];
    staged = std::max(staged, used);
    target.staged_in = std::max(target.staged_in, used);
  });
}

double imbalance(Index greatest, Index total, Index ranks) {
  return total == 0 ? 1 : static_cast<double>(greatest) * static_cast<double>(ranks) / static_cast<double>(total);
}

BatchCertificate Adder::certificate() && {
  BatchCertificate certificate;
  certificate.transfers = transfers_;
  Certificate& totals = certificate.totals;
  for (const auto& [target, senders] : pairs_)
    for (const auto& [source, pair] : senders) {
      certificate.pairs.push_back({source, target, pair.bytes});
      totals.messages += pair.direct + pair.packed.messages;
      ++ranks_[source].bytes.messages_out;
      ++ranks_[target].bytes.messages_in;
    }
  std::ranges::sort(certificate.pairs, {}, [](const RankMessage& m) { return std::pair(m.target, m.source); });
  Index holders = 0, wanters = 0, most_sent = 0, most_received = 0;
  for (auto& [rank, sums] : ranks_) {
    sums.bytes.rank = rank;
    totals.ranks.push_back(sums.bytes);
    totals.sent = sum(totals.sent, sums.bytes.sent);
    totals.needed = sum(totals.needed, sums.bytes.needed);
    totals.copied = sum(totals.copied, sums.bytes.copied);
    totals.peak_staging = std::max(totals.peak_staging, sums.staged());
    holders += sums.holds;
    wanters += sums.wants;
    most_sent = std::max(most_sent, sums.bytes.sent);
    most_received = std::max(most_received, sums.bytes.received);
  }
  std::ranges::sort(totals.ranks, {}, &RankBytes::rank);
  totals.imbalance_out = imbalance(most_sent, totals.sent, holders);
  totals.imbalance_in = imbalance(most_received, totals.sent, wanters);
  return certificate;
}

}  // namespace

BatchCertificate BatchPlan::certificate() const {
  Adder adder(*this);
  for (auto c = classes_.begin(); c != classes_.end();) {
    const auto end = std::find_if(c, classes_.end(), [&](const BatchClass& other) {
      return other.source != c->source || other.target != c->target;
    });
    adder.add({c, end});
    c = end;
  }
  return std::move(adder).certificate();
}

}  // namespace reshard
