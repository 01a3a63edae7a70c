// The operations of one rank, checked and laid out as fabrics and kernels take them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/casts.h"
#include "exec/folds.h"
#include "reshard/executor.h"

namespace reshard {

// An operation. Its copies, folds and casts are consecutive ones of those of all steps. What a copy needs comes first:
// programs of many small copies find their steps in no cache.
struct alignas(64) Executor::Step {
  OpCode code;
  int source_window;
  int target_window;
  int signal;
  // get and put: the peer's memory of its window, where there is no need to call the endpoint for it. Set by bind.
  std::byte* far;
  std::size_t first_copy;
  std::size_t copies;
  Index bytes;
  RankId peer;
  // get: all that it brings is read by the cast after it, and by nobody else.
  bool feeds_cast;
  Index slot;
  std::uint64_t value;
  std::uint64_t per_run;
  Endpoint::Update update;
  Endpoint::Until until;
  std::size_t first_fold;
  std::size_t folds;
  std::size_t first_cast;
  std::size_t casts;
  CopyKernel combine;                // put that accumulates; null: it replaces
  std::array<std::byte, 16> filler;  // fill
  std::shared_ptr<const Deferred> deferred;
  std::string label;
};

class Executor::Steps {
 public:
  // Both must outlive it. Of the program, only what is said about windows and signals.
  Steps(const Program& program, const Endpoint& endpoint);

  // Throws where the operation does not fit the program, its windows or the kernels there are.
  void add(const Operation& operation);
  // After the last add, before any step is run.
  void finish();
  // Forgets steps and needs, and keeps the room they took.
  void clear();

  std::size_t size() const { return steps_.size(); }
  const Step& operator[](std::size_t number) const { return steps_[number]; }
  // Finds the memory of peers that this rank reaches without calls, and lets casts read it there.
  void reach(Endpoint& endpoint, const Binding& binding);
  std::span<const StridedCopy> copies(const Step& step) const {
    return {copies_.data() + step.first_copy, step.copies};
  }
  Folds& folds() { return folds_; }
  const Casts& casts() const { return casts_; }
  // One for each window and rank.
  std::vector<Need> needs() const;
  bool is_any_deferred() const;
  // Its label, or in short what it does.
  std::string describe(const Step& step) const;

 private:
  void check_peer(const Operation& operation) const;
  void check_signal(const Operation& operation) const;
  void check_fill(const Operation& operation) const;
  void add_ends(const Operation& operation);
  void need(const Operation& operation, int window, RankId rank, bool far, Index Block::*offset, Index Loop::*stride);
  void need(const Operation& operation, const Reduction& reduction, const Operand& operand, Dtype dtype);
  void check_reductions(const Operation& operation);
  Index message_limit(const Operation& operation) const;
  void lay_out(const std::vector<Block>& blocks, Index limit);
  bool is_kept_near(const Step& step) const;
  void find_far_casts();
  std::size_t uses_of(int window) const;

  const Program* program_;
  const Endpoint* endpoint_;
  std::vector<Step> steps_;
  std::vector<Stride> strides_;
  std::vector<StridedCopy> copies_;
  std::vector<std::size_t> loops_;  // of each copy
  std::vector<Block> parts_;
  Folds folds_;
  Casts casts_;
  std::vector<Need> needs_;
};

}  // namespace reshard
