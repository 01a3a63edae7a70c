#include "plan/plan_flags.h"

namespace reshard::cli {

void PlanFlags::add_to(CLI::App& command) {
  command.add_option("--policy", policy, "Which of several copies sends: local, balanced or modulo (local)")
      ->check(CLI::IsMember({"local", "balanced", "modulo"}))
      ->type_name("POLICY");
  command.add_option("--ranks-per-host", ranks_per_host, "Ranks that share a host; 0 if unknown (0)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
}

PlanOptions PlanFlags::options() const {
  PlanOptions options{.policy = SenderPolicy::local, .ranks_per_host = ranks_per_host};
  for (const SenderPolicy known : {SenderPolicy::balanced, SenderPolicy::modulo})
    if (name_of(known) == policy) options.policy = known;
  return options;
}

}  // namespace reshard::cli
