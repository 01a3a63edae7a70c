#include "cases/program_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <numeric>

#include "reshard/error.h"

namespace reshard {
namespace {

constexpr std::uint64_t kSchedules = 20;

SimulateOptions schedule(Index ranks, std::uint64_t seed, const CaseSizes& sizes) {
  SimulateOptions options{.sizes = sizes, .seed = seed};
  options.devices.resize(static_cast<std::size_t>(ranks));
  std::iota(options.devices.begin(), options.devices.end(), 0);
  return options;
}

void call_three_times(World& world, const SymbolicProgram& program, const CaseSizes& sizes) {
  ProgramRun run(world, program, sizes);
  for (int call = 0; call < 3; ++call) {
    run.fill_inputs();
    run.call();
    run.check_outputs();
  }
}

void expect_refused_here(World& world, const SymbolicProgram& program, const CaseSizes& sizes,
                         const std::string& message) {
  ProgramRun run(world, program, sizes);
  run.fill_inputs();
  try {
    run.call();
  } catch (const Error& error) {
    if (error.code() == Code::invalid_argument && error.what() == message) return;
    throw;
  }
  throw std::logic_error("rank " + std::to_string(world.rank().value()) + " was not refused");
}

}  // namespace

std::string with(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

void on_every_fabric(Index ranks, const std::function<void(World&)>& body) {
  const WorldOptions options{.timeout = std::chrono::seconds(120)};
  thread_ranks(ranks, body, options);
  process_ranks(ranks, body, options);
}

void expect_right(std::string_view text, Index ranks, const CaseSizes& sizes) {
  const SymbolicProgram program = parse_program(text);
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    SimulateOptions options = schedule(ranks, seed, sizes);
    options.calls = 3;
    options.slow = RankId(static_cast<Index>(seed) % ranks);
    const SimulateReport report = simulate(program, options);
    EXPECT_TRUE(report.correct) << program.name << ", seed " << seed << ": " << report.message;
  }
  on_every_fabric(ranks, [&](World& world) { call_three_times(world, program, sizes); });
}

int wrong_schedules(std::string_view text, Index ranks, std::optional<RankId> slow) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    SimulateOptions options = schedule(ranks, seed, {});
    options.slow = slow;
    if (!simulate(parse_program(text), options).correct) ++wrong;
  }
  return wrong;
}

std::optional<CheckFault> fault_of(std::string_view text, Index ranks, Index calls, const CaseSizes& sizes) {
  const CheckReport report =
      check(parse_program(text), {.ranks = ranks, .calls = calls, .sizes = sizes, .suggest = false});
  EXPECT_FALSE(report.bounded) << report.message;
  EXPECT_EQ(report.passed, !report.fault) << report.message;
  return report.fault;
}

void expect_refused(std::string_view text, Index ranks, const CaseSizes& sizes, const std::string& message) {
  const SymbolicProgram program = parse_program(text);
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    const SimulateReport report = simulate(program, schedule(ranks, seed, sizes));
    EXPECT_TRUE(report.finished) << report.message;
    EXPECT_EQ(std::ssize(report.refusals), ranks) << report.message;
    for (const SimulatedRefusal& refusal : report.refusals) EXPECT_EQ(refusal.text, message);
  }
  on_every_fabric(ranks, [&](World& world) { expect_refused_here(world, program, sizes, message); });
}

Index rounds_or(Index rounds) {
  const char* const given = std::getenv("RESHARD_ROUNDS");
  const Index made = given ? std::stoll(given) : rounds;
  std::cout << made << " rounds; RESHARD_ROUNDS=.. for more\n";
  return made;
}

}  // namespace reshard
