#include "plan/plan_flags.h"

#include <fmt/format.h>

#include "options/whole_number.h"
#include "reshard/error.h"

namespace reshard::cli {

std::string policy_names() {
  const auto policies = all_sender_policies();
  std::string names(name_of(policies.front()));
  for (const SenderPolicy policy : policies.subspan(1))
    names += fmt::format("{}{}", policy == policies.back() ? " or " : ", ", name_of(policy));
  return names;
}

SenderPolicy policy_named(const std::string& name) {
  const auto policy = sender_policy_named(name);
  if (!policy) throw Error(Code::invalid_argument, fmt::format("--policy {}: {}", name, policy_names()));
  return *policy;
}

void PlanFlags::add_to(CLI::App& command) {
  command.add_option("--policy", policy, fmt::format("Which of several copies sends: {} (local)", policy_names()))
      ->type_name("POLICY");
  command.add_option("--ranks-per-host", ranks_per_host, "Ranks that share a host; 0 if unknown (0)")
      ->check(whole_number())
      ->type_name("N");
  command
      .add_option("--ranks-per-rack", ranks_per_rack,
                  "Ranks that share a rack, a multiple of those that share a host; 0 if unknown (0)")
      ->check(whole_number())
      ->type_name("N");
}

PlanOptions PlanFlags::options() const {
  if (ranks_per_host > 0 && ranks_per_rack % ranks_per_host != 0)
    throw Error(Code::invalid_argument,
                fmt::format("--ranks-per-rack {} is no multiple of --ranks-per-host {}: a host lies in one rack",
                            ranks_per_rack, ranks_per_host));
  return {.policy = policy_named(policy), .ranks_per_host = ranks_per_host, .ranks_per_rack = ranks_per_rack};
}

}  // namespace reshard::cli
