#include "reshard/simulate.h"

#include <set>

#include "base/fail.h"
#include "program/simulate/machine.h"
#include "reshard/lower.h"

namespace reshard {
namespace {

void check_devices(const std::vector<Index>& devices) {
  if (devices.empty()) fail(Code::invalid_argument, "no device is listed; list one for each rank");
  std::set<Index> seen;
  for (const Index device : devices) {
    if (device < 0) fail(Code::invalid_argument, "device {} is negative; devices are numbered from 0", device);
    if (!seen.insert(device).second)
      fail(Code::invalid_argument, "device {} is listed twice; each device is one rank", device);
  }
}

Index check_options(const SimulateOptions& options) {
  check_devices(options.devices);
  const auto ranks = static_cast<Index>(options.devices.size());
  if (options.calls < 1)
    fail(Code::invalid_argument, "{} calls cannot be simulated; ask for one or more", options.calls);
  if (options.slow && (*options.slow < RankId(0) || *options.slow >= RankId(ranks)))
    fail(Code::invalid_argument, "the slow rank {} is none of the {} ranks", options.slow->value(), ranks);
  if (options.topology) options.topology->check(RankId(ranks), "the simulation");
  return ranks;
}

}  // namespace

SimulateReport simulate(const SymbolicProgram& program, const SimulateOptions& options) {
  const Index ranks = check_options(options);
  const SymbolicProgram lowered = lower(program);
  const auto calls = simulation::calls_of(lowered, {.ranks = ranks, .sizes = options.sizes});
  return simulation::Machine(*calls, ranks, options).run();
}

SimulateReport simulate(const SimulateInput& input, const SimulateOptions& options) {
  const Index ranks = check_options(options);
  const auto calls = simulation::calls_of(input, ranks);
  return simulation::Machine(*calls, ranks, options).run();
}

}  // namespace reshard
