// Programs on worlds of every fabric.
#pragma once

#include <functional>

#include "every_fabric.h"
#include "reshard/program_run.h"
#include "reshard/world.h"

namespace reshard::multi {

class EveryWorld : public EveryFabric {
 protected:
  void run_worlds(const std::function<void(World&)>& body) const { multi::run_worlds(fabric(), ranks(), body); }
};

// `calls` calls of values that name rank, place and call, each looked at.
inline void expect_calls(ProgramRun& run, int calls = 3) {
  for (int call = 0; call < calls; ++call) {
    run.fill_inputs();
    run.call();
    run.check_outputs();
  }
}

}  // namespace reshard::multi
