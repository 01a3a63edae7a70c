// One rank's moves, or all: tensors by name, and the moves of each.
#include <algorithm>
#include <unordered_map>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/megatron/names.h"
#include "plan/megatron/tensor_moves.h"

namespace reshard::megatron {
namespace {

struct Tensor {
  std::vector<Index> sources;
  std::map<std::string_view, std::vector<Index>> targets;  // by resolved name: its own, and one tied to it
  std::unique_ptr<TensorMoves> moves;
};

struct RankRecords {
  std::vector<Index> sources;
  std::vector<Index> targets;
};

}  // namespace

struct ShardPlanner::State {
  const Rosters& rosters;
  ShardOptions options;
  std::unordered_map<std::string_view, Tensor> tensors;         // of the sources
  std::unordered_map<std::string_view, std::string_view> tied;  // names of targets that another source fills
  std::map<RankId, RankRecords> ranks;

  const Parameter& source(Index record) const { return rosters.sources.parameters[static_cast<std::size_t>(record)]; }
  const Parameter& target(Index record) const { return rosters.targets.parameters[static_cast<std::size_t>(record)]; }

  void add_sources() {
    for (Index k = 0; k < std::ssize(rosters.sources.parameters); ++k) {
      check_named(source(k), "source");
      tensors[source(k).resolved_name].sources.push_back(k);
      ranks[source(k).owner].sources.push_back(k);
    }
  }

  void add_targets() {
    for (Index k = 0; k < std::ssize(rosters.targets.parameters); ++k) {
      check_named(target(k), "target");
      ranks[target(k).owner].targets.push_back(k);
      if (Tensor* tensor = find(target(k).resolved_name)) tensor->targets[target(k).resolved_name].push_back(k);
    }
  }

  static void check_named(const Parameter& parameter, std::string_view side) {
    if (parameter.resolved_name.empty())
      fail(Code::invalid_argument, "tensor '{}' of {} rank {} has no resolved name: see with_names", parameter.name,
           side, parameter.owner.value());
  }

  // The tensor of the sources that fills targets of this name.
  Tensor* find(std::string_view name) {
    if (const auto found = tensors.find(name); found != tensors.end()) return &found->second;
    if (const auto known = tied.find(name); known != tied.end()) return &tensors.at(known->second);
    for (const std::string& other : tied_names(name))
      if (const auto found = tensors.find(other); found != tensors.end()) {
        tied[name] = found->first;
        return &found->second;
      }
    return nullptr;
  }

  TensorMoves& moves(std::string_view name, Tensor& tensor, Index& steps) {
    if (!tensor.moves) {
      const auto source_name = tied.find(name);
      tensor.moves =
          std::make_unique<TensorMoves>(rosters, options, source_name == tied.end() ? name : source_name->second,
                                        tensor.sources, tensor.targets, steps);
    }
    return *tensor.moves;
  }

  std::vector<ShardOperation> receives(Index record, Index& steps) {
    const Parameter& wanted = target(record);
    Tensor* tensor = find(wanted.resolved_name);
    if (tensor == nullptr)
      fail(Code::invalid_argument,
           "tensor '{}': target rank {} wants it (locally '{}') and no source rank holds it; check the numbers of "
           "layers and experts, or leave it out of the targets",
           wanted.resolved_name, wanted.owner.value(), wanted.name);
    return moves(wanted.resolved_name, *tensor, steps).receives(record, steps);
  }

  // Appends the boxes of a target that `keep` accepts.
  template <class Keep>
  void append(ShardPlan& plan, Index record, const Keep& keep) {
    for (ShardOperation& operation : receives(record, plan.steps))
      if (keep(operation)) plan.operations.push_back(std::move(operation));
  }
};

Index ShardOperation::elements() const {
  Index elements = 1;
  for (const Span& span : box) elements *= span.length;
  return elements;
}

ShardPlanner::ShardPlanner(const Rosters& rosters, ShardOptions options)
    : state_(std::make_unique<State>(State{rosters, options, {}, {}, {}})) {
  state_->add_sources();
  state_->add_targets();
}

ShardPlanner::~ShardPlanner() = default;

ShardPlan ShardPlanner::plan() {
  ShardPlan plan;
  for (const auto& [rank, records] : state_->ranks)
    for (const Index record : records.targets) state_->append(plan, record, [](const ShardOperation&) { return true; });
  for (const auto& [name, tensor] : state_->tensors)
    if (tensor.targets.empty()) plan.unwanted.emplace_back(name);
  std::ranges::sort(plan.unwanted);
  return plan;
}

ShardPlan ShardPlanner::plan(RankId rank) {
  ShardPlan plan;
  const auto own = state_->ranks.find(rank);
  if (own == state_->ranks.end()) return plan;
  std::set<std::pair<RankId, Index>> fed;  // targets of what this rank holds, in the order of the plan
  std::set<std::string_view> held;
  for (const Index record : own->second.sources) {
    const std::string_view name = state_->source(record).resolved_name;
    if (!held.insert(name).second) continue;
    Tensor& tensor = state_->tensors.at(name);
    if (tensor.targets.empty()) plan.unwanted.emplace_back(name);
    if (tensor.targets.empty()) continue;
    for (const Index target : state_->moves(name, tensor, plan.steps).receivers_of(rank, plan.steps))
      fed.insert({state_->target(target).owner, target});
  }
  for (const Index record : own->second.targets) fed.insert({rank, record});
  for (const auto& [target, record] : fed)
    state_->append(plan, record, [&](const ShardOperation& operation) {
      return operation.source == rank || operation.target == rank;
    });
  std::ranges::sort(plan.unwanted);
  return plan;
}

}  // namespace reshard::megatron
