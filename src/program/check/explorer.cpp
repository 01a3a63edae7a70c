#include "program/check/explorer.h"

#include <algorithm>

#include <fmt/format.h>

#include "program/check/contract.h"

namespace reshard::explore {

bool Budget::is_spent() const {
  return states >= options->max_states || std::chrono::steady_clock::now() >= deadline();
}

std::chrono::steady_clock::time_point Budget::deadline() const {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  return began + std::min(options->time_limit, kLongest);
}

double Budget::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void Budget::spend(Index steps) {
  constexpr Index kTellEvery = 16384;
  states += steps;
  transitions += steps;
  if (!options->progress || states - told_ < kTellEvery) return;
  told_ = states;
  options->progress(states);
}

bool Explorer::settle(State& state, bool to_the_end) {
  const Index before = machine_.transitions;
  bool moved = true, fine = true;
  while (moved && fine) {
    moved = false;
    for (std::uint32_t r = 0; fine && r < state.ranks.size(); ++r) {
      while (fine && machine_.run(state, r) == Machine::Outcome::ran) {
        moved = true;
        fine = machine_.findings.empty() || to_the_end;
      }
    }
  }
  budget_.spend(machine_.transitions - before);
  return fine;
}

std::vector<std::uint32_t> Explorer::choices(const State& state) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < state.ranks.size(); ++r)
    if (machine_.is_enabled(state, r)) ranks.push_back(r);
  return ranks;
}

// A run that ended well is compared with what protocols promise: the first by all its notifications, later ones, which
// differ from it only in their order, by what signals hold at the end.
void Explorer::judge_end(const State& state) {
  const bool all_ended =
      std::ranges::all_of(state.ranks, [&](const RankState& at) { return at.call > machine_.calls(); });
  find_lone_refusals(state);
  if (!all_ended) return find_stuck(state);
  if (!first_ended_) {
    first_ended_ = true;
    check_contract(machine_, first_run_, state);
    machine_.record = nullptr;
  } else {
    check_final_values(machine_, state);
  }
}

void Explorer::find_stuck(const State& state) {
  Finding finding{.fault = CheckFault::deadlock};
  for (std::uint32_t r = 0; r < state.ranks.size(); ++r) {
    const RankState& at = state.ranks[r];
    if (at.call <= machine_.calls()) finding.culprits.push_back({.rank = r, .step = at.steps, .call = at.call});
  }
  machine_.findings.push_back(std::move(finding));
}

void Explorer::find_lone_refusals(const State& state) {
  for (const auto& [place, refusal] : machine_.refusals) {
    const auto& [rank, call] = place;
    const auto refused = machine_.refused_calls(state.ranks[rank]);
    if (std::ranges::find(refused, call) == refused.end()) continue;
    for (std::uint32_t r = 0; r < state.ranks.size(); ++r) {
      const auto others = machine_.refused_calls(state.ranks[r]);
      if (state.ranks[r].call < call || std::ranges::find(others, call) != others.end()) continue;
      machine_.findings.push_back({.fault = CheckFault::refused,
                                   .culprits = {{.rank = r, .step = state.ranks[r].steps, .call = call},
                                                {.rank = rank, .step = refusal.step, .call = call}},
                                   .detail = refusal.message});
      return;
    }
  }
}

bool Explorer::visit(State state) {
  if (!settle(state, false)) return false;
  std::vector<std::uint32_t> ranks = choices(state);
  if (ranks.empty()) {
    judge_end(state);
    return machine_.findings.empty();
  }
  if (visited_.insert(hash_of(state)).second) branches_.push_back({std::move(state), std::move(ranks)});
  return true;
}

void Explorer::keep_path() {
  path_.clear();
  for (const Branch& branch : branches_) path_.push_back(branch.choices[branch.next - 1]);
}

bool Explorer::explore() {
  machine_.record = &first_run_;
  bool fine = visit(machine_.start());
  while (fine && !branches_.empty()) {
    if (budget_.is_spent()) return false;
    Branch& branch = branches_.back();
    if (branch.next == branch.choices.size()) {
      branches_.pop_back();
      continue;
    }
    const std::uint32_t rank = branch.choices[branch.next++];
    State state = branch.state;
    machine_.run_hot(state, rank);
    budget_.spend(1);
    fine = visit(std::move(state));
  }
  keep_path();
  return true;
}

State Explorer::replay(std::vector<StepRecord>& steps) {
  first_run_.clear();
  first_ended_ = false;
  machine_.record = &first_run_;
  machine_.keep_all_accesses = true;
  machine_.deadline = std::chrono::steady_clock::time_point::max();
  machine_.findings.clear();
  machine_.refusals.clear();
  State state = machine_.start();
  // What follows the first fault can be told only where control does not depend on memory.
  const bool to_the_end = !machine_.has_deferred();
  std::size_t chosen = 0;
  bool fine = settle(state, to_the_end);
  for (std::vector<std::uint32_t> ranks = choices(state); fine && !ranks.empty(); ranks = choices(state)) {
    machine_.run_hot(state, chosen < path_.size() ? path_[chosen++] : ranks.front());
    fine = settle(state, to_the_end);
  }
  if (fine) judge_end(state);
  machine_.record = nullptr;
  steps = std::move(first_run_);
  return state;
}

}  // namespace reshard::explore
