#include "plan/multicast_route.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace reshard {

HopRouter::HopRouter(const Topology& topology) : topology_(topology) {
  for (int level = 0; level < topology.levels(); ++level)
    out_seconds_.emplace_back(static_cast<std::size_t>(topology.nodes(level)), 0.0);
}

std::vector<RouteEdge> HopRouter::route(Scheme scheme, Ranks holders, Ranks receivers, Index turn, Index bytes) {
  scheme_ = scheme;
  bytes_ = bytes;
  edges_.clear();
  std::vector<Source> sources;
  for (const RankId holder : holders) sources.push_back({holder});
  serve(topology_.levels(), sources, receivers, turn);
  return std::move(edges_);
}

// Receivers by their node at `level`, beginning with the turn-th of them.
std::vector<HopRouter::Ranks> HopRouter::groups(int level, Ranks receivers, Index turn) const {
  std::vector<Ranks> groups;
  while (!receivers.empty()) {
    const Index node = topology_.node_of(level, receivers.front());
    std::size_t end = 1;
    while (end < receivers.size() && topology_.node_of(level, receivers[end]) == node) ++end;
    groups.push_back(receivers.first(end));
    receivers = receivers.subspan(end);
  }
  if (!groups.empty()) std::rotate(groups.begin(), groups.begin() + turn % std::ssize(groups), groups.end());
  return groups;
}

// All are in one node of `level`. Nodes inside that have a source are served from within, the others from any source.
// A chain goes through the near ones first and on from there, so that no rank sends twice; a tree begins with the far
// ones, as they take longest. Returns the sources, and the ends of chains.
std::vector<HopRouter::Source> HopRouter::serve(int level, std::vector<Source> sources, Ranks receivers, Index turn) {
  if (receivers.empty()) return sources;
  const int inner = level - 1;
  std::map<Index, std::vector<Source>> by_node;
  for (const Source& source : sources) by_node[topology_.node_of(inner, source.rank)].push_back(source);
  std::vector<Ranks> needy, served;
  for (const Ranks group : groups(inner, receivers, 0))
    (by_node.contains(topology_.node_of(inner, group.front())) ? served : needy).push_back(group);
  const auto count = std::max<Index>(std::ssize(needy), 1);
  std::rotate(needy.begin(), needy.begin() + turn % count, needy.end());
  if (scheme_ == Scheme::tree) grow(level, sources, needy, turn / count);
  for (const Ranks group : served) {
    const std::vector<Source>& inside = by_node[topology_.node_of(inner, group.front())];
    const std::vector<Source> after = serve(inner, inside, group, turn);
    sources.insert(sources.end(), after.begin() + std::ssize(inside), after.end());
  }
  if (scheme_ == Scheme::tree || needy.empty()) return sources;
  Source last = least_loaded(level, sources, turn);
  for (const Ranks group : needy) last = walk(inner, group, last, turn / count);
  sources.push_back(last);
  return sources;
}

// From `last` through every receiver, node by node; returns the last one.
HopRouter::Source HopRouter::walk(int level, Ranks receivers, Source last, Index turn) {
  if (level == 0) return add(last, receivers.front());
  const std::vector<Ranks> inside = groups(level - 1, receivers, turn);
  for (const Ranks group : inside) last = walk(level - 1, group, last, turn / std::ssize(inside));
  return last;
}

// Whoever is free first sends to the next node, and both go on; then each node serves its own from the rank that it was
// entered at.
void HopRouter::grow(int level, std::vector<Source> have, const std::vector<Ranks>& needy, Index turn) {
  std::ranges::stable_sort(have, {}, [&](const Source& s) { return std::tuple(s.free, load(level, s.rank)); });
  have.resize(std::min(have.size(), needy.size()));
  using Free = std::pair<Index, std::size_t>;  // step, place in `have`
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (std::size_t k = 0; k < have.size(); ++k) free.emplace(have[k].free, k);
  const std::size_t first = have.size();
  for (const Ranks group : needy) {
    const auto [step, sender] = free.top();
    free.pop();
    have.push_back(add(have[sender], entry(level - 1, group, turn)));
    have[sender].free = step + 1;
    free.emplace(step + 1, sender);
    free.emplace(step + 1, have.size() - 1);
  }
  for (std::size_t k = 0; k < needy.size(); ++k) {
    std::vector<RankId> rest(needy[k].begin(), needy[k].end());
    std::erase(rest, have[first + k].rank);
    serve(level - 1, {have[first + k]}, rest, turn);
  }
}

RankId HopRouter::entry(int level, Ranks receivers, Index turn) const {
  if (level == 0) return receivers.front();
  const std::vector<Ranks> inside = groups(level - 1, receivers, turn);
  return entry(level - 1, inside.front(), turn / std::ssize(inside));
}

HopRouter::Source HopRouter::least_loaded(int level, const std::vector<Source>& sources, Index turn) const {
  const auto count = sources.size();
  const Source* least = nullptr;
  double least_load = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Source& source = sources[(k + static_cast<std::size_t>(turn)) % count];
    const double seconds = load(level, source.rank);
    if (least != nullptr && seconds >= least_load) continue;
    least = &source;
    least_load = seconds;
  }
  return *least;
}

// Seconds for which the links are taken that a message of the rank takes out of nodes below `level`, all together: the
// slow ones decide, and between ranks that share those the fast ones.
double HopRouter::load(int level, RankId rank) const {
  double sum = 0;
  for (int k = 0; k < level; ++k)
    sum += out_seconds_[static_cast<std::size_t>(k)][static_cast<std::size_t>(topology_.node_of(k, rank))];
  return sum;
}

HopRouter::Source HopRouter::add(const Source& from, RankId to) {
  edges_.push_back({from.rank, to, from.edge, from.free});
  const int meeting = topology_.meeting_level(from.rank, to);
  for (int k = 0; k < meeting; ++k) {
    const Index node = topology_.node_of(k, from.rank);
    out_seconds_[static_cast<std::size_t>(k)][static_cast<std::size_t>(node)] +=
        topology_.link({k, node}).seconds(bytes_);
  }
  return {to, std::ssize(edges_) - 1, from.free + 1};
}

}  // namespace reshard
