// Megatron's description of a sharded model, and the plan that moves such a model between two sets of ranks.
//
// A roster lists one record per rank and tensor, as a training job gathers them: what the rank calls the tensor, what
// it stores, and the groups of ranks it shares the tensor with. Groups mean, to a tensor:
//   TP            cut along partition_dim: contiguous; `stride` pieces (fused gate/up); pieces of `sizes` (fused q/k/v)
//   GTP (remat)   window over dimension 0 of what TP leaves, padded at the tail; padding belongs to nobody
//   expert TP     is the TP group of an expert's tensors
//   EP, PP        which experts and layers exist here: only names change, never slices
//   DP            equal copies
// Local size n of dimension 0 under GTP of G ranks holds T = n G - pad rows of the TP-local tensor; the global size is
// T times the size of the TP group.
//
// Planning is pure. A record is found by its name, and a name costs its records and what is moved of it: shards are
// found by sorted runs along each dimension, never by comparing all sources with all targets.
//
// Thread rule: plain values are as usual; ShardPlanner is confined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"
#include "reshard/plan.h"

namespace reshard::megatron {

// Ranks in order; the place in the list is the index in the group. Copies share one list. Immutable.
class RankGroup {
 public:
  RankGroup() = default;  // not given
  // An empty list is a group that is not given. Throws Error(invalid_argument) for a negative rank or one listed twice.
  explicit RankGroup(std::vector<RankId> ranks);

  bool given() const { return list_ != nullptr; }
  Index size() const;
  const std::vector<RankId>& ranks() const;
  // Nothing for a rank outside. Cost: O(log size).
  std::optional<Index> index_of(RankId rank) const;
  std::string text() const;  // "[0,2,4]"
  friend bool operator==(const RankGroup& a, const RankGroup& b);

 private:
  struct List;
  std::shared_ptr<const List> list_;
};

// One tensor of one rank (ParameterMetadata).
struct Parameter {
  std::string name;           // on its owner
  std::string resolved_name;  // in the whole model: what sources and targets are matched by; empty = see with_names
  std::vector<Index> shape;   // stored, padding included
  Dtype dtype = Dtype::f32;
  RankId owner;
  bool is_tp = false;
  int partition_dim = 0;  // negative counts from the end
  Index partition_stride = 1;
  std::vector<Index> partition_sizes;  // per rank; wins over the stride
  bool is_gtp = false;
  Index gtp_pad = 0;  // rows, over the whole group
  bool is_ep = false;
  Index num_experts = 0;
  std::optional<Index> global_expert;
  RankGroup tp_group, gtp_group, ep_group, dp_group, pp_group;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// A module with a layer number: "decoder.layers.0" of rank 1 is layer 17 (1-based) of the model.
struct NumberedModule {
  RankId rank;
  std::string path;
  Index layer_number = 1;
  friend bool operator==(const NumberedModule&, const NumberedModule&) = default;
};

// A part of a composite model, with another path on either side and the same label.
struct Component {
  std::string label;
  std::string path;  // "" = the whole model
  friend bool operator==(const Component&, const Component&) = default;
};

struct Roster {
  std::vector<Parameter> parameters;  // those of one rank in the order in which it plans them
  std::vector<NumberedModule> modules;
  std::vector<Component> components;  // none = the model is one
  friend bool operator==(const Roster&, const Roster&) = default;
};

struct Rosters {
  Roster sources;
  Roster targets;
  friend bool operator==(const Rosters&, const Rosters&) = default;
};

// Reads {"groups": {..}, "sources": {..}, "targets": {..}}; docs/design/megatron.md has the format.
// Throws Error(corrupt) that names side, record and field.
Rosters rosters_from_json(std::string_view json);
// The same format; equal rank lists are written once.
std::string rosters_json(const Rosters& rosters);

// Fills every empty resolved_name: numbers of layers and of experts become those of the whole model, and a component's
// path its label. Throws Error(invalid_argument) that names rank, tensor and number.
Roster with_names(Roster roster);

// Who sends, of equal copies.
//   balanced   the target's own; else, target by target in ascending order, the copy with the fewest bytes so far: none
//              sends more than its fair share plus one target's part, and a target of a higher rank changes nothing for
//              the others. The first to send differs from tensor to tensor.
//   megatron   the target's own tensor parallel group; else groups of copies in order, the target's rank modulo their
//              number, and its quotient modulo the number of copies; all shards from the tensor parallel group of that
enum class SourceRule { balanced, megatron };

// What a side without partition sizes means where the other has them. The two readings move different bytes.
enum class MixedPacking {
  refuse,
  plain,   // a cut of the whole as it stands, packed or not
  packed,  // pieces like those of the other side, each cut on its own
};

struct ShardOptions {
  SourceRule rule = SourceRule::balanced;
  MixedPacking mixed = MixedPacking::refuse;
};

// One box. The same target parameter and number name it on both ends, whoever plans it and whoever else takes part.
struct ShardOperation {
  RankId source;
  RankId target;
  Index source_parameter = 0;  // places in the rosters
  Index target_parameter = 0;
  Index number = 0;       // among the boxes of the target parameter, by where they begin in it
  std::vector<Span> box;  // one per dimension; none for a 0-d tensor
  Index elements() const;
  friend bool operator==(const ShardOperation&, const ShardOperation&) = default;
};

struct ShardPlan {
  // By target rank, then in the target's order of parameters, then by number. In the plan of all ranks the place in the
  // list is Megatron's task id.
  std::vector<ShardOperation> operations;
  std::vector<std::string> unwanted;  // resolved names that the sources hold and no target asks for, ascending
  Index steps = 0;                    // records, runs and boxes looked at: the work done
};

class ShardPlanner {
 public:
  // Rosters must have names and outlive the planner. Cost: O(records), one look-up by name each.
  // Throws Error(invalid_argument) for a record without a name in the whole model.
  explicit ShardPlanner(const Rosters& rosters, ShardOptions options = {});
  ~ShardPlanner();
  ShardPlanner(const ShardPlanner&) = delete;
  ShardPlanner& operator=(const ShardPlanner&) = delete;

  // What `rank` sends and receives. Cost: the records of the names it holds, and the boxes of its shards and their
  // copies. Errors in names that it does not hold are not noticed; plan() notices all.
  // Throws Error(invalid_argument) that names tensor, ranks, values and the way out: no source; shapes or dtypes that
  // differ; groups that are missing, disagree or lack their owner; sizes, strides and padding that do not fit; shards
  // that overlap or are missing; different tensors of one name. Throws Error(unsupported) for what Megatron's own
  // planners read in two ways, and for experts fused in one tensor whose number of parts changes.
  ShardPlan plan(RankId rank);
  // All ranks.
  ShardPlan plan();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Proves a plan of all ranks right from the rosters alone: every box names the same elements at both ends, the sender
// holds them, and every element of every target is written once, padding never. No faults if so.
std::vector<Fault> verify(const Rosters& rosters, const ShardPlan& plan, const ShardOptions& options = {});

// A tensor of a roster as a layout on the axes dp, gtp and tp, as far as it has them.
// Throws Error(unsupported) with the reason where it has no such form: missing ranks, copies that are cut differently,
// fused experts.
Layout layout_of(const Roster& roster, std::string_view resolved_name);
// One record per rank of the mesh that holds the tensor, by ascending rank, named `name` in the whole model too.
// Throws Error(unsupported) with the reason for what Megatron has no words for.
std::vector<Parameter> parameters_of(const Layout& layout, std::string_view name);

}  // namespace reshard::megatron
