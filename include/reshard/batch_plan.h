// A plan of many tensors that move together, from layouts on one mesh to layouts on another.
//
// Tensors that move alike are planned once. A class is a source layout, a target layout and a turn: the turn makes
// equal tensors begin with different copies of their source, so that many small ones do not all burden the first. What
// a rank does with a class, it does with every tensor of it, so plans and certificates cost classes, not tensors.
//
// Order. All follows from the names: tensors are taken in ascending order of name, classes by the first name in them.
// Ranks that list the same tensors in different orders, or layouts more than once, make the same plan.
//
// Packing. Of what goes from one rank to another, transfers of less than `pack_below` bytes are put together, in the
// order of tensors(), into messages that are staged at both ends; the others go straight to their place. A rank divides
// PlanOptions::staging_limit into three equal slots: one for the message that it takes apart, two for those that others
// fetch. A message fits its slot, so the limit holds on every rank, and both ends find the same messages by themselves.
//
// Thread rule: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reshard/plan.h"
#include "reshard/rounds.h"

namespace reshard {

struct BatchOptions {
  PlanOptions plan = {};  // its rotation is added to every turn
  // Smaller transfers share messages, if one fits into a slot; 0 packs nothing.
  Index pack_below = Index{64} << 10;
  friend bool operator==(const BatchOptions&, const BatchOptions&) = default;
};

// A tensor that moves; the numbers are places in the lists of its batch.
struct BatchTensor {
  std::string name;
  int source = 0;
  int target = 0;
  friend bool operator==(const BatchTensor&, const BatchTensor&) = default;
};

// What moves, in any order.
struct Batch {
  std::vector<Layout> sources;
  std::vector<Layout> targets;
  std::vector<BatchTensor> tensors;
  // Lists each layout once. Cost: O(layouts listed).
  void add(std::string name, const Layout& source, const Layout& target);
};

// Tensors [first, first + count) of the plan move alike.
struct BatchClass {
  int source = 0;  // places in sources() and targets()
  int target = 0;
  Index turn = 0;  // PlanOptions::rotation, modulo the number of copies
  Index first = 0;
  Index count = 0;
  friend bool operator==(const BatchClass&, const BatchClass&) = default;
};

// What is done with every tensor of a class.
struct ClassTransfer {
  int of_class = 0;
  Transfer transfer;
  friend bool operator==(const ClassTransfer&, const ClassTransfer&) = default;
};

// All that goes to one peer, or comes from it, by class.
struct PeerTransfers {
  RankId peer;
  std::vector<ClassTransfer> transfers;
  friend bool operator==(const PeerTransfers&, const PeerTransfers&) = default;
};

// One rank's part of all tensors. What rank a sends to b equals what b receives from a.
struct RankBatch {
  RankId rank;
  std::vector<ClassTransfer> copies;
  std::vector<PeerTransfers> sends;  // by ascending peer
  std::vector<PeerTransfers> receives;
};

struct BatchCertificate {
  // Over all tensors. RankBytes::messages_out and _in count peers; `messages` are those after packing.
  Certificate totals;
  Index transfers = 0;  // between ranks, one per tensor and pair: the messages without packing
  // All that goes between two ranks, by ascending target, then source.
  std::vector<RankMessage> pairs;
};

class BatchPlan {
 public:
  // Throws Error(invalid_argument) that names the tensor: a name that appears twice, a layout that is not listed; and
  // as plan() does for a pair of layouts, with the first tensor that has it.
  explicit BatchPlan(Batch batch, BatchOptions options = {});

  const BatchOptions& options() const { return options_; }
  // By class, then name: the order of all that moves.
  std::span<const BatchTensor> tensors() const { return tensors_; }
  std::span<const BatchClass> classes() const { return classes_; }
  // Distinct ones.
  std::span<const Layout> sources() const { return sources_; }
  std::span<const Layout> targets() const { return targets_; }
  const Layout& source(const BatchClass& c) const { return sources_[static_cast<std::size_t>(c.source)]; }
  const Layout& target(const BatchClass& c) const { return targets_[static_cast<std::size_t>(c.target)]; }
  PlanOptions options(const BatchClass& c) const;
  // 64-bit digest of names, layouts and options: the same on every rank that plans the same, unequal for others.
  std::uint64_t fingerprint() const;

  // Cost: O(classes + the rank's transfers of each).
  RankBatch of_rank(RankId rank) const;
  // Every rank. Cost: O(transfers of all classes), whatever the number of tensors.
  BatchCertificate certificate() const;
  // The whole plan of each tensor of the class.
  Plan plan(const BatchClass& c) const { return reshard::plan(source(c), target(c), options(c)); }

 private:
  BatchOptions options_;
  std::vector<Layout> sources_;
  std::vector<Layout> targets_;
  std::vector<BatchTensor> tensors_;
  std::vector<BatchClass> classes_;
};

}  // namespace reshard
