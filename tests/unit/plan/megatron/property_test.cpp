// Plans of rosters against an oracle that moves single elements and cuts lists of them: all small cases, then random
// ones. The oracle shares nothing with the planner but the records.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "golden/megatron_records.h"
#include "property/random.h"

namespace reshard::megatron {
namespace {

constexpr Index kPadding = -1;
constexpr Index kPoison = -77;

// How one side cuts a tensor.
struct Side {
  Ranks ranks;  // copy by copy, then window by window, then TP
  Index copies = 1, windows = 1, parts = 1;
  bool is_tp = false, is_gtp = false;
  int dim = 0;
  std::vector<Index> pieces;  // of the whole dimension `dim`, each cut on its own
  bool packed = false;        // say so by sizes
  Index rows = 0;             // stored under GTP
};

// --- the oracle: lists of the global index at each local place ---

using Line = std::vector<Index>;

Line line_of(const Side& side, int dim, Index extent, Index part, Index window) {
  Line line;
  if (side.is_tp && dim == side.dim) {
    Index begin = 0;
    for (const Index piece : side.pieces) {
      const Index share = piece / side.parts;
      for (Index k = 0; k < share; ++k) line.push_back(begin + part * share + k);
      begin += piece;
    }
  } else {
    line.resize(static_cast<std::size_t>(extent));
    std::iota(line.begin(), line.end(), 0);
  }
  if (side.is_gtp && dim == 0) {
    line.resize(static_cast<std::size_t>(side.windows * side.rows), kPadding);
    line = Line(line.begin() + window * side.rows, line.begin() + (window + 1) * side.rows);
  }
  return line;
}

// The global element at every place of a shard, row-major.
std::vector<Index> elements_of(const std::vector<Line>& lines, const std::vector<Index>& shape) {
  std::vector<Index> elements{0};
  for (std::size_t dim = 0; dim < lines.size(); ++dim) {
    std::vector<Index> next;
    for (const Index before : elements)
      for (const Index at : lines[dim])
        next.push_back(before == kPadding || at == kPadding ? kPadding : before * shape[dim] + at);
    elements = std::move(next);
  }
  return elements;
}

// --- records of a side ---

Index rank_at(const Side& side, Index copy, Index window, Index part) {
  return side.ranks[static_cast<std::size_t>((copy * side.windows + window) * side.parts + part)];
}

struct Shard {
  Parameter record;
  std::vector<Index> elements;
};

std::vector<Shard> shards_of(const Side& side, const std::vector<Index>& shape) {
  std::vector<Shard> shards;
  for (Index copy = 0; copy < side.copies; ++copy)
    for (Index window = 0; window < side.windows; ++window)
      for (Index part = 0; part < side.parts; ++part) {
        std::vector<Line> lines;
        for (std::size_t dim = 0; dim < shape.size(); ++dim)
          lines.push_back(line_of(side, static_cast<int>(dim), shape[dim], part, window));
        std::vector<Index> stored;
        for (const Line& line : lines) stored.push_back(std::ssize(line));
        Parameter record = whole(rank_at(side, copy, window, part), stored);
        Ranks tp, gtp, dp;
        for (Index k = 0; k < side.parts; ++k) tp.push_back(rank_at(side, copy, window, k));
        for (Index k = 0; k < side.windows; ++k) gtp.push_back(rank_at(side, copy, k, part));
        for (Index k = 0; k < side.copies; ++k) dp.push_back(rank_at(side, k, window, part));
        record = with_dp(std::move(record), dp);
        if (side.is_tp) {
          TensorParallel how{.dim = side.dim};
          if (side.packed) {
            for (const Index piece : side.pieces) how.sizes.push_back(piece / side.parts);
          } else {
            how.stride = std::ssize(side.pieces);
          }
          record = with_tp(std::move(record), tp, how);
        }
        if (side.is_gtp) {
          const Index rows = side.is_tp && side.dim == 0 ? shape[0] / side.parts : shape[0];
          record = with_gtp(std::move(record), gtp, side.windows * side.rows - rows);
        }
        shards.push_back({std::move(record), elements_of(lines, shape)});
      }
  return shards;
}

Records records_of(const std::vector<Shard>& shards) {
  Records records;
  for (const Shard& shard : shards) records.push_back(shard.record);
  return records;
}

// --- moving elements ---

Index place_in(const std::vector<Index>& shape, const std::vector<Index>& at) {
  Index place = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) place = place * shape[dim] + at[dim];
  return place;
}

// Fills `to` from `from`, by operations; every write is counted.
std::vector<std::vector<Index>> moved(const ShardPlan& plan, const std::vector<Shard>& from,
                                      const std::vector<Shard>& to) {
  std::vector<std::vector<Index>> buffers;
  for (const Shard& shard : to) buffers.emplace_back(shard.elements.size(), kPoison);
  for (const ShardOperation& operation : plan.operations) {
    const Shard& source = from[static_cast<std::size_t>(operation.source_parameter)];
    const auto target = static_cast<std::size_t>(operation.target_parameter);
    EXPECT_EQ(source.record.owner, operation.source);
    EXPECT_EQ(to[target].record.owner, operation.target);
    for (Index k = 0; k < operation.elements(); ++k) {
      std::vector<Index> here(operation.box.size()), there(operation.box.size());
      Index rest = k;
      for (std::size_t dim = operation.box.size(); dim-- > 0;) {
        const Span& span = operation.box[dim];
        here[dim] = span.target.value() + rest % span.length;
        there[dim] = span.source.value() + rest % span.length;
        rest /= span.length;
      }
      Index& slot = buffers[target][static_cast<std::size_t>(place_in(to[target].record.shape, here))];
      EXPECT_EQ(slot, kPoison) << "written twice";
      slot = source.elements[static_cast<std::size_t>(place_in(source.record.shape, there))];
    }
  }
  return buffers;
}

// True if every element is where it must be, and padding as it was.
void expect_filled(const std::vector<std::vector<Index>>& buffers, const std::vector<Shard>& shards) {
  for (std::size_t s = 0; s < shards.size(); ++s)
    for (std::size_t k = 0; k < shards[s].elements.size(); ++k) {
      const Index expected = shards[s].elements[k] == kPadding ? kPoison : shards[s].elements[k];
      ASSERT_EQ(buffers[s][k], expected) << "rank " << shards[s].record.owner.value() << " place " << k
                                         << " holds the wrong element";
    }
}

// --- the same through layouts ---

// "target [slices] from elements [slices] of the sender's shard": who sends is compared by what it holds.
std::multiset<std::string> boxes_of(const ShardPlan& plan, const std::map<RankId, const Shard*>& holders) {
  std::multiset<std::string> boxes;
  for (const ShardOperation& operation : plan.operations)
    boxes.insert(fmt::format("{} {} {} of {}", operation.target.value(), slices_text(operation.box, &Span::target),
                             slices_text(operation.box, &Span::source),
                             fmt::join(holders.at(operation.source)->elements, ",")));
  return boxes;
}

void expand(const Transfer& transfer, std::size_t dim, std::vector<Span> box, const Shard& holder,
            std::multiset<std::string>& boxes) {
  if (dim == transfer.dims.size()) {
    boxes.insert(fmt::format("{} {} {} of {}", transfer.target.value(), slices_text(box, &Span::target),
                             slices_text(box, &Span::source), fmt::join(holder.elements, ",")));
    return;
  }
  for (const Span& span : transfer.dims[dim]) {
    std::vector<Span> longer = box;
    longer.push_back(span);
    expand(transfer, dim + 1, std::move(longer), holder, boxes);
  }
}

void expect_as_by_layouts(const Rosters& both, const ShardPlan& made, const std::vector<Shard>& from) {
  std::map<RankId, const Shard*> holders;
  for (const Shard& shard : from) holders[shard.record.owner] = &shard;
  const Layout source = layout_of(both.sources, "w"), target = layout_of(both.targets, "w");
  std::multiset<std::string> boxes;
  const Plan by_layouts = plan(source, target);
  for (const Transfer& transfer : by_layouts.transfers()) expand(transfer, 0, {}, *holders.at(transfer.source), boxes);
  EXPECT_EQ(boxes_of(made, holders), boxes) << source.text() << " -> " << target.text();
  // And back: records made of the layouts say the same.
  const Rosters again = rosters(parameters_of(source, "w"), parameters_of(target, "w"));
  EXPECT_EQ(boxes_of(ShardPlanner(again).plan(), holders), boxes);
  EXPECT_EQ(layout_of(again.sources, "w"), source);
  EXPECT_EQ(layout_of(again.targets, "w"), target);
}

// Each rank alone derives its part of the whole.
void expect_ranks_agree(const Rosters& both, const ShardPlan& all) {
  std::set<RankId> ranks;
  for (const Roster* side : {&both.sources, &both.targets})
    for (const Parameter& parameter : side->parameters) ranks.insert(parameter.owner);
  for (const RankId rank : ranks) {
    std::vector<ShardOperation> expected;
    for (const ShardOperation& operation : all.operations)
      if (operation.source == rank || operation.target == rank) expected.push_back(operation);
    EXPECT_EQ(ShardPlanner(both).plan(rank).operations, expected) << "rank " << rank.value();
  }
}

void check(const Side& source, const Side& target, const std::vector<Index>& shape) {
  const std::vector<Shard> from = shards_of(source, shape), to = shards_of(target, shape);
  const Rosters both = rosters(records_of(from), records_of(to)), back{both.targets, both.sources};
  const ShardPlan there = planned(both);
  expect_filled(moved(there, from, to), to);
  expect_filled(moved(planned(back), to, from), from);  // the inverse brings everything back
  expect_filled(moved(ShardPlanner(both, {.rule = SourceRule::megatron}).plan(), from, to), to);
  expect_ranks_agree(both, there);
  expect_as_by_layouts(both, there, from);
}

// Ranks of a side: as many as it needs, from `first` on.
Ranks ranks_of(const Side& side, Index first) {
  Ranks ranks(static_cast<std::size_t>(side.copies * side.windows * side.parts));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

TEST(MegatronProperty, AllSmallCutsOfOneDimension) {
  Index cases = 0;
  for (Index code = 0; code < 4 * 4 * 3 * 3 * 3 * 3; ++code) {
    Index rest = code;
    const auto digit = [&](Index base) { return std::exchange(rest, rest / base) % base; };
    Side source, target;
    source.parts = 1 + digit(4), target.parts = 1 + digit(4);
    const Index source_stride = 1 + digit(3), target_stride = 1 + digit(3);
    source.windows = 1 + digit(3), target.windows = 1 + digit(3);
    const Index length = std::lcm(source.parts * source_stride, target.parts * target_stride);
    for (auto [side, stride] : {std::pair(&source, source_stride), std::pair(&target, target_stride)}) {
      side->is_tp = true;
      side->pieces.assign(static_cast<std::size_t>(stride), length / stride);
      side->is_gtp = side->windows > 1;
      side->rows = length / side->parts / side->windows + 1;  // more than enough: all cases of padding occur
      side->ranks = ranks_of(*side, side == &source ? 0 : 20);
    }
    check(source, target, {length});
    if (HasFailure()) FAIL() << "case " << code;
    ++cases;
  }
  EXPECT_EQ(cases, 1296);
}

Side random_side(Random& random, int dims, bool packed) {
  Side side;
  side.is_tp = !random.one_in(4);
  side.dim = static_cast<int>(random.below(dims));
  side.parts = side.is_tp ? random.between(1, 4) : 1;
  side.is_gtp = random.one_in(2);
  side.windows = side.is_gtp ? random.between(1, 3) : 1;
  side.copies = random.one_in(2) ? 1 : random.between(2, 3);
  side.packed = packed;
  return side;
}

// Pieces of a dimension that both sides can cut.
std::vector<Index> pieces_for(Random& random, Index step, bool packed, Index count) {
  std::vector<Index> pieces;
  const Index all = step * random.between(1, 2);
  for (Index k = 0; k < count; ++k) pieces.push_back(packed ? step * random.between(k == 0 ? 1 : 0, 3) : all);
  return pieces;
}

TEST(MegatronProperty, RandomCuts) {
  const unsigned seed = seed_from_environment();
  for (unsigned round = 0; round < 600; ++round) {
    Random random(seed + round);
    const int dims = static_cast<int>(random.between(1, 3));
    const bool packed = random.one_in(3);
    Side source = random_side(random, dims, packed), target = random_side(random, dims, packed);
    std::vector<Index> shape;
    for (int dim = 0; dim < dims; ++dim) shape.push_back(random.between(1, 4));
    const Index count = random.between(1, 3);
    if (source.is_tp && target.is_tp && source.dim == target.dim) {
      source.pieces = target.pieces = pieces_for(random, std::lcm(source.parts, target.parts), packed, count);
      if (!packed) {  // the target counts its strides by itself
        const Index other = random.between(1, 3);
        const Index length = std::accumulate(source.pieces.begin(), source.pieces.end(), Index{0}) * other;
        source.pieces.assign(source.pieces.size(), length / std::ssize(source.pieces));
        target.pieces.assign(static_cast<std::size_t>(other), length / other);
      }
    } else {
      for (Side* side : {&source, &target})
        if (side->is_tp) side->pieces = pieces_for(random, side->parts, packed, count);
    }
    for (const Side* side : {&source, &target})
      if (side->is_tp)
        shape[static_cast<std::size_t>(side->dim)] =
            std::accumulate(side->pieces.begin(), side->pieces.end(), Index{0});
    Ranks pool(static_cast<std::size_t>(60));
    std::iota(pool.begin(), pool.end(), 0);
    for (Side* side : {&source, &target}) {
      const Index rows = side->is_tp && side->dim == 0 ? shape[0] / side->parts : shape[0];
      side->rows = (rows + side->windows - 1) / side->windows + random.below(3);
      random.shuffle(pool);  // the sides may share ranks
      side->ranks = Ranks(pool.begin(), pool.begin() + std::ssize(ranks_of(*side, 0)));
    }
    check(source, target, shape);
    if (HasFailure()) FAIL() << "RESHARD_SEED=" << seed << " round " << round;
  }
}

// The set that Megatron's own tests cut 144 elements by, beside a dimension of 6.
TEST(MegatronProperty, TheSetOf144) {
  struct Row {
    int dim;
    Index source_parts, target_parts, source_stride, target_stride;
  };
  for (const Row& row :
       std::vector<Row>{{0, 2, 1, 1, 1}, {1, 4, 2, 1, 1}, {0, 3, 4, 1, 1}, {1, 2, 3, 2, 3}, {0, 4, 2, 3, 2}}) {
    Side source, target;
    source.parts = row.source_parts, target.parts = row.target_parts;
    source.pieces.assign(static_cast<std::size_t>(row.source_stride), 144 / row.source_stride);
    target.pieces.assign(static_cast<std::size_t>(row.target_stride), 144 / row.target_stride);
    for (Side* side : {&source, &target}) {
      side->is_tp = true;
      side->dim = row.dim;
      side->ranks = ranks_of(*side, side == &source ? 0 : 10);
    }
    check(source, target, row.dim == 0 ? std::vector<Index>{144, 6} : std::vector<Index>{6, 144});
  }
}

}  // namespace
}  // namespace reshard::megatron
