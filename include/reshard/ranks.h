// Starting the ranks of a world on this host: options, and what became of each rank.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reshard/error.h"
#include "reshard/fabric.h"

namespace reshard {

// What one rank does. The endpoint lives until the ranks have all ended.
using RankBody = std::function<void(Endpoint&)>;

struct RunOptions {
  // Runs put and get. Null: a plain loop over rows.
  CopyKernel copy = nullptr;
  // Processes only: address space set aside for the windows of one rank, in bytes. It costs nothing until used. Where
  // the system grants less, less is taken, and a window that does not fit is an error of its creation.
  Index window_space = Index{64} << 30;
  // Memory of destroyed windows that each rank keeps for its next ones, in bytes: it costs a fraction of what new
  // memory does. What is more goes back to the system.
  Index kept_memory = Index{256} << 20;
  // Processes only: memory that is exposed in place is reached through the kernel, where that is allowed. Else, and if
  // this is false, its owner serves (Capabilities::needs_service).
  bool kernel_copies = true;
  // Processes only: once a rank has failed, the others have this long to end before they are killed.
  std::chrono::milliseconds grace{5000};
};

struct RankOutcome {
  enum class End {
    returned,
    threw,      // code and message are those of its exception
    killed,     // by `signal`; code is peer_lost
    exited,     // left with `exit_code` in the middle of its body; code is peer_lost
    abandoned,  // did not end within the grace after another rank's failure, and was killed; code is peer_lost
  };
  End end = End::returned;
  std::optional<Code> code{};  // none: it returned
  std::string message{};
  int signal = 0;
  int exit_code = 0;
};

// The failure that explains the others: the lowest rank that died, else the lowest that threw something other than
// peer_lost, else the lowest that failed at all. Nothing if every rank returned.
std::optional<RankId> first_failure(const std::vector<RankOutcome>& outcomes);

}  // namespace reshard
