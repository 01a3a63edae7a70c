// A plan: every transfer that takes a tensor from a source layout to a target layout.
//
// Planning is pure and local: nothing is communicated, and every rank derives the same transfers in the same order. A
// rank's own part is found by descending the other layout's cuts from the rank's own segments, dimension by dimension,
// so it costs time proportional to its transfers, not to the number of ranks. Where a source shard has equal copies, it
// also costs the number of its copies (or of ranks on their hosts) and of the target shards that overlap it.
//
// A plan moves the fewest bytes: no element travels to a rank that holds it already, and every target element is
// written exactly once. The layouts may be on different, overlapping or equal meshes; ranks number the joint world of
// both.
//
// Partial layouts. A value that pends along axes of the source is k terms, one per coordinate of these axes, each moved
// like an element of its own: whoever wants the value receives every term it does not hold. Terms are folded at their
// target, in row-major order of their coordinates, in the dtype of the tensor (16-bit and 8-bit floats in f32, rounded
// once; integers wrap, averages of integers truncate toward zero; sum and max of bool are `or`, product and min `and`):
// the same bits on every rank and run, whatever the options. avg is a sum divided once.
// What stays pending, the same op along an axis of as many ranks, is not reduced: its terms move.
// A target that pends where the source is replicated along the same ranks gets the value at coordinate 0 and the
// identity of the op elsewhere (sum 0, product 1, min the greatest value, max the least), avg the value everywhere.
// Refused, Error(unsupported): any other target that pends; two kinds, as sum and max, reduced at once, because their
// order matters (sum and avg are one kind); min and max of complex numbers, avg of bool.
//
// Thread rule: immutable.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

// A run along one dimension that lies contiguously in the local memory of both ends (local indices of each end).
struct Span {
  LocalIndex source;
  LocalIndex target;
  Index length = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

// All that goes from one rank to another: the product of the spans of every dimension, a set of boxes.
// source == target is a local copy.
//
// Of a partial source, the first dimensions are its partial axes, in the order of the mesh, before those of the tensor.
// Each has one span of length 1: from 0, the one term that the sender holds, to the sender's coordinate along the axis
// if the axis is reduced, or to 0 if it stays pending.
struct Transfer {
  RankId source;
  RankId target;
  std::vector<std::vector<Span>> dims;  // sorted by target index, adjacent runs merged; empty for a 0-d tensor
  Index elements() const;
  Index boxes() const;
  bool is_local() const { return source == target; }
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// Which of several equal copies sends.
//   local      the target's own copy; else one on its host; else one in its rack; else balanced
//   balanced   receivers laid end to end by bytes and dealt to the copies in equal stretches: no copy sends more than
//              its fair share plus one receiver's part
//   optimal    whole transfers dealt so that the greatest load in bytes is the least there is; places as `local`
//   modulo     the target's number in its mesh, modulo the number of copies (ETHA)
//   megatron   Megatron's rule, for parity: ranks along the first replicated axis are a bucket; the target's rank picks
//              one by remainder, and its quotient picks within the bucket; whatever the rotation
// A rank that holds an element itself never receives it, whatever the policy.
enum class SenderPolicy { local, balanced, optimal, modulo, megatron };
std::string_view name_of(SenderPolicy policy);
std::optional<SenderPolicy> sender_policy_named(std::string_view name);
std::span<const SenderPolicy> all_sender_policies();

struct PlanOptions {
  SenderPolicy policy = SenderPolicy::local;
  // Ranks [k h, (k+1) h) share host k; 0 = hosts unknown. Used by `local` and `optimal`.
  Index ranks_per_host = 0;
  // Ranks [k r, (k+1) r) share rack k; 0 = racks unknown; a multiple of ranks_per_host. Used as hosts are.
  Index ranks_per_rack = 0;
  // Turns the choice among copies by this many places, so that many small tensors do not all burden the same copy.
  Index rotation = 0;
  // The most intermediate memory, in bytes, that a move may use on a rank (reductions, packing). Moves that need less
  // use less; one that cannot do with so little is refused.
  Index staging_limit = Index{1} << 20;
  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

// What one rank receives (local copies included), in ascending order of source rank.
// Throws Error(invalid_argument) when shapes or dtypes differ, or the staging limit does not hold one element of every
// term; Error(unsupported) for partial layouts between which no move is defined.
std::vector<Transfer> plan_receives(const Layout& source, const Layout& target, RankId rank, const PlanOptions& = {});
// What one rank sends (local copies included), in ascending order of target rank.
std::vector<Transfer> plan_sends(const Layout& source, const Layout& target, RankId rank, const PlanOptions& = {});

struct RankBytes {
  RankId rank;
  Index sent = 0;          // to other ranks
  Index received = 0;      // from other ranks
  Index copied = 0;        // from this rank to itself
  Index needed = 0;        // lower bound of received: target elements, or terms, that this rank does not hold already
  Index messages_out = 0;  // peers it sends to
  Index messages_in = 0;
  friend bool operator==(const RankBytes&, const RankBytes&) = default;
};

// What a plan costs beside what any plan must cost.
struct Certificate {
  std::vector<RankBytes> ranks;  // ranks of either mesh, ascending
  Index sent = 0;                // over all ranks
  Index needed = 0;              // lower bound of `sent`
  Index copied = 0;
  Index messages = 0;
  Index peak_staging = 0;    // bytes of intermediate memory per rank: only terms to be reduced need any
  double imbalance_out = 1;  // greatest bytes sent by a rank / mean over ranks that hold source data
  double imbalance_in = 1;   // greatest bytes received / mean over target ranks
  bool optimal() const { return sent == needed; }
};

class Plan {
 public:
  Plan(Layout source, Layout target, PlanOptions options, std::vector<Transfer> transfers);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  const PlanOptions& options() const { return options_; }
  // By ascending target rank, then source rank.
  std::span<const Transfer> transfers() const { return transfers_; }
  Certificate certificate() const;

  // One line per transfer, after a head with both layouts. Stable: equal plans print equally.
  std::string text() const;
  std::string json() const;
  friend bool operator==(const Plan& a, const Plan& b);

 private:
  Layout source_;
  Layout target_;
  PlanOptions options_;
  std::vector<Transfer> transfers_;
};

// The whole plan, all ranks. Cost: O(transfers). Throws Error(unsupported) for meshes of more than 2^26 ranks.
Plan plan(const Layout& source, const Layout& target, const PlanOptions& = {});
// The layouts that a move passes, each step a plan of its own: source and target; or between them the source with its
// pending sums scattered, each rank of the source reducing a part, where that moves fewer bytes in all, then for the
// busiest rank. Cost: O(ranks) for a source that is reduced, none otherwise. Throws as plan() does.
std::vector<Layout> stages(const Layout& source, const Layout& target);
// Reads what Plan::json wrote. Throws Error(corrupt) that names the entry at fault. The plan is not verified.
Plan plan_from_json(std::string_view json);

struct Fault {
  std::string message;  // names rank, transfer, dimension and interval
};
// Proves offline that a plan is right: every transfer within bounds of both ends, the sender owns what it sends, source
// and target name the same elements, every target element is written exactly once, no rank is sent what it holds.
// Returns all faults found, none for a correct plan. Derives everything from the layouts, nothing from the planner.
std::vector<Fault> verify(const Plan& plan);

}  // namespace reshard
