#include "program/replayed_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "output/table.h"

namespace reshard::cli {
namespace {

constexpr std::size_t kShownElements = 8;

template <class T>
std::string listed(const std::vector<T>& values) {
  const std::size_t shown = std::min(values.size(), kShownElements);
  std::string text =
      fmt::format("{}", fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  if (shown < values.size()) text += fmt::format(" …+{}", values.size() - shown);
  return text;
}

bool is_arrival_of(const TraceStep& arrival, const TraceStep& put) {
  return arrival.arrival && arrival.rank == put.rank && arrival.call == put.call && arrival.text == put.text;
}

// Of a put: the number, from 1, of the later step in which it arrives; 0 if it arrived at once.
std::size_t arrival_of(std::span<const ReplayedStep> steps, std::size_t at) {
  for (std::size_t later = at + 1; later < steps.size(); ++later)
    if (is_arrival_of(steps[later].step, steps[at].step)) return later + 1;
  return 0;
}

std::string what_happens(std::span<const ReplayedStep> steps, std::size_t at) {
  const TraceStep& step = steps[at].step;
  if (step.arrival) return ", issued before, arrives now";
  if (step.blocked) return ": waits for ever";
  const std::size_t arrival = step.text.starts_with("put ") ? arrival_of(steps, at) : 0;
  return arrival > 0 ? fmt::format(", under way until step {}", arrival) : "";
}

void add_elements(Table& table, std::string_view word, const ReplayedElements& elements) {
  const std::string before =
      elements.before.empty() || elements.before == elements.after ? "" : listed(elements.before) + " →";
  table.row({std::string(word), fmt::format("{} of rank {}", elements.place, elements.rank.value()), before,
             listed(elements.after)});
}

std::string memory_text(const ReplayedStep& step) {
  if (step.read.empty() && step.written.empty()) return "";
  Table table({"", "memory", "held", "holds"});
  for (const ReplayedElements& elements : step.read) add_elements(table, "read", elements);
  for (const ReplayedElements& elements : step.written) add_elements(table, "wrote", elements);
  return table.text(2);
}

std::string signals_text(const ReplayedStep& step, Index ranks) {
  if (step.signals.empty()) return "";
  std::vector<std::string> headings{"signal"};
  for (Index rank = 0; rank < ranks; ++rank) headings.push_back(fmt::format("rank {}", rank));
  Table table(std::move(headings));
  std::vector<std::string> row;
  for (const ReplayedSignal& signal : step.signals) {
    if (signal.rank == RankId(0)) row = {signal.name};
    row.push_back(fmt::format("[{}]{}", listed(signal.slots), signal.changed ? "*" : ""));
    if (signal.rank == RankId(ranks - 1)) table.row(row);
  }
  return table.text(2);
}

}  // namespace

std::string replayed_text(std::span<const ReplayedStep> steps, std::size_t at, Index ranks) {
  const ReplayedStep& step = steps[at];
  std::string text =
      fmt::format("step {} of {}: rank {}, call {}{}\n  {}{}\n", at + 1, steps.size(), step.step.rank.value(),
                  step.step.call, step.step.culprit ? ", at fault" : "", step.step.text, what_happens(steps, at));
  if (!step.refusal.empty()) text += fmt::format("  the call ends here on this rank: {}\n", step.refusal);
  return text + memory_text(step) + signals_text(step, ranks);
}

}  // namespace reshard::cli
