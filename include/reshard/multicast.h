// One to many: a plan whose receivers want the same bytes, as hops that may forward what has arrived already.
//
// A plan splits into pieces: what one source shard has and one target shard wants. Every rank of the source shard can
// send a piece, every rank of the target shard wants it, and those that have received it can pass it on. A scheme says
// who passes it to whom:
//
//   star      the plan as it is: each receiver is sent the piece by the copy that the plan chose
//   chain     from the source through the receivers, node by node, in chunks that follow each other
//   tree      binomial over the topology: first between sites, then racks, hosts, ranks
//   scatter   cut into parts that enter the target mesh at different ranks and go around it: scatter, then all-gather
//
// In all but star, holders of a piece serve the node that they are in, and a node without a holder is entered once by
// each byte, which is the least there can be. Chain and scatter leave a node once per byte and holder's node; the root
// of a tree leaves it once for each child. Costs for n receivers of a piece of B bytes in k chunks, on equal links:
//
//   star  n B/r     chain  (n - 1 + k) (alpha + B/(k r))     tree  ~ log2(n + 1) B/r     scatter  ~ B/r, n parts
//
// Everything is derived from plan and topology alone, so every rank finds the same hops.
//
// Thread rule: immutable.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/plan.h"
#include "reshard/predict.h"
#include "reshard/topology.h"

namespace reshard {

enum class Scheme { star, chain, tree, scatter };
std::string_view name_of(Scheme scheme);
std::optional<Scheme> scheme_named(std::string_view name);
std::span<const Scheme> all_schemes();

struct MulticastOptions {
  // Chunks of a piece in chain and tree, and the least number of parts in scatter, as far as its elements allow;
  // 0 = by its bytes and the topology, at most 64, of 64 KiB or more.
  Index chunks = 0;
};

// The same local places of every sender and every receiver.
struct MulticastPiece {
  std::vector<std::vector<Span>> dims;  // from a source buffer to a target buffer, as in Transfer
  Index elements = 0;
  int chunk_dim = 0;  // the dimension that chunks divide
};

// One message, or a copy of a rank to itself.
struct Hop {
  RankId from;
  RankId to;
  Index piece = 0;
  Index chunk = 0;   // this one of
  Index chunks = 1;  // so many
  // The hop that brought the data to `from`, which reads it from its target buffer then; -1: from its source buffer.
  Index after = -1;
  bool is_local() const { return from == to; }
  friend bool operator==(const Hop&, const Hop&) = default;
};

class Multicast {
 public:
  Multicast(Layout source, Layout target, Scheme scheme, std::vector<MulticastPiece> pieces, std::vector<Hop> hops);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  Scheme scheme() const { return scheme_; }
  std::span<const MulticastPiece> pieces() const { return pieces_; }
  // Each after the one that it waits for.
  std::span<const Hop> hops() const { return hops_; }
  Index bytes(const Hop& hop) const;
  // What the hop moves, from the source or (after >= 0) the target buffer of `from` to the target buffer of `to`.
  Transfer transfer(const Hop& hop) const;

  // A line per hop. Stable.
  std::string text() const;

 private:
  Layout source_;
  Layout target_;
  Scheme scheme_;
  std::vector<MulticastPiece> pieces_;
  std::vector<Hop> hops_;
};

// Cost: O(hops * levels). Throws Error(invalid_argument) for ranks that the topology lacks, Error(unsupported) for
// pending reductions and more than 2^26 hops.
Multicast multicast(const Plan& plan, const Topology& topology, Scheme scheme, const MulticastOptions& = {});

// Seconds until the last hop has ended: each begins as soon as its data is there and every link on its way is free, in
// the order in which they can; a link is busy for alpha + bytes / rate. Cost: O(hops log hops).
double seconds_of(const Multicast& multicast, const Topology& topology);
// Every hop as a message, `times` over. What must cross is that of the plan: LinkTraffic::add_bound.
void add_hops(LinkTraffic& traffic, const Multicast& multicast, Index times = 1);

// Proves that hops fill the target of the plan's layouts, whatever order their dependencies leave open: every element
// arrives once where it is wanted and not held, from a rank that holds it or has been sent it before. Derives
// everything from the layouts. Returns all faults found, none for correct hops.
std::vector<Fault> verify(const Multicast& multicast);

// Whether any piece has more than one receiver: if not, there is nothing to forward.
bool has_common_receivers(const Plan& plan);

struct SchemeCost {
  Scheme scheme = Scheme::star;
  double seconds = 0;       // seconds_of
  double link_seconds = 0;  // of the busiest link, without waits
  Index hops = 0;           // between two ranks
};
// All schemes in the order of all_schemes().
std::vector<SchemeCost> scheme_costs(const Plan& plan, const Topology& topology, const MulticastOptions& = {});
// The least seconds; of equals the first. Precondition: not empty.
Scheme fastest(std::span<const SchemeCost> costs);

}  // namespace reshard
