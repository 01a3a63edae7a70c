// Runs a check once for each instruction set of this processor, and the code without vectors.
#pragma once

#include <gtest/gtest.h>

#include "kernel/instruction_sets.h"

namespace reshard {

// The best again when it ends, also by a failed assertion.
template <class Check>
void for_every_instruction_set(const Check& check) {
  struct Best {
    ~Best() { kernel::use_instruction_set(""); }
  } best;
  for (const std::string& name : kernel::instruction_sets()) {
    SCOPED_TRACE(name);
    kernel::use_instruction_set(name);
    check();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace reshard
