#include "kernel/instruction_sets.h"

#include "kernel/vector_targets.h"

#include <hwy/highway.h>

namespace reshard::kernel {
namespace {

bool has_vectors(std::int64_t target) { return target != HWY_SCALAR && target != HWY_EMU128; }

// Of Highway's bits, the ones that the kernels are compiled for and the processor has.
std::vector<std::int64_t> vector_targets() {
  std::vector<std::int64_t> targets;
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1)
    if (has_vectors(rest & -rest)) targets.push_back(rest & -rest);
  return targets;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : vector_targets()) names.emplace_back(hwy::TargetName(target));
  names.emplace_back("none");
  return names;
}

void use_instruction_set(const std::string& name) {
  std::int64_t chosen = name.empty() ? 0 : HWY_SCALAR;
  for (const std::int64_t target : vector_targets())
    if (hwy::TargetName(target) == name) chosen = target;
  hwy::SetSupportedTargetsForTest(chosen);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace reshard::kernel
