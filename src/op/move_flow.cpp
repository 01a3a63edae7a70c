// Moves between layouts as flows: the program of redistribute_program(), or of the stages that a move passes, one round
// after the other.
#include <algorithm>

#include "base/fail.h"
#include "op/flow.h"

namespace reshard {
namespace {

constexpr int kSource = 0, kTarget = 1, kStaging = 2;

// Of the windows of one stage, those of all stages together.
struct Renamed {
  int source, target, staging;
  int of(int window) const { return window == kSource ? source : window == kTarget ? target : staging; }
};

void rename_operation(Operation& operation, const Renamed& windows, std::uint64_t round, std::uint64_t rounds) {
  operation.source_window = windows.of(operation.source_window);
  operation.target_window = windows.of(operation.target_window);
  for (Reduction& reduction : operation.reductions) {
    reduction.result.window = windows.of(reduction.result.window);
    for (Operand& term : reduction.terms) term.window = windows.of(term.window);
  }
  if (operation.per_run == 0) return;
  operation.value += round;
  operation.per_run = rounds;
}

// The greatest need of each rank: stages use the same memory one after another.
WindowSpec staging_of(const std::vector<Program>& stages, Index ranks) {
  WindowSpec staging{.name = "staging", .bytes = std::vector<Index>(static_cast<std::size_t>(ranks))};
  for (const Program& stage : stages)
    for (std::size_t r = 0; stage.windows.size() > kStaging && r < staging.bytes.size(); ++r)
      staging.bytes[r] = std::max(staging.bytes[r], stage.windows[kStaging].bytes[r]);
  return staging;
}

Program chained(std::vector<Program> stages) {
  if (stages.size() == 1) return std::move(stages.front());
  Program all{.name = stages.front().name, .ranks = stages.front().ranks, .signals = stages.front().signals};
  all.windows = {stages.front().windows[kSource], stages.back().windows[kTarget], staging_of(stages, all.ranks)};
  all.operations.resize(static_cast<std::size_t>(all.ranks));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const int before = static_cast<int>(all.windows.size()) - 1;
    const bool is_first = stage == 0, is_last = stage + 1 == stages.size();
    if (!is_last) all.windows.push_back(stages[stage].windows[kTarget]);
    const Renamed windows{is_first ? kSource : before, is_last ? kTarget : before + 1, kStaging};
    if (!is_last) all.windows.back().name = "between stages";
    for (std::size_t r = 0; r < all.operations.size(); ++r)
      for (Operation& operation : stages[stage].operations[r]) {
        rename_operation(operation, windows, stage, stages.size());
        all.operations[r].push_back(std::move(operation));
      }
  }
  return all;
}

class MoveFlow : public Flow {
 public:
  MoveFlow(const Layout& source, const Layout& target, const PlanOptions& options)
      : options_(options), layouts_(stages(source, target)) {}

  std::string text() const override {
    return fmt::format("move, senders {} {} {} {}, staging {}", name_of(options_.policy), options_.ranks_per_host,
                       options_.ranks_per_rack, options_.rotation, options_.staging_limit);
  }
  Index rounds() const override { return static_cast<Index>(layouts_.size()) - 1; }
  const PlanOptions* move_options() const override { return &options_; }

  Program program(Index ranks, std::optional<RankId> only, const RankHosts& hosts) const override {
    std::vector<Program> programs;
    for (std::size_t k = 1; k < layouts_.size(); ++k) {
      const Layout &source = layouts_[k - 1], &target = layouts_[k];
      programs.push_back(only ? redistribute_program(source, target, *only, ranks, options_, hosts)
                              : redistribute_program(plan(source, target, options_), ranks, hosts));
    }
    return chained(std::move(programs));
  }

 private:
  PlanOptions options_;
  std::vector<Layout> layouts_;  // that a move passes, source and target included
};

}  // namespace

std::shared_ptr<const Flow> move_flow(const Layout& source, const Layout& target, const PlanOptions& options) {
  return std::make_shared<MoveFlow>(source, target, options);
}

}  // namespace reshard
