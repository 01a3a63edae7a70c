#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/message_check.h"
#include "plan/numbering.h"
#include "reshard/rounds.h"

namespace reshard {
namespace {

std::size_t at_index(Index k) { return static_cast<std::size_t>(k); }

enum Side : std::size_t { kSender, kReceiver };
constexpr std::array kSides{kSender, kReceiver};
constexpr Side other(Side side) { return side == kSender ? kReceiver : kSender; }

// A message between ranks numbered apart, in chunks of the least length.
struct Edge {
  std::array<Index, 2> ends{};
  Index message = 0;
  Index bytes = 0;
  Index left = 0;  // chunks
  Index done = 0;
};

// Empties a weighted bipartite graph, matching by matching.
//
// A rank is critical while as much is left of its messages as of any rank's. Some matching holds all critical ranks
// (Hall, for each side alone; Mendelsohn and Dulmage for both). It stays until one of its messages is through, or until
// a rank that it does not serve as long becomes critical: at least one of both, so rounds are at most as many as
// messages and ranks; and what is left of the greatest load falls by what the round lasts.
class Emptying {
 public:
  Emptying(std::vector<Edge> edges, std::array<std::size_t, 2> ranks) : edges_(std::move(edges)) {
    for (const Side side : kSides) {
      loads_[side].resize(ranks[side]);
      matched_[side].assign(ranks[side], -1);
      around_[side].resize(ranks[side]);
    }
    for (std::size_t k = 0; k < edges_.size(); ++k)
      for (const Side side : kSides) {
        const std::size_t rank = at_index(edges_[k].ends[side]);
        around_[side][rank].push_back(static_cast<Index>(k));
        left_ = std::max(left_, loads_[side][rank] += edges_[k].left);
      }
  }
  bool done() const { return left_ == 0; }

  // The next matching, and for how many chunks it holds.
  Index next() {
    for (const Side side : kSides)
      for (std::size_t rank = 0; rank < loads_[side].size(); ++rank)
        if (is_critical(side, rank) && matched_[side][rank] < 0) cover(side, rank);
    add_free();
    Index chunks = left_;
    for (const Side side : kSides)
      for (std::size_t rank = 0; rank < loads_[side].size(); ++rank) {
        const Index edge = matched_[side][rank];
        chunks = std::min(chunks, left_ - loads_[side][rank] + (edge < 0 ? 0 : edges_[at_index(edge)].left));
      }
    return chunks;
  }
  std::span<const Index> matching() const { return matched_[kSender]; }  // edge of each sender, or -1
  const Edge& edge(Index k) const { return edges_[at_index(k)]; }

  void pass(Index chunks) {
    for (const Index k : std::vector<Index>(matched_[kSender])) {
      if (k < 0) continue;
      Edge& edge = edges_[at_index(k)];
      const Index passed = std::min(chunks, edge.left);
      edge.left -= passed;
      edge.done += passed;
      for (const Side side : kSides) {
        const std::size_t rank = at_index(edge.ends[side]);
        loads_[side][rank] -= passed;
        if (edge.left > 0) continue;
        matched_[side][rank] = -1;
        std::erase(around_[side][rank], k);
      }
    }
    left_ -= chunks;
  }

 private:
  bool is_critical(Side side, std::size_t rank) const { return loads_[side][rank] == left_; }

  // Gives a critical rank an edge, along an alternating path to a free rank of the other side, or to one of its own
  // side that is not critical and loses its edge.
  void cover(Side side, std::size_t begin) {
    std::vector<Index> via(loads_[other(side)].size(), -1);  // the edge by which a rank of the other side was reached
    std::vector<std::size_t> queue{begin};
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (const Index k : around_[side][queue[head]]) {
        const std::size_t reached = at_index(edges_[at_index(k)].ends[other(side)]);
        if (via[reached] >= 0) continue;
        via[reached] = k;
        const Index taken = matched_[other(side)][reached];
        const std::size_t holder = taken < 0 ? 0 : at_index(edges_[at_index(taken)].ends[side]);
        if (taken >= 0 && is_critical(side, holder)) {
          queue.push_back(holder);
          continue;
        }
        if (taken >= 0) matched_[side][holder] = -1;
        return turn(side, begin, reached, via);
      }
    fail(Code::internal, "weighted rounds: no matching holds all ranks with {} chunks left", left_);
  }
  // Takes the path back from `reached`.
  void turn(Side side, std::size_t begin, std::size_t reached, const std::vector<Index>& via) {
    for (;;) {
      const Index k = via[reached];
      const std::size_t rank = at_index(edges_[at_index(k)].ends[side]);
      const Index given_up = std::exchange(matched_[side][rank], k);
      matched_[other(side)][reached] = k;
      if (rank == begin) return;
      reached = at_index(edges_[at_index(given_up)].ends[other(side)]);
    }
  }
  void add_free() {
    for (std::size_t sender = 0; sender < loads_[kSender].size(); ++sender) {
      if (matched_[kSender][sender] >= 0) continue;
      const auto free = std::ranges::find_if(around_[kSender][sender], [&](Index k) {
        return matched_[kReceiver][at_index(edges_[at_index(k)].ends[kReceiver])] < 0;
      });
      if (free == around_[kSender][sender].end()) continue;
      matched_[kSender][sender] = *free;
      matched_[kReceiver][at_index(edges_[at_index(*free)].ends[kReceiver])] = *free;
    }
  }

  std::vector<Edge> edges_;
  std::array<std::vector<Index>, 2> loads_;                // chunks left of each rank
  std::array<std::vector<Index>, 2> matched_;              // edge of each rank, or -1
  std::array<std::vector<std::vector<Index>>, 2> around_;  // edges of each rank with chunks left, the longest first
  Index left_ = 0;                                         // the greatest load
};

// The graph of the messages that leave their rank, the longest first.
struct Graph {
  Numbering<RankId> senders, receivers;
  std::vector<Edge> edges;
  Index greatest_bytes = 0;
  Index greatest_messages = 0;  // at one rank
};

Graph graph_of(std::span<const RankMessage> messages) {
  Graph graph;
  for (std::size_t k = 0; k < messages.size(); ++k) {
    if (messages[k].source == messages[k].target || messages[k].bytes == 0) continue;
    graph.senders.add(messages[k].source);
    graph.receivers.add(messages[k].target);
    graph.edges.push_back({.message = static_cast<Index>(k), .bytes = messages[k].bytes});
  }
  graph.senders.close();
  graph.receivers.close();
  std::ranges::stable_sort(graph.edges, std::greater{}, &Edge::bytes);
  for (const Side side : kSides) {
    const Numbering<RankId>& ranks = side == kSender ? graph.senders : graph.receivers;
    std::vector<Index> bytes(ranks.size()), count(ranks.size());
    for (Edge& edge : graph.edges) {
      const RankMessage& message = messages[at_index(edge.message)];
      const Index rank = edge.ends[side] = ranks.number(side == kSender ? message.source : message.target);
      graph.greatest_bytes = std::max(graph.greatest_bytes, bytes[at_index(rank)] += edge.bytes);
      graph.greatest_messages = std::max(graph.greatest_messages, ++count[at_index(rank)]);
    }
  }
  return graph;
}

ChunkRound round_of(const Graph& graph, const Emptying& emptying, Index chunks, Index least) {
  ChunkRound round;
  for (const Index k : emptying.matching()) {
    if (k < 0) continue;
    const Edge& edge = emptying.edge(k);
    const Index begin = edge.done * least;
    const Index bytes = edge.left <= chunks ? edge.bytes - begin : chunks * least;
    round.chunks.push_back({graph.senders.place(edge.ends[kSender]), graph.receivers.place(edge.ends[kReceiver]),
                            edge.message, begin, bytes});
    round.longest = std::max(round.longest, bytes);
  }
  return round;
}

// Nothing if that takes more rounds than allowed.
std::optional<std::vector<ChunkRound>> rounds_by(const Graph& graph, Index least, Index most_rounds) {
  std::vector<Edge> edges = graph.edges;
  for (Edge& edge : edges) edge.left = ceil_div(edge.bytes, least);
  std::vector<ChunkRound> rounds;
  for (Emptying emptying(std::move(edges), {graph.senders.size(), graph.receivers.size()}); !emptying.done();) {
    if (most_rounds > 0 && std::ssize(rounds) == most_rounds) return std::nullopt;
    const Index chunks = emptying.next();
    rounds.push_back(round_of(graph, emptying, chunks, least));
    emptying.pass(chunks);
  }
  return rounds;
}

}  // namespace

ChunkRounds weighted_rounds(std::span<const RankMessage> messages, const ChunkOptions& options) {
  check_messages(messages);
  if (options.least < 1)
    fail(Code::invalid_argument, "rounds: chunks of at least {} bytes; give at least 1", options.least);
  const Graph graph = graph_of(messages);
  if (options.most_rounds < 0 || (options.most_rounds > 0 && options.most_rounds < graph.greatest_messages))
    fail(Code::invalid_argument,
         "rounds: one rank sends or receives {} messages, which no {} rounds hold; give as many",
         graph.greatest_messages, options.most_rounds);
  ChunkRounds result;
  for (std::size_t k = 0; k < messages.size(); ++k)
    if (messages[k].source == messages[k].target) {
      result.local.push_back(static_cast<Index>(k));
      result.local_bytes += messages[k].bytes;
    }
  result.greatest_bytes = graph.greatest_bytes;
  const Index longest = graph.edges.empty() ? 1 : graph.edges.front().bytes;
  for (result.least = options.least;; result.least = result.least > longest / 2 ? longest : 2 * result.least) {
    auto rounds = rounds_by(graph, result.least, options.most_rounds);
    if (!rounds) continue;
    result.rounds = std::move(*rounds);
    return result;
  }
}

}  // namespace reshard
