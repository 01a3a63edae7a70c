// All static rules. One file for each family.
#pragma once

#include <span>
#include <string_view>

#include "program/verify/verify_run.h"

namespace reshard {

struct VerifyRule {
  std::string_view name;
  std::string_view says;
  std::string_view fix;
  // What looks for it; both null where lowering and following the ranks (lowered_text.h, verify_run.h) come upon it.
  void (*in_text)(const VerifyText&, FaultList&) = nullptr;
  void (*in_runs)(const VerifyText&, std::span<const VerifyRun>, FaultList&) = nullptr;
};

std::span<const VerifyRule> verify_rules();

// Of the text alone.
void find_names(const VerifyText&, FaultList&);
void find_unused(const VerifyText&, FaultList&);
void find_one_sided_signals(const VerifyText&, FaultList&);
void find_unreachable(const VerifyText&, FaultList&);
void find_divergent(const VerifyText&, FaultList&);
void find_roles(const VerifyText&, FaultList&);
void find_written_inputs(const VerifyText&, FaultList&);
void find_dtypes(const VerifyText&, FaultList&);
void find_dimensions(const VerifyText&, FaultList&);
void find_shared_owners(const VerifyText&, FaultList&);
void find_protocols(const VerifyText&, FaultList&);
// Of what ranks do.
void find_idle_moves(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_unwritten(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_mixing(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_shared_cells(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_stale(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_unpaired(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_broken_contracts(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_narrow(const VerifyText&, std::span<const VerifyRun>, FaultList&);
void find_unfenced(const VerifyText&, std::span<const VerifyRun>, FaultList&);

}  // namespace reshard
