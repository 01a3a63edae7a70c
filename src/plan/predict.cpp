#include "reshard/predict.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "plan/multicast_pieces.h"

namespace reshard {
namespace {

constexpr std::string_view kOnALink = "bytes on a link";

void check_ranks(const Topology& topology, const Plan& plan) {
  topology.check(plan.source().mesh().end_rank(), "the source's mesh");
  topology.check(plan.target().mesh().end_rank(), "the target's mesh");
}

std::set<Index> nodes_of(const Topology& topology, int level, const std::vector<RankId>& ranks) {
  std::set<Index> nodes;
  for (const RankId rank : ranks) nodes.insert(topology.node_of(level, rank));
  return nodes;
}

}  // namespace

LinkTraffic::LinkTraffic(const Topology& topology) : topology_(topology) {
  for (int level = 0; level < topology.levels(); ++level)
    out_.emplace_back(static_cast<std::size_t>(topology.nodes(level)));
  in_ = out_;
}

LinkLoad& LinkTraffic::out(int level, RankId rank) {
  return out_[static_cast<std::size_t>(level)][static_cast<std::size_t>(topology_.node_of(level, rank))];
}

LinkLoad& LinkTraffic::in(int level, RankId rank) {
  return in_[static_cast<std::size_t>(level)][static_cast<std::size_t>(topology_.node_of(level, rank))];
}

void LinkTraffic::add_message(RankId from, RankId to, Index bytes, Index times) {
  const int meeting = topology_.meeting_level(from, to);
  const Index all = checked_mul(bytes, times, kOnALink);
  for (int level = 0; level < meeting; ++level)
    for (LinkLoad* load : {&out(level, from), &in(level, to)}) {
      load->bytes = checked_add(load->bytes, all, kOnALink);
      load->messages += times;
    }
}

void LinkTraffic::add(const Plan& plan, Index times) {
  check_ranks(topology_, plan);
  const Index bytes_each = bytes_of(plan.source().dtype());
  for (const Transfer& transfer : plan.transfers())
    add_message(transfer.source, transfer.target, transfer.elements() * bytes_each, times);
  add_bound(plan, times);
}

// A piece must enter every node that has a receiver and no holder; it must leave a node that has all holders where
// somebody outside wants it.
void LinkTraffic::add_bound(const Plan& plan, Index times) {
  check_ranks(topology_, plan);
  const PlanPieces pieces = pieces_of(plan);
  const Index bytes_each = bytes_of(plan.source().dtype());
  std::map<std::pair<int, Index>, std::set<Index>> holding;  // by level and source shard
  for (const PlanPiece& piece : pieces.pieces) {
    const Index bytes = checked_mul(plan.transfers()[piece.example].elements() * bytes_each, times, kOnALink);
    for (int level = 0; level < topology_.levels(); ++level) {
      const auto [entry, fresh] = holding.try_emplace({level, piece.holders});
      std::set<Index>& holders = entry->second;
      if (fresh) holders = nodes_of(topology_, level, pieces.holders[static_cast<std::size_t>(piece.holders)]);
      std::set<Index> entered;
      for (const std::size_t k : piece.sent) {
        const Index node = topology_.node_of(level, plan.transfers()[k].target);
        if (!holders.contains(node)) entered.insert(node);
      }
      for (const Index node : entered) {
        LinkLoad& load = in_[static_cast<std::size_t>(level)][static_cast<std::size_t>(node)];
        load.must = checked_add(load.must, bytes, kOnALink);
      }
      if (entered.empty() || holders.size() != 1) continue;
      LinkLoad& load = out_[static_cast<std::size_t>(level)][static_cast<std::size_t>(*holders.begin())];
      load.must = checked_add(load.must, bytes, kOnALink);
    }
  }
}

double LinkTraffic::seconds() const {
  double most = 0;
  for (const Loads* loads : {&out_, &in_})
    for (int level = 0; level < topology_.levels(); ++level)
      for (Index node = 0; node < topology_.nodes(level); ++node)
        if (const LinkLoad& load = at(*loads, {level, node}); load.messages > 0)
          most = std::max(most, topology_.link({level, node}).seconds(load.bytes, load.messages));
  return most;
}

Prediction LinkTraffic::prediction() const {
  Prediction prediction;
  for (int level = topology_.levels(); level-- > 0;)
    for (Index node = 0; node < topology_.nodes(level); ++node)
      for (const bool inwards : {false, true}) {
        const LinkLoad& load = at(inwards ? in_ : out_, {level, node});
        if (load.messages == 0 && load.must == 0) continue;
        const LinkCost& link = topology_.link({level, node});
        prediction.links.push_back({.node = {level, node},
                                    .inwards = inwards,
                                    .load = load,
                                    .seconds = link.seconds(load.bytes, load.messages),
                                    .bound = load.must == 0 ? 0 : link.seconds(load.must)});
        prediction.seconds = std::max(prediction.seconds, prediction.links.back().seconds);
        prediction.bound = std::max(prediction.bound, prediction.links.back().bound);
      }
  std::ranges::stable_sort(prediction.links, std::greater{}, &LinkUse::seconds);
  return prediction;
}

Prediction predict(const Plan& plan, const Topology& topology) {
  LinkTraffic traffic(topology);
  traffic.add(plan);
  return traffic.prediction();
}

double seconds_in_rounds(const Rounds<RankId>& rounds, const Topology& topology) {
  double sum = 0;
  std::map<std::pair<TopologyNode, bool>, LinkLoad> loads;  // only of the links that a round uses
  for (const Round<RankId>& round : rounds.rounds) {
    loads.clear();
    double longest = 0;
    const auto add = [&](TopologyNode node, bool inwards, Index bytes) {
      LinkLoad& load = loads[{node, inwards}];
      load.bytes += bytes;
      longest = std::max(longest, topology.link(node).seconds(load.bytes, ++load.messages));
    };
    for (const Exchange<RankId>& exchange : round.exchanges) {
      const int meeting = topology.meeting_level(exchange.source, exchange.target);
      for (int level = 0; level < meeting; ++level) {
        add({level, topology.node_of(level, exchange.source)}, false, exchange.bytes);
        add({level, topology.node_of(level, exchange.target)}, true, exchange.bytes);
      }
    }
    sum += longest;
  }
  return sum;
}

}  // namespace reshard
