#include "reshard/topology.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

constexpr Index kMostRanks = Index{1} << 22;

template <class... Args>
[[noreturn]] void refuse(const std::string& where, fmt::format_string<Args...> format, Args&&... args) {
  const std::string message = fmt::format(format, std::forward<Args>(args)...);
  fail(Code::invalid_argument, "{}{}{}", where, where.empty() ? "topology: " : ": ", message);
}

void check_cost(const std::string& where, std::string_view whose, const LinkCost& link) {
  constexpr double kGreatest = 1e18, kLeast = 1e-3;  // so that no sum of a move overflows
  if (!(link.alpha >= 0 && link.alpha <= kGreatest))
    refuse(where, "{}: alpha is {} s; give the seconds that a message costs, 0 to {}", whose, link.alpha, kGreatest);
  if (!(link.rate >= kLeast && link.rate <= kGreatest))
    refuse(where, "{}: rate is {} bytes/s; give {} to {}", whose, link.rate, kLeast, kGreatest);
}

bool is_topology_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// The node of each node below; -1 where no node of the level lists it.
std::vector<Index> parents_of(const TopologyLevel& level, std::string_view below, Index count) {
  std::vector<Index> parents(static_cast<std::size_t>(count), -1);
  if (level.holds > 0) {
    for (Index k = 0; k < count; ++k) parents[static_cast<std::size_t>(k)] = k / level.holds;
    return parents;
  }
  for (Index node = 0; node < std::ssize(level.nodes); ++node)
    for (const NodeRange& range : level.nodes[static_cast<std::size_t>(node)].members) {
      if (range.first < 0 || range.count < 1 || range.first >= count || range.count > count - range.first)
        refuse(level.where, "{} {} holds {} from {} {} on, but there are {} of them, 0-{}", level.name, node,
               range.count, below, range.first, count, count - 1);
      for (Index k = range.first; k < range.first + range.count; ++k) {
        Index& parent = parents[static_cast<std::size_t>(k)];
        if (parent >= 0)
          refuse(level.where, "{} {} is in {} {} and in {} {}; list it once", below, k, level.name, parent, level.name,
                 node);
        parent = node;
      }
    }
  return parents;
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string cost_text(const LinkCost& link) {
  return fmt::format("alpha: {} s, rate: {} B/s", number_text(link.alpha), number_text(link.rate));
}

}  // namespace

Topology::Topology(TopologySpec spec) : ranks_(spec.ranks) {
  if (ranks_ < 1 || ranks_ > kMostRanks)
    fail(Code::invalid_argument, "topology: {} ranks; give 1 to {}", ranks_, kMostRanks);
  if (spec.levels.empty()) fail(Code::invalid_argument, "topology: no levels; the first one describes the ranks");
  for (const TopologyLevel& level : spec.levels) add_level(level);
  number_places();
  for (const LinkOverride& link : spec.links) override_link(link);
}

void Topology::add_level(const TopologyLevel& level) {
  const std::string whose = fmt::format("level '{}'", level.name);
  if (!is_topology_name(level.name))
    refuse(level.where, "{}: a name has letters, digits, - and _, and no digit first", whose);
  for (const Level& other : levels_)
    if (other.name == level.name) refuse(level.where, "{} is there twice", whose);
  check_cost(level.where, whose, level.link);
  if (level.holds < 0) refuse(level.where, "{} holds {}; give 1 or more", whose, level.holds);
  if (levels_.empty()) {
    if (level.holds > 0 || !level.nodes.empty())
      refuse(level.where, "{} is the first: its nodes are the ranks and hold nothing", whose);
    std::vector<Index> self(static_cast<std::size_t>(ranks_));
    std::iota(self.begin(), self.end(), 0);
    levels_.push_back({level.name, level.link, {self.size(), level.link}, {}, {}, std::move(self)});
    return;
  }
  Level& below = levels_.back();
  const auto count = static_cast<Index>(below.links.size());
  if ((level.holds > 0) == !level.nodes.empty())
    refuse(level.where, "{}: say how many nodes of level '{}' each one holds, or list them", whose, below.name);
  std::vector<Index> parents = parents_of(level, below.name, count);
  if (const auto alone = std::ranges::find(parents, Index{-1}); alone != parents.end())
    refuse(level.where, "{} {} is in no {}; list all {} of them", below.name, alone - parents.begin(), level.name,
           count);
  const Index nodes = level.holds > 0 ? ceil_div(count, level.holds) : std::ssize(level.nodes);
  Level added{level.name, level.link, {static_cast<std::size_t>(nodes), level.link}, {}, {}, {}};
  const bool named = std::ranges::any_of(level.nodes, [](const NamedNode& node) { return !node.name.empty(); });
  for (const NamedNode& node : level.nodes) {
    if (!named) break;
    if (!is_topology_name(node.name) || std::ranges::find(added.names, node.name) != added.names.end())
      refuse(level.where,
             "{}: '{}' is no name, or there twice; a name has letters, digits, - and _, and no digit first", whose,
             node.name);
    added.names.push_back(node.name);
  }
  for (const Index node : below.of_rank) added.of_rank.push_back(parents[static_cast<std::size_t>(node)]);
  for (std::size_t node = 0; node < level.nodes.size(); ++node)
    if (level.nodes[node].members.empty())
      refuse(level.where, "{} {} holds no {}; leave it out", level.name, node, below.name);
  below.parent = std::move(parents);
  levels_.push_back(std::move(added));
}

void Topology::number_places() {
  std::vector<Index> ranks(static_cast<std::size_t>(ranks_));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (const Level& level : levels_)  // stable, from the ranks up: the last level decides first
    std::ranges::stable_sort(ranks, {}, [&](Index rank) { return level.of_rank[static_cast<std::size_t>(rank)]; });
  place_.resize(ranks.size());
  for (std::size_t k = 0; k < ranks.size(); ++k) place_[static_cast<std::size_t>(ranks[k])] = static_cast<Index>(k);
}

void Topology::override_link(const LinkOverride& link) {
  const auto node = find(link.node);
  if (!node) {
    std::string known;
    for (const Level& level : levels_)
      known += fmt::format("{}{} {}-{}", known.empty() ? "" : ", ", level.name,
                           level.names.empty() ? "0" : level.names.front(),
                           level.names.empty() ? std::to_string(level.links.size() - 1) : level.names.back());
    refuse(link.where, "links: there is no '{}'; known are {}", link.node, known);
  }
  LinkCost& cost = levels_[static_cast<std::size_t>(node->level)].links[static_cast<std::size_t>(node->number)];
  cost.alpha = link.alpha.value_or(cost.alpha);
  cost.rate = link.rate.value_or(cost.rate);
  check_cost(link.where, link.node, cost);
}

std::string Topology::node_name(TopologyNode node) const {
  const Level& level = at(node.level);
  if (level.names.empty()) return fmt::format("{} {}", level.name, node.number);
  return fmt::format("{} {}", level.name, level.names[static_cast<std::size_t>(node.number)]);
}

std::optional<TopologyNode> Topology::find(std::string_view name) const {
  const auto blank = name.find(' ');
  if (blank == name.npos) return std::nullopt;
  for (int k = 0; k < levels(); ++k) {
    if (name.substr(0, blank) != at(k).name) continue;
    const std::string_view node = name.substr(blank + 1);
    if (!at(k).names.empty()) {
      const auto found = std::ranges::find(at(k).names, node);
      if (found == at(k).names.end()) return std::nullopt;
      return TopologyNode{k, found - at(k).names.begin()};
    }
    if (node.empty() || node.size() > 8 || !std::ranges::all_of(node, [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    const Index number = std::stoll(std::string(node));
    if (number < nodes(k)) return TopologyNode{k, number};
  }
  return std::nullopt;
}

int Topology::meeting_level(RankId a, RankId b) const {
  int level = 0;
  while (level < levels() && node_of(level, a) != node_of(level, b)) ++level;
  return level;
}

Topology::Path Topology::path(RankId a, RankId b) const {
  Path path;
  const int meeting = meeting_level(a, b);
  for (int level = 0; level < meeting; ++level) path.out.push_back({level, node_of(level, a)});
  for (int level = meeting; level-- > 0;) path.in.push_back({level, node_of(level, b)});
  return path;
}

Index Topology::regular(int level) const {
  const std::vector<Index>& nodes = at(level).of_rank;
  Index each = 0;
  while (each < ranks_ && nodes[static_cast<std::size_t>(each)] == nodes[0]) ++each;
  for (Index rank = 0; rank < ranks_; ++rank)
    if (nodes[static_cast<std::size_t>(rank)] != rank / each) return 0;
  return each;
}

void Topology::check(RankId end, std::string_view whose) const {
  if (end.value() <= ranks_) return;
  fail(Code::invalid_argument,
       "{} needs rank {}, but the topology has ranks 0-{}; describe more ranks or move the mesh", whose,
       end.value() - 1, ranks_ - 1);
}

// What nodes of a level hold: a number where they are all alike and in order, else ranges.
std::string Topology::holds_text(int level) const {
  const std::vector<Index>& parents = at(level - 1).parent;
  const Level& here = at(level);
  Index each = 0;
  while (each < std::ssize(parents) && parents[static_cast<std::size_t>(each)] == parents[0]) ++each;
  bool regular = here.names.empty();
  for (Index k = 0; k < std::ssize(parents) && regular; ++k) regular = parents[static_cast<std::size_t>(k)] == k / each;
  if (regular) return fmt::format("{}", each);
  std::vector<std::string> members(here.links.size());
  for (std::size_t k = 0; k < parents.size();) {
    std::size_t end = k + 1;
    while (end < parents.size() && parents[end] == parents[k]) ++end;
    std::string& text = members[static_cast<std::size_t>(parents[k])];
    text += fmt::format("{}{}", text.empty() ? "" : " ", k);
    if (end > k + 1) text += fmt::format("-{}", end - 1);
    k = end;
  }
  std::string out;
  for (std::size_t node = 0; node < members.size(); ++node) {
    if (!out.empty()) out += ", ";
    if (!here.names.empty()) out += here.names[node] + ": ";
    out += members[node];
  }
  return here.names.empty() ? "[" + out + "]" : "{" + out + "}";
}

std::string Topology::text() const {
  std::string out = fmt::format("ranks: {}\nlevels:\n", ranks_), links;
  for (int k = 0; k < levels(); ++k) {
    const Level& level = at(k);
    const std::string holds = k == 0 ? "" : fmt::format("holds: {}, ", holds_text(k));
    out += fmt::format("  {}: {{{}{}}}\n", level.name, holds, cost_text(level.usual));
    for (Index node = 0; node < nodes(k); ++node) {
      const LinkCost& cost = level.links[static_cast<std::size_t>(node)];
      if (cost != level.usual) links += fmt::format("  {}: {{{}}}\n", node_name({k, node}), cost_text(cost));
    }
  }
  return links.empty() ? out : out + "links:\n" + links;
}

bool operator==(const Topology& a, const Topology& b) { return a.ranks_ == b.ranks_ && a.levels_ == b.levels_; }

}  // namespace reshard
