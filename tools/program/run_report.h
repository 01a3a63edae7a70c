// What `reshard program run` did, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "reshard/program_run.h"
#include "reshard/simulate.h"

namespace reshard::cli {

struct ProgramRunReport {
  std::string program, fabric;
  std::vector<Index> devices;
  Index calls = 0;
  bool has_expect = false;
  std::string failure = {};           // empty: all went well
  std::vector<Traffic> traffic = {};  // of the last call, per rank
  CostCard card = {};                 // of the same call, from its operations alone
};

std::string run_text(const ProgramRunReport& report, bool verbose);
std::string run_json(const ProgramRunReport& report);

}  // namespace reshard::cli
