#include <fmt/format.h>

#include <algorithm>

#include "program/simulate/verdict.h"

namespace reshard::simulation {
namespace {

std::string refusal_text(const SimulateReport& report) {
  const SimulatedRefusal& first = report.refusals.front();
  const auto alike = std::ranges::count_if(report.refusals, [&](const SimulatedRefusal& refusal) {
    return refusal.call == first.call && refusal.text == first.text;
  });
  const bool all = alike == static_cast<std::ptrdiff_t>(report.cost.ranks.size());
  return fmt::format("call {} was refused on {}: {}", first.call,
                     all ? "every rank" : fmt::format("rank {}", first.rank.value()), first.text);
}

std::string stuck_text(const SimulateReport& report) {
  std::string text = fmt::format("{} of {} ranks wait for ever", report.stuck.size(), report.cost.ranks.size());
  std::string_view separator = ": ";
  for (const Stuck& stuck : report.stuck) {
    text += fmt::format("{}{}", separator, stuck.text);
    separator = "; ";
  }
  return text;
}

}  // namespace

std::string message_of(const SimulateReport& report, const std::string& first_mismatch) {
  std::vector<std::string> parts;
  if (!report.refusals.empty()) parts.push_back(refusal_text(report));
  if (!report.stuck.empty()) parts.push_back(stuck_text(report));
  if (report.wrong_elements > 0) parts.push_back(first_mismatch);
  if (report.wrong_elements > 1)
    parts.back() += fmt::format(" (and {} more elements are wrong)", report.wrong_elements - 1);
  std::string message;
  for (const std::string& part : parts) message += (message.empty() ? "" : ". ") + part;
  return message;
}

}  // namespace reshard::simulation
