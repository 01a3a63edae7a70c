#include "plan/least_load.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include "base/fail.h"

namespace reshard {
namespace {

std::size_t at(Index k) { return static_cast<std::size_t>(k); }

// Parts that may take each other's place.
struct Kind {
  Index elements = 0;
  std::vector<Index> parts;
};

// One pool, and what lies in it.
struct Node {
  std::vector<Index> children;
  std::vector<Kind> kinds;     // of its own parts, the largest first
  std::vector<Index> senders;  // that lie in no pool below it that has parts
};

class Tree {
 public:
  Tree(std::span<const Pool> pools, std::span<const Index> pool_of, std::span<const DealtPart> parts)
      : nodes_(pools.size()) {
    std::vector<std::map<Index, std::vector<Index>, std::greater<>>> kinds(pools.size());
    for (std::size_t k = 0; k < parts.size(); ++k)
      kinds[at(parts[k].pool)][parts[k].elements].push_back(static_cast<Index>(k));
    for (std::size_t pool = 0; pool < pools.size(); ++pool)
      for (auto& [elements, list] : kinds[pool]) nodes_[pool].kinds.push_back({elements, std::move(list)});
    // A pool without parts is as good as the one around it.
    const auto with_parts = [&](Index pool) {
      while (pool > 0 && nodes_[at(pool)].kinds.empty()) pool = pools[at(pool)].parent;
      return pool;
    };
    for (std::size_t k = 0; k < pool_of.size(); ++k)
      nodes_[at(with_parts(pool_of[k]))].senders.push_back(static_cast<Index>(k));
    for (Index pool = 1; pool < std::ssize(pools); ++pool)
      if (!nodes_[at(pool)].kinds.empty()) nodes_[at(with_parts(pools[at(pool)].parent))].children.push_back(pool);
  }
  const Node& node(Index pool) const { return nodes_[at(pool)]; }
  // Of a pool and all below it.
  std::vector<Index> senders_within(Index pool) const {
    std::vector<Index> senders = node(pool).senders;
    for (const Index child : node(pool).children) {
      const std::vector<Index> more = senders_within(child);
      senders.insert(senders.end(), more.begin(), more.end());
    }
    std::ranges::sort(senders);
    return senders;
  }
  std::vector<Index> sizes_within(Index pool) const {
    std::vector<Index> sizes;
    for (const Kind& kind : node(pool).kinds) sizes.insert(sizes.end(), kind.parts.size(), kind.elements);
    for (const Index child : node(pool).children) {
      const std::vector<Index> more = sizes_within(child);
      sizes.insert(sizes.end(), more.begin(), more.end());
    }
    return sizes;
  }

 private:
  std::vector<Node> nodes_;
};

// The largest part of the innermost pools first, to whoever has least.
class ByRule {
 public:
  ByRule(const Tree& tree, std::size_t senders, std::size_t parts) : tree_(tree), loads_(senders) {
    deal_.senders.resize(parts);
    visit(0);
    deal_.greatest = *std::ranges::max_element(loads_);
  }
  Deal& deal() { return deal_; }

 private:
  void visit(Index pool) {
    for (const Index child : tree_.node(pool).children) visit(child);
    if (tree_.node(pool).kinds.empty()) return;
    std::priority_queue<std::pair<Wide, Index>, std::vector<std::pair<Wide, Index>>, std::greater<>> least;
    for (const Index sender : tree_.senders_within(pool)) least.emplace(loads_[at(sender)], sender);
    for (const Kind& kind : tree_.node(pool).kinds)
      for (const Index part : kind.parts) {
        const Index sender = least.top().second;
        least.pop();
        deal_.senders[at(part)] = sender;
        least.emplace(loads_[at(sender)] += kind.elements, sender);
      }
  }
  const Tree& tree_;
  std::vector<Wide> loads_;
  Deal deal_;
};

// No deal has a smaller greatest load. Of the parts that must stay within a pool: their fair share, cut as one likes;
// and of the k m + 1 largest among m senders, one sender has k + 1, at least the smallest of them.
Wide bound_of(const Tree& tree, Index pool) {
  Wide bound = 0;
  for (const Index child : tree.node(pool).children) bound = std::max(bound, bound_of(tree, child));
  std::vector<Index> sizes = tree.sizes_within(pool);
  if (sizes.empty()) return bound;
  std::ranges::sort(sizes, std::greater{});
  std::vector<Wide> ends(sizes.size() + 1, 0);
  for (std::size_t k = 0; k < sizes.size(); ++k) ends[k + 1] = ends[k] + sizes[k];
  const std::size_t count = tree.senders_within(pool).size();
  const Wide senders = static_cast<Wide>(count);
  bound = std::max(bound, (ends.back() + senders - 1) / senders);
  for (std::size_t k = 0; k * count < sizes.size(); ++k)
    bound = std::max(bound, ends[k * count + 1] - ends[k * count - k]);
  return bound;
}

// Whether parts fit into senders of a given capacity, decided over all ways to take from them.
//
// The senders are filled one after another, pool by pool. What has been dealt so far is a number with one digit per
// kind of the present pool and those around it. Of all ways to deal it, the best has filled the fewest senders, and of
// these the one with the least load in the last: whatever can follow another way can follow this one.
class Search {
 public:
  Search(const Tree& tree, Index pools) : tree_(tree), ways_(at(pools), 1), states_(at(pools)) {
    possible_ = count(0, 1) <= kGreatestWays;
  }
  bool possible() const { return possible_; }

  bool fits(Wide capacity) {
    capacity_ = capacity;
    next_ = -1;
    std::vector<char> reached(1, 1);
    fill(0, reached);
    return reached[0] != 0;
  }
  // After a failure: the least greater capacity that may do.
  Wide next() const { return next_; }
  // After a success.
  Deal deal(std::size_t senders, std::size_t parts) {
    Deal deal{std::vector<Index>(parts), 0};
    trace(0, 0, deal.senders);
    std::vector<Wide> loads(senders);
    add_loads(0, deal.senders, loads);
    deal.greatest = *std::ranges::max_element(loads);
    return deal;
  }

 private:
  struct State {
    Wide load = 0;      // of the sender being filled
    Index sender = -1;  // its place among those of the pool; -1: there is no way
    bool reached() const { return sender >= 0; }
    bool begins() const { return sender == 0 && load == 0; }
    bool before(const State& other) const {
      return !other.reached() || std::pair(sender, load) < std::pair(other.sender, other.load);
    }
    friend bool operator==(const State&, const State&) = default;
  };
  // A digit: the kind, what it counts in the number, and one past its greatest value.
  struct Digit {
    const Kind* kind = nullptr;
    Index unit = 1;
    Index values = 1;
  };

  // Counts ways, and gives up where there are too many. `around`: those of the pools around.
  Index count(Index pool, Index around) {
    Index ways = around;
    for (const Kind& kind : tree_.node(pool).kinds)
      if (__builtin_mul_overflow(ways, std::ssize(kind.parts) + 1, &ways) || ways > kGreatestWays)
        return kGreatestWays + 1;
    ways_[at(pool)] = ways / around;
    Index all = tree_.node(pool).senders.empty() ? 0 : ways;
    for (const Index child : tree_.node(pool).children)
      if ((all += count(child, ways)) > kGreatestWays) return all;
    return all;
  }

  // `reached`: for all that may have been dealt of the parts around this pool, whether there is a way; before its
  // senders and those below are filled, and after.
  void fill(Index pool, std::vector<char>& reached) {
    const std::size_t around = reached.size(), whole = around * at(ways_[at(pool)]);
    push(pool, static_cast<Index>(around));
    reached.resize(whole, 0);
    if (const Index senders = std::ssize(tree_.node(pool).senders); senders > 0) {
      std::vector<State>& states = states_[at(pool)];
      states.assign(whole, {});
      for (std::size_t k = 0; k < whole; ++k)
        if (reached[k] != 0) states[k] = {0, 0};
      std::vector<Index> values(digits_.size(), 0);  // of the digits of k
      for (std::size_t k = 0; k < whole; ++k) {
        if (states[k].reached()) extend(states, k, values, senders);
        for (std::size_t digit = 0; digit < values.size() && ++values[digit] == digits_[digit].values; ++digit)
          values[digit] = 0;
      }
      for (std::size_t k = 0; k < whole; ++k) reached[k] = states[k].reached() ? 1 : 0;
    }
    for (const Index child : tree_.node(pool).children) fill(child, reached);
    reached.erase(reached.begin(), reached.end() - static_cast<std::ptrdiff_t>(around));
    pop(pool);
  }
  void extend(std::vector<State>& states, std::size_t k, const std::vector<Index>& values, Index senders) {
    for (std::size_t d = 0; d < digits_.size(); ++d) {
      const Digit& digit = digits_[d];
      if (values[d] + 1 == digit.values) continue;
      if (const Wide load = states[k].load + digit.kind->elements; load > capacity_ && (next_ < 0 || load < next_))
        next_ = load;
      const State state = after(states[k], digit);
      State& known = states[k + at(digit.unit)];
      if (state.sender < senders && state.before(known)) known = state;
    }
  }
  State after(const State& state, const Digit& digit) const {
    const Wide load = state.load + digit.kind->elements;
    return load <= capacity_ ? State{load, state.sender} : State{digit.kind->elements, state.sender + 1};
  }
  // The way back: `k` is what has been dealt of the parts around this pool after it, and what before it is returned.
  std::size_t trace(Index pool, std::size_t k, std::vector<Index>& senders) {
    Index around = 1;
    for (const Digit& digit : digits_) around *= digit.values;
    push(pool, around);
    k += at((ways_[at(pool)] - 1) * around);
    const std::vector<Index>& children = tree_.node(pool).children;
    for (auto child = children.rbegin(); child != children.rend(); ++child) k = trace(*child, k, senders);
    if (!tree_.node(pool).senders.empty()) {
      const std::vector<State>& states = states_[at(pool)];
      while (!states[k].begins()) k = step_back(pool, states, k, senders);
    }
    pop(pool);
    return k;
  }
  std::size_t step_back(Index pool, const std::vector<State>& states, std::size_t k, std::vector<Index>& senders) {
    for (const Digit& digit : digits_) {
      const Index value = static_cast<Index>(k) / digit.unit % digit.values;
      if (value == 0) continue;
      const State& state = states[k - at(digit.unit)];
      if (!state.reached() || after(state, digit) != states[k]) continue;
      senders[at(digit.kind->parts[at(value - 1)])] = tree_.node(pool).senders[at(states[k].sender)];
      return k - at(digit.unit);
    }
    fail(Code::internal, "least load: no way leads to {} elements at sender {}", static_cast<Index>(states[k].load),
         states[k].sender);
  }

  void push(Index pool, Index unit) {
    for (const Kind& kind : tree_.node(pool).kinds) {
      digits_.push_back({&kind, unit, std::ssize(kind.parts) + 1});
      unit *= digits_.back().values;
    }
  }
  void pop(Index pool) { digits_.resize(digits_.size() - tree_.node(pool).kinds.size()); }
  void add_loads(Index pool, const std::vector<Index>& senders, std::vector<Wide>& loads) const {
    for (const Kind& kind : tree_.node(pool).kinds)
      for (const Index part : kind.parts) loads[at(senders[at(part)])] += kind.elements;
    for (const Index child : tree_.node(pool).children) add_loads(child, senders, loads);
  }

  const Tree& tree_;
  std::vector<Index> ways_;                 // per pool, to take from its own parts
  std::vector<std::vector<State>> states_;  // per pool, once its own senders are filled
  std::vector<Digit> digits_;               // of the present pool and those around it, outermost first
  bool possible_ = false;
  Wide capacity_ = 0;
  Wide next_ = -1;
};

}  // namespace

std::optional<Deal> least_load(std::span<const Pool> pools, std::span<const Index> pool_of,
                               std::span<const DealtPart> parts) {
  const Tree tree(pools, pool_of, parts);
  Deal best = std::move(ByRule(tree, pool_of.size(), parts.size()).deal());
  Wide least = bound_of(tree, 0);
  if (least == best.greatest) return best;
  Search search(tree, std::ssize(pools));
  if (!search.possible()) return std::nullopt;
  while (least < best.greatest) {
    if (search.fits(least + (best.greatest - least) / 2)) {
      best = search.deal(pool_of.size(), parts.size());
    } else {
      least = search.next() < 0 ? best.greatest : std::min(search.next(), best.greatest);
    }
  }
  return best;
}

}  // namespace reshard
