#include <algorithm>
#include <array>

#include "reshard/plan.h"

namespace reshard {
namespace {

struct Entry {
  SenderPolicy policy;
  std::string_view name;
};

constexpr std::array kEntries{
    Entry{SenderPolicy::local, "local"},       Entry{SenderPolicy::balanced, "balanced"},
    Entry{SenderPolicy::optimal, "optimal"},   Entry{SenderPolicy::modulo, "modulo"},
    Entry{SenderPolicy::megatron, "megatron"},
};

constexpr auto kPolicies = [] {
  std::array<SenderPolicy, kEntries.size()> all{};
  std::ranges::transform(kEntries, all.begin(), &Entry::policy);
  return all;
}();

}  // namespace

std::string_view name_of(SenderPolicy policy) { return kEntries[static_cast<std::size_t>(policy)].name; }

std::optional<SenderPolicy> sender_policy_named(std::string_view name) {
  const auto found = std::ranges::find(kEntries, name, &Entry::name);
  if (found == kEntries.end()) return std::nullopt;
  return found->policy;
}

std::span<const SenderPolicy> all_sender_policies() { return kPolicies; }

}  // namespace reshard
