#include "program/verify/verify_run.h"

#include <fmt/format.h>

#include <memory>

#include "program/verify/rank_walk.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// Statements that are run for one number of ranks, at most.
constexpr Index kMostSteps = 100'000;

class WorldWalk {
 public:
  WorldWalk(const VerifyText& text, const LoweredText& lowered, const VerifyProgramOptions& options, Index ranks,
            FaultList& faults)
      : text_(text), lowered_(lowered), options_(options), faults_(faults) {
    run_.ranks = ranks;
  }

  VerifyRun walk() && {
    if (requires_otherwise()) {
      run_.refused = true;
      return std::move(run_);
    }
    run_.complete = true;
    for (Index call = 1; call <= kVerifiedCalls && run_.complete; ++call) walk(call);
    return std::move(run_);
  }

 private:
  UnrollOptions at(Index call) const { return {.ranks = run_.ranks, .sizes = options_.sizes, .call = call}; }

  // Asked first, since declarations may not fit the ranks that a program does not want.
  bool requires_otherwise() const {
    Scope scope = PlacedProgram({text_.program().name, text_.program().sizes}, at(1)).scope_of(RankId(0));
    scope.erase("me");
    scope.erase("call");
    for (const Statement& statement : text_.program().body) {
      const auto* require = std::get_if<Require>(&statement.form);
      if (require == nullptr) continue;
      try {
        if (evaluate(require->condition, scope) == 0) return true;
      } catch (const Error&) {
        continue;  // over other names
      }
    }
    return false;
  }

  void walk(Index call) {
    const auto placed = place(call);
    if (placed == nullptr) return;
    run_.windows = placed->windows();
    run_.signals = placed->signals();
    run_.signal_shapes.clear();
    for (const SignalSpec& signal : run_.signals) run_.signal_shapes.push_back(placed->signal(signal.name).shape);
    walk(placed);
  }

  std::shared_ptr<const PlacedProgram> place(Index call) {
    try {
      return std::make_shared<const PlacedProgram>(lowered_.program, at(call));
    } catch (const Error& error) {
      run_.complete = false;
      const std::string message = error.what(), prefix = "program " + text_.program().name + ": ";
      faults_.add("placement", {0, "", run_.ranks},
                  fmt::format("with P = {}: {}; correct the declaration, or require another P", run_.ranks,
                              message.starts_with(prefix) ? message.substr(prefix.size()) : message));
      return nullptr;
    }
  }

  void walk(const std::shared_ptr<const PlacedProgram>& placed) {
    auto& ranks = run_.calls.emplace_back();
    std::vector<Index> refused, accepted;
    std::size_t require = 0;
    for (Index r = 0; r < run_.ranks; ++r) {
      RankWalk rank(placed, lowered_, text_, RankId(r), faults_);
      if (!rank.walk(steps_)) run_.complete = false;
      (rank.refused() ? refused : accepted).push_back(r);
      if (rank.refused()) require = rank.refused_at();
      ranks.push_back(std::move(rank).take());
    }
    run_.refused = accepted.empty();
    if (!refused.empty() && !accepted.empty())
      faults_.add("verdict", {require, "", run_.ranks},
                  fmt::format("with P = {}: it fails on rank {} and not on rank {}, which would wait for it; require "
                              "what is the same on all ranks",
                              run_.ranks, refused.front(), accepted.front()));
  }

  const VerifyText& text_;
  const LoweredText& lowered_;
  const VerifyProgramOptions& options_;
  FaultList& faults_;
  VerifyRun run_;
  Index steps_ = kMostSteps;
};

}  // namespace

VerifyRun run_to_verify(const VerifyText& text, const LoweredText& lowered, const VerifyProgramOptions& options,
                        Index ranks, FaultList& faults) {
  return WorldWalk(text, lowered, options, ranks, faults).walk();
}

}  // namespace reshard
