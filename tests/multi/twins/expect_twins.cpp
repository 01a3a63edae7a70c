#include "twins/expect_twins.h"

#include <algorithm>

namespace reshard::multi {
namespace {

void call_one(ProgramRun& run, const World& world, const std::string& name) {
  try {
    run.fill_inputs();
    run.call();
    run.check_outputs();
  } catch (const Error& error) {
    throw Error(error.code(), name + " on " + std::to_string(world.ranks()) + " ranks: " + error.what());
  }
}

}  // namespace

void expect_twins(World& world, const TwinPair& pair, const Sizes& hand, const Sizes& builtin, int calls) {
  ProgramRun left(world, pair.hand.program, hand), right(world, pair.builtin.program, builtin);
  for (int call = 1; call <= calls; ++call) {
    call_one(left, world, pair.hand.name);
    call_one(right, world, pair.builtin.name);
    for (const std::string& output : output_names(pair.hand.program)) {
      if (std::ranges::equal(left.bytes(output), right.bytes(output))) continue;
      report(world.endpoint(), output + " of " + pair.builtin.name + " is not that of " + pair.hand.name +
                                   " after call " + std::to_string(call));
    }
  }
}

}  // namespace reshard::multi
