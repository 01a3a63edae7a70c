#include "reshard/multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/fail.h"
#include "plan/multicast_pieces.h"
#include "plan/multicast_route.h"

namespace reshard {
namespace {

constexpr Index kMostChunks = 64;
constexpr Index kGreatestChunks = Index{1} << 20;  // that a caller may ask for
constexpr Index kLeastChunkBytes = Index{1} << 16;
constexpr Index kMostHops = Index{1} << 26;

constexpr std::array kSchemes = {Scheme::star, Scheme::chain, Scheme::tree, Scheme::scatter};
constexpr std::array<std::string_view, 4> kNames = {"star", "chain", "tree", "scatter"};

Index length_of(const std::vector<Span>& spans) {
  Index length = 0;
  for (const Span& span : spans) length += span.length;
  return length;
}

// Where chunk `chunk` of `chunks` begins among `length` elements: chunks differ by one at most.
Index chunk_begin(Index length, Index chunk, Index chunks) {
  return length / chunks * chunk + length % chunks * chunk / chunks;
}

// Elements [begin, end) of the spans laid end to end.
std::vector<Span> cut_out(const std::vector<Span>& spans, Index begin, Index end) {
  std::vector<Span> part;
  Index before = 0;
  for (const Span& span : spans) {
    const Index from = std::max(begin - before, Index{0}), to = std::min(end - before, span.length);
    if (from < to) part.push_back({span.source + from, span.target + from, to - from});
    before += span.length;
  }
  return part;
}

// The first dimension long enough, so that chunks are contiguous; else the longest.
int chunk_dim_of(const std::vector<std::vector<Span>>& dims, Index chunks) {
  int longest = 0;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    const Index length = length_of(dims[static_cast<std::size_t>(d)]);
    if (length >= chunks) return d;
    if (length > length_of(dims[static_cast<std::size_t>(longest)])) longest = d;
  }
  return longest;
}

class Builder {
 public:
  Builder(const Plan& plan, const Topology& topology, Scheme scheme, const MulticastOptions& options)
      : plan_(plan),
        topology_(topology),
        scheme_(scheme),
        options_(options),
        bytes_each_(bytes_of(plan.source().dtype())),
        router_(topology) {}

  Multicast build() && {
    const PlanPieces pieces = pieces_of(plan_);
    Index target_shard = -1;
    for (const PlanPiece& piece : pieces.pieces) {
      turn_ = piece.target_shard == target_shard ? turn_ + 1 : 0;
      target_shard = piece.target_shard;
      add(piece, pieces.holders[static_cast<std::size_t>(piece.holders)]);
    }
    sort();
    return Multicast(plan_.source(), plan_.target(), scheme_, std::move(pieces_), std::move(hops_));
  }

 private:
  void add(const PlanPiece& piece, const std::vector<RankId>& holders) {
    const Transfer& example = plan_.transfers()[piece.example];
    const auto count = static_cast<Index>(piece.sent.size());
    const Index bytes = example.elements() * bytes_each_;
    const bool forwards = scheme_ != Scheme::star && count > 0;
    Index chunks = forwards && count > 1 ? wanted_chunks(piece, holders, bytes) : 1;
    const int dim = chunk_dim_of(example.dims, chunks);
    if (example.dims.empty()) {
      chunks = 1;
    } else {
      chunks = std::clamp(length_of(example.dims[static_cast<std::size_t>(dim)]), Index{1}, chunks);
    }
    pieces_.push_back({example.dims, example.elements(), dim});
    for (const std::size_t k : piece.kept) {
      const RankId rank = plan_.transfers()[k].target;
      push({rank, rank, std::ssize(pieces_) - 1}, 0);
    }
    if (forwards) {
      forward(piece, holders, bytes, chunks);
    } else {
      for (const std::size_t k : piece.sent)
        push({plan_.transfers()[k].source, plan_.transfers()[k].target, std::ssize(pieces_) - 1}, 0);
    }
  }

  std::vector<RankId> receivers_of(const PlanPiece& piece) const {
    std::vector<RankId> receivers;
    for (const std::size_t k : piece.sent) receivers.push_back(plan_.transfers()[k].target);
    std::ranges::sort(receivers, {}, [&](RankId rank) { return topology_.place_of(rank); });
    return receivers;
  }

  static void check(const std::vector<RankId>& receivers, const std::vector<RankId>& holders) {
    for (const RankId rank : receivers)
      if (std::ranges::binary_search(holders, rank))
        fail(Code::invalid_argument, "the plan sends rank {} what it holds; verify the plan", rank.value());
    if (std::ranges::adjacent_find(receivers) != receivers.end())
      fail(Code::invalid_argument, "the plan sends rank {} the same twice; verify the plan",
           std::ranges::adjacent_find(receivers)->value());
  }

  void forward(const PlanPiece& piece, const std::vector<RankId>& holders, Index bytes, Index chunks) {
    const std::vector<RankId> receivers = receivers_of(piece);
    check(receivers, holders);
    std::vector<RouteEdge> route;
    Index stride = 1;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const bool own_way = scheme_ == Scheme::scatter;
      if (chunk == 0 || own_way) {
        route = router_.route(scheme_, holders, receivers, turn_ + chunk, own_way ? bytes / chunks : bytes);
        stride = scheme_ == Scheme::tree ? most_sends(route) : 1;
      }
      const auto first = std::ssize(hops_);
      for (const RouteEdge& edge : route)
        push({edge.from, edge.to, std::ssize(pieces_) - 1, chunk, chunks, edge.after < 0 ? -1 : first + edge.after},
             edge.step + chunk * stride);
    }
  }

  // Steps that one chunk takes at the rank that sends the most.
  static Index most_sends(const std::vector<RouteEdge>& route) {
    std::map<RankId, Index> sends;
    Index most = 1;
    for (const RouteEdge& edge : route) most = std::max(most, ++sends[edge.from]);
    return most;
  }

  // (n - 1 + k) (alpha + B / (k r)) is least at k = sqrt((n - 1) B / (alpha r)), with the slowest link of the way.
  Index wanted_chunks(const PlanPiece& piece, const std::vector<RankId>& holders, Index bytes) const {
    const auto count = static_cast<Index>(piece.sent.size());
    const Index parts = scheme_ == Scheme::scatter ? std::min(count, kMostChunks) : 1;
    if (options_.chunks > 0) return std::max(options_.chunks, parts);
    LinkCost slowest{0, 0};
    for (const std::size_t k : piece.sent) {
      const RankId to = plan_.transfers()[k].target;
      for (int level = 0; level < topology_.meeting_level(holders.front(), to); ++level) {
        const LinkCost& link = topology_.link({level, topology_.node_of(level, to)});
        slowest.alpha = std::max(slowest.alpha, link.alpha);
        slowest.rate = slowest.rate == 0 ? link.rate : std::min(slowest.rate, link.rate);
      }
    }
    double best = static_cast<double>(kMostChunks);
    if (slowest.alpha > 0 && slowest.rate > 0)
      best = std::sqrt(static_cast<double>(count - 1) * static_cast<double>(bytes) / (slowest.alpha * slowest.rate));
    const Index chunks = std::clamp(static_cast<Index>(std::min(best, 1e9)), Index{1}, kMostChunks);
    return std::clamp(std::max(chunks, parts), Index{1}, std::max(bytes / kLeastChunkBytes, Index{1}));
  }

  void push(const Hop& hop, Index step) {
    if (std::ssize(hops_) == kMostHops)
      fail(Code::unsupported, "{} -> {}: more than {} hops", plan_.source().text(), plan_.target().text(), kMostHops);
    hops_.push_back(hop);
    steps_.push_back(step);
  }

  // By step, so that each rank meets its hops about in the order in which they can run.
  void sort() {
    std::vector<std::size_t> order(hops_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return steps_[k]; });
    std::vector<Index> place(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<Index>(k);
    std::vector<Hop> sorted;
    sorted.reserve(hops_.size());
    for (const std::size_t k : order) {
      sorted.push_back(hops_[k]);
      if (Index& after = sorted.back().after; after >= 0) after = place[static_cast<std::size_t>(after)];
    }
    hops_ = std::move(sorted);
  }

  const Plan& plan_;
  const Topology& topology_;
  Scheme scheme_;
  const MulticastOptions& options_;
  Index bytes_each_;
  HopRouter router_;
  Index turn_ = 0;  // number of the piece among those of its target shard
  std::vector<MulticastPiece> pieces_;
  std::vector<Hop> hops_;
  std::vector<Index> steps_;
};

}  // namespace

std::string_view name_of(Scheme scheme) { return kNames[static_cast<std::size_t>(scheme)]; }

std::optional<Scheme> scheme_named(std::string_view name) {
  for (const Scheme scheme : kSchemes)
    if (name_of(scheme) == name) return scheme;
  return std::nullopt;
}

std::span<const Scheme> all_schemes() { return kSchemes; }

Multicast::Multicast(Layout source, Layout target, Scheme scheme, std::vector<MulticastPiece> pieces,
                     std::vector<Hop> hops)
    : source_(std::move(source)),
      target_(std::move(target)),
      scheme_(scheme),
      pieces_(std::move(pieces)),
      hops_(std::move(hops)) {}

Index Multicast::bytes(const Hop& hop) const {
  const MulticastPiece& piece = pieces_[static_cast<std::size_t>(hop.piece)];
  const Index bytes = piece.elements * bytes_of(source_.dtype());
  if (hop.chunks == 1) return bytes;
  const Index length = length_of(piece.dims[static_cast<std::size_t>(piece.chunk_dim)]);
  return bytes / length * (chunk_begin(length, hop.chunk + 1, hop.chunks) - chunk_begin(length, hop.chunk, hop.chunks));
}

Transfer Multicast::transfer(const Hop& hop) const {
  const MulticastPiece& piece = pieces_[static_cast<std::size_t>(hop.piece)];
  Transfer transfer{hop.from, hop.to, piece.dims};
  if (hop.chunks > 1) {
    std::vector<Span>& spans = transfer.dims[static_cast<std::size_t>(piece.chunk_dim)];
    const Index length = length_of(spans);
    spans = cut_out(spans, chunk_begin(length, hop.chunk, hop.chunks), chunk_begin(length, hop.chunk + 1, hop.chunks));
  }
  if (hop.after < 0) return transfer;
  for (std::vector<Span>& spans : transfer.dims)
    for (Span& span : spans) span.source = span.target;
  return transfer;
}

std::string Multicast::text() const {
  std::string out = fmt::format("{}\nsource {}\ntarget {}\n", name_of(scheme_), source_.text(), target_.text());
  for (std::size_t k = 0; k < hops_.size(); ++k) {
    const Hop& hop = hops_[k];
    out += fmt::format("{}: {} -> {} piece {} chunk {}/{}", k, hop.from.value(), hop.to.value(), hop.piece, hop.chunk,
                       hop.chunks);
    out += hop.after < 0 ? "\n" : fmt::format(" after {}\n", hop.after);
  }
  return out;
}

Multicast multicast(const Plan& plan, const Topology& topology, Scheme scheme, const MulticastOptions& options) {
  topology.check(plan.source().mesh().end_rank(), "the source's mesh");
  topology.check(plan.target().mesh().end_rank(), "the target's mesh");
  if (options.chunks < 0 || options.chunks > kGreatestChunks)
    fail(Code::invalid_argument, "{} chunks; give 1 to {}, or 0 to choose by the topology", options.chunks,
         kGreatestChunks);
  return Builder(plan, topology, scheme, options).build();
}

bool has_common_receivers(const Plan& plan) {
  return std::ranges::any_of(pieces_of(plan).pieces, [](const PlanPiece& piece) { return piece.sent.size() > 1; });
}

}  // namespace reshard
