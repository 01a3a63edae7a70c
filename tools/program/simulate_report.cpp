#include "program/simulate_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownSchedules = 5;

// Ranks that wait for ever have a line each, unless that is not all that is wrong.
std::string verdict(const SimulatedRun& run) {
  const SimulateReport& report = run.report;
  if (report.correct) return "right: every output is as the program expects";
  if (report.stuck.empty() || !report.refusals.empty() || report.wrong_elements > 0) return "WRONG: " + report.message;
  std::string text = fmt::format("WRONG: {} of {} ranks wait for ever", report.stuck.size(), run.devices.size());
  for (const Stuck& stuck : report.stuck) text += "\n  " + stuck.text;
  return text;
}

std::string times_text(const SimulatedRun& run) {
  Table table({"rank>", "device>", "time>"});
  for (std::size_t rank = 0; rank < run.devices.size(); ++rank)
    table.row(
        {fmt::format("{}", rank), fmt::format("{}", run.devices[rank]), time_text(run.report.rank_seconds.at(rank))});
  return table.text(2);
}

std::string costs_text(const SimulatedRun& run) {
  if (!run.card) return "";
  std::string text = fmt::format("\nCost of call {}, from the operations alone\n{}", run.calls, run.card->text());
  if (run.calls > 1) text += fmt::format("\nCounted in all {} calls\n{}", run.calls, run.report.cost.text());
  return text;
}

Json stuck_json(const Stuck& stuck) {
  Json missing = Json::array();
  for (const RankId rank : stuck.missing) missing.push_back(rank.value());
  return {{"rank", stuck.rank.value()}, {"call", stuck.call},
          {"cell", stuck.cell},         {"compare", stuck.compare == WaitCompare::equal ? "==" : ">="},
          {"expected", stuck.expected}, {"seen", stuck.seen},
          {"missing", missing},         {"text", stuck.text}};
}

}  // namespace

std::string simulated_text(const SimulatedRun& run) {
  return fmt::format("{} on {}, {}, schedule {}\n{}\n\n{} of the schedule, {} on the clock\n{}{}", run.program,
                     count_text(std::ssize(run.devices), "device"), count_text(run.calls, "call"), run.seed,
                     verdict(run), count_text(run.report.steps, "step"), time_text(run.report.seconds), times_text(run),
                     costs_text(run));
}

Json cost_json(const CostCard& card) {
  Json json = Json::array();
  for (std::size_t rank = 0; rank < card.ranks.size(); ++rank) {
    const CostCard::Rank& cost = card.ranks[rank];
    json.push_back({{"rank", rank},
                    {"bytes_put", cost.bytes_put},
                    {"bytes_got", cost.bytes_got},
                    {"peer_bytes", cost.peer_bytes},
                    {"bytes_copied", cost.bytes_copied},
                    {"bytes_reduced", cost.bytes_reduced},
                    {"puts", cost.puts},
                    {"gets", cost.gets},
                    {"notifications", cost.notifications},
                    {"peer_notifications", cost.peer_notifications},
                    {"waits", cost.waits},
                    {"rounds", cost.rounds}});
  }
  return json;
}

Json simulated_json(const SimulatedRun& run) {
  Json stuck = Json::array(), refusals = Json::array();
  for (const Stuck& one : run.report.stuck) stuck.push_back(stuck_json(one));
  for (const SimulatedRefusal& one : run.report.refusals)
    refusals.push_back({{"rank", one.rank.value()}, {"call", one.call}, {"text", one.text}});
  Json json{{"program", run.program},
            {"devices", run.devices},
            {"calls", run.calls},
            {"seed", run.seed},
            {"finished", run.report.finished},
            {"correct", run.report.correct},
            {"message", run.report.message},
            {"wrong_elements", run.report.wrong_elements},
            {"stuck", std::move(stuck)},
            {"refusals", std::move(refusals)},
            {"steps", run.report.steps},
            {"seconds", run.report.seconds},
            {"rank_seconds", run.report.rank_seconds},
            {"counted", cost_json(run.report.cost)}};
  if (run.card) json["card"] = cost_json(*run.card);
  return json;
}

std::string schedules_text(const std::vector<SimulatedRun>& runs, const std::string& seeds) {
  const auto wrong = std::ranges::count_if(runs, [](const SimulatedRun& run) { return !run.report.correct; });
  const SimulatedRun& first = runs.front();
  std::string text = fmt::format("{} on {}, {}, schedules {}: {} right, {} wrong\n", first.program,
                                 count_text(std::ssize(first.devices), "device"), count_text(first.calls, "call"),
                                 seeds, std::ssize(runs) - wrong, wrong);
  std::size_t shown = 0;
  for (const SimulatedRun& run : runs)
    if (!run.report.correct && shown++ < kShownSchedules)
      text += fmt::format("  schedule {}: {}\n", run.seed, run.report.message);
  if (shown > kShownSchedules) text += fmt::format("  and {} more\n", shown - kShownSchedules);
  return text;
}

Json schedules_json(const std::vector<SimulatedRun>& runs) {
  Json json = Json::array();
  for (const SimulatedRun& run : runs)
    json.push_back({{"seed", run.seed},
                    {"correct", run.report.correct},
                    {"message", run.report.message},
                    {"wrong_elements", run.report.wrong_elements},
                    {"steps", run.report.steps},
                    {"seconds", run.report.seconds}});
  return json;
}

}  // namespace reshard::cli
