// Every fault against every operation: each survivor ends in time, with the right result or with an error that names
// who was lost, or who waits for that rank in turn; and nothing is left behind.
//
// A cell prints one line, which scripts/fault_table.py reads:
//   cell FABRIC FAULT OPERATION ok|BAD: what happened
// RESHARD_SEED repeats the place of the fault.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "faults/leftovers.h"
#include "faults/operations.h"
#include "kernel/copy.h"
#include "multi/every_fabric.h"
#include "property/random.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

using End = RankOutcome::End;
using What = InjectedFault::What;

constexpr Index kRanks = 4;
constexpr Index kRuns = 3;
// Of every call while somebody is missing: survivors must end within it, however many times slower the machine is.
constexpr auto kTimeout = 2s;
constexpr auto kPatience = 60s;

// Nobody is missing where one is only slow.
std::chrono::milliseconds timeout_with(What what) { return what == What::slow ? 120s : kTimeout; }

struct FaultCell {
  const Fabric* fabric = nullptr;
  What what = What::slow;
  const NamedOperation* operation = nullptr;
};

std::string name_of_cell(const FaultCell& cell) {
  return fmt::format("{}_{}_{}", cell.fabric->name(), name_of(cell.what), cell.operation->name);
}

void PrintTo(const FaultCell& cell, std::ostream* out) { *out << name_of_cell(cell); }

std::vector<FaultCell> all_cells() {
  std::vector<FaultCell> all;
  for (const Fabric* fabric : fabrics())
    for (const What what : {What::slow, What::fail, What::kill, What::stop})
      for (const NamedOperation& operation : operations_under_fault())
        if (fabric->has_ranks(kRanks) && (fabric->traits().may_die || what == What::slow || what == What::fail))
          all.push_back({fabric, what, &operation});
  return all;
}

// Calls of this rank in `kRuns` runs, and in making the world and the operation ready for them.
struct CallsMade {
  Index before = 0;
  Index all = 0;
};

Index all_calls(const CallCounts& counts) {
  Index calls = 0;
  for (std::size_t kind = 0; kind < kCallKinds; ++kind)
    if (CallKind(kind) != CallKind::collective) calls += counts.of(CallKind(kind)).calls;
  return calls;
}

void run_epochs(const ReadyOperation& operation) {
  for (std::uint64_t epoch = 1; epoch <= kRuns; ++epoch) {
    operation.fill(epoch);
    operation.run();
    operation.expect(epoch);
  }
}

// Without any fault, to know at which calls it can happen.
CallsMade rehearse(Endpoint& endpoint, const NamedOperation& operation) {
  CallCounts counts(endpoint.ranks());
  const std::unique_ptr<Endpoint> counting = counted(endpoint, counts);
  World world(*counting, {.timeout = 120s});
  const ReadyOperation ready = operation.make(world);
  CallsMade made{.before = all_calls(counts)};
  run_epochs(ready);
  made.all = all_calls(counts);
  return made;
}

void run_with_fault(Endpoint& endpoint, const NamedOperation& operation, What what, unsigned seed) {
  const CallsMade made = rehearse(endpoint, operation);
  InjectedFault fault = random_fault(what, seed, endpoint.ranks(), std::max<Index>(made.all - made.before, 1));
  fault.at += made.before;
  endpoint.barrier(in_time());
  const std::unique_ptr<Endpoint> wrapped = faulty(endpoint, fault);
  World world(*wrapped, {.timeout = 120s});
  const ReadyOperation ready = operation.make(world);
  world.set_timeout(timeout_with(what));
  const auto begin = Clock::now();
  try {
    run_epochs(ready);
  } catch (const Error& error) {
    const std::chrono::duration<double> took = Clock::now() - begin;
    throw Error(error.code(), fmt::format("after {:.2f} s: {}", took.count(), error.what()));
  }
  // Where the others need no more of the one who is missing, they find out here.
  endpoint.barrier(Clock::now() + timeout_with(what));
}

bool is_named(const RankOutcome& outcome, RankId rank) {
  return outcome.message.find(fmt::format("rank {}", rank.value())) != std::string::npos;
}

// Why this end of a survivor is not right; nothing if it is. Who waited in vain says for whom, which may be a rank that
// waited itself. Who was told of that by nobody says at least whom it lost.
std::string fault_of_survivor(const RankOutcome& outcome, const InjectedFault& fault, const Traits& traits) {
  if (fault.what == What::slow) return outcome.end == End::returned ? "" : outcome.message;
  if (outcome.end != End::threw) return fmt::format("did not end with an error: {}", outcome.message);
  if (outcome.code == Code::peer_lost && fault.what == What::stop && !traits.tells_causes) {
    return outcome.message.find("lost rank ") == std::string::npos ? "names nobody: " + outcome.message : "";
  }
  if (outcome.code != Code::peer_lost && outcome.code != Code::timeout)
    return fmt::format("ended with {}: {}", name_of(outcome.code.value_or(Code::internal)), outcome.message);
  const bool waited = outcome.message.find("has not notified") != std::string::npos;
  if (!is_named(outcome, fault.rank) && !waited)
    return fmt::format("does not name rank {}: {}", fault.rank.value(), outcome.message);
  return "";
}

std::string ends_of(const std::vector<RankOutcome>& outcomes) {
  std::vector<std::string> ends;
  for (const RankOutcome& outcome : outcomes)
    ends.emplace_back(outcome.code ? name_of(*outcome.code) : std::string_view("done"));
  return fmt::format("{}", fmt::join(ends, " "));
}

class FaultMatrix : public ::testing::TestWithParam<FaultCell> {};

TEST_P(FaultMatrix, SurvivorsEndInTime) {
  const auto [fabric, what, operation] = GetParam();
  const unsigned seed = seed_from_environment() + static_cast<unsigned>(std::hash<std::string>{}(operation->name));
  const InjectedFault fault = random_fault(what, seed, kRanks, 1);  // whose: the same as that of the ranks
  const Leftovers before = count_leftovers();
  const auto begin = Clock::now();
  const auto outcomes = fabric->try_run(
      kRanks, [&, what = what, operation = operation](Endpoint& e) { run_with_fault(e, *operation, what, seed); },
      {.copy = copy_strided, .grace = 3s});
  const std::chrono::duration<double> took = Clock::now() - begin;

  std::vector<std::string> wrong;
  bool is_known = what == What::slow;
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    if (RankId(static_cast<Index>(r)) == fault.rank && what != What::slow) continue;
    is_known = is_known || is_named(outcomes[r], fault.rank);
    const std::string why = fault_of_survivor(outcomes[r], fault, fabric->traits());
    if (!why.empty()) wrong.push_back(fmt::format("rank {} {}", r, why));
  }
  if (!is_known) wrong.push_back(fmt::format("no survivor names rank {}", fault.rank.value()));
  if (took > kPatience) wrong.push_back(fmt::format("took {:.1f} s", took.count()));
  const Leftovers after = count_leftovers();
  if (after.descriptors != before.descriptors || after.mappings != before.mappings || after.children != before.children)
    wrong.push_back(fmt::format("left behind: {} before, {} after", to_string(before), to_string(after)));
  std::cout << fmt::format("cell {} {} {} {}: rank {}, {:.2f} s, ends: {}{}{}\n", fabric->name(), name_of(what),
                           operation->name, wrong.empty() ? "ok" : "BAD", fault.rank.value(), took.count(),
                           ends_of(outcomes), wrong.empty() ? "" : "; ", fmt::join(wrong, "; "));
  EXPECT_TRUE(wrong.empty()) << fmt::format("{}", fmt::join(wrong, "\n"));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FaultMatrix);
INSTANTIATE_TEST_SUITE_P(Fabrics, FaultMatrix, ::testing::ValuesIn(all_cells()),
                         [](const auto& test) { return name_of_cell(test.param); });

}  // namespace
}  // namespace reshard::multi
