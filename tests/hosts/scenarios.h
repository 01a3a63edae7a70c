// What the ranks of the tests of hosts do; the same for every fabric.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "reshard/fabric.h"

namespace reshard::hosts {

struct Scenario {
  // moves    tensors go from layout to layout, and each element is looked at; prints the payload that leaves each host:
  //          "sent HOST BYTES"
  // endless  as moves, until something fails; rank 0 prints "round N"
  std::string name;
  std::vector<Index> hosts;  // of each rank
  std::chrono::milliseconds timeout{};
  Index rounds = 1;
  Index edge = 1;  // tensors are about edge x edge
};

// SCENARIO HOSTS TIMEOUT_MS ROUNDS EDGE, HOSTS being as in "0,0,1,2".
Scenario read_scenario(int argc, char** argv);
void run_scenario(Endpoint& endpoint, const Scenario& scenario);

// Says on one line how `run` ended: "rank 3: done", "rank 3: timeout: <message>". Returns the exit code: 0, 3 after an
// Error, 4 after anything else.
int report(Index rank, const std::function<void()>& run);

}  // namespace reshard::hosts
