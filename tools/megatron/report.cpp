#include "megatron/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;
using megatron::Parameter;
using megatron::ShardOperation;

constexpr std::size_t kBoxesShown = 40;
constexpr std::size_t kNamesShown = 8;

const Parameter& source_of(const ShardReport& report, const ShardOperation& operation) {
  return report.rosters.sources.parameters[static_cast<std::size_t>(operation.source_parameter)];
}

const Parameter& target_of(const ShardReport& report, const ShardOperation& operation) {
  return report.rosters.targets.parameters[static_cast<std::size_t>(operation.target_parameter)];
}

std::string slices_text(const ShardOperation& operation, LocalIndex Span::*end) {
  std::vector<std::string> slices;
  for (const Span& span : operation.box)
    slices.push_back(fmt::format("{}:{}", (span.*end).value(), (span.*end).value() + span.length));
  return fmt::format("[{}]", fmt::join(slices, ","));
}

std::string side_text(const megatron::Roster& roster) {
  std::set<RankId> ranks;
  std::set<std::string_view> names;
  for (const Parameter& parameter : roster.parameters) {
    ranks.insert(parameter.owner);
    names.insert(parameter.resolved_name);
  }
  return fmt::format("{} on {}, {}", count_text(std::ssize(names), "tensor"), count_text(std::ssize(ranks), "rank"),
                     count_text(std::ssize(roster.parameters), "record"));
}

double imbalance(const std::map<RankId, Index>& bytes) {
  Index total = 0, greatest = 0;
  for (const auto& [rank, moved] : bytes) total += moved, greatest = std::max(greatest, moved);
  return total == 0 ? 1
                    : static_cast<double>(greatest) * static_cast<double>(bytes.size()) / static_cast<double>(total);
}

std::string boxes_text(const ShardReport& report) {
  if (report.plan.operations.empty()) return "\nNothing moves.\n";
  const bool whole = !report.rank.has_value();
  Table table({whole ? "task>" : "box>", "from>", "sends", "to>", "fills", "elements>"});
  const std::size_t shown = std::min(report.plan.operations.size(), kBoxesShown);
  for (std::size_t k = 0; k < shown; ++k) {
    const ShardOperation& operation = report.plan.operations[k];
    table.row({fmt::format("{}", whole ? static_cast<Index>(k) : operation.number),
               fmt::format("{}", operation.source.value()),
               fmt::format("{} {}", source_of(report, operation).name, slices_text(operation, &Span::source)),
               fmt::format("{}", operation.target.value()),
               fmt::format("{} {}", target_of(report, operation).name, slices_text(operation, &Span::target)),
               count_text(operation.elements())});
  }
  std::string out = "\n" + table.text();
  if (const std::size_t more = report.plan.operations.size() - shown; more > 0)
    out += fmt::format("   and {} more (--json has all)\n", count_text(static_cast<Index>(more)));
  return out;
}

// Both sides of every tensor that is planned, by name; a reason where there is no layout.
std::map<std::string, std::pair<std::string, std::string>> layouts_of(const ShardReport& report) {
  std::map<std::string, std::string> sources;  // by resolved name of the target
  for (const ShardOperation& operation : report.plan.operations)
    sources[target_of(report, operation).resolved_name] = source_of(report, operation).resolved_name;
  const auto by_name = [](const megatron::Roster& roster) {
    std::map<std::string, megatron::Roster> tensors;
    for (const Parameter& parameter : roster.parameters)
      tensors[parameter.resolved_name].parameters.push_back(parameter);
    return tensors;
  };
  const auto text = [](const megatron::Roster& roster, const std::string& name) -> std::string {
    try {
      return megatron::layout_of(roster, name).text();
    } catch (const Error& error) {
      return error.what();
    }
  };
  auto from = by_name(report.rosters.sources), to = by_name(report.rosters.targets);
  std::map<std::string, std::pair<std::string, std::string>> layouts;
  for (const auto& [target, source] : sources) layouts[target] = {text(from[source], source), text(to[target], target)};
  return layouts;
}

std::string unwanted_text(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::size_t shown = std::min(names.size(), kNamesShown);
  return fmt::format("   unwanted          {}: {}{}\n", count_text(std::ssize(names), "source tensor"),
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     names.size() > shown ? ", .." : "");
}

Json box_json(const ShardOperation& operation) {
  Json box = Json::array();
  for (const Span& span : operation.box)
    box.push_back({{"source", span.source.value()}, {"target", span.target.value()}, {"length", span.length}});
  return box;
}

}  // namespace

ShardTotals totals_of(const ShardReport& report) {
  ShardTotals totals;
  for (const Parameter& parameter : report.rosters.sources.parameters) totals.out[parameter.owner] = 0;
  for (const Parameter& parameter : report.rosters.targets.parameters) totals.in[parameter.owner] = 0;
  std::set<std::pair<RankId, RankId>> pairs;
  for (const ShardOperation& operation : report.plan.operations) {
    const Index bytes = operation.elements() * bytes_of(target_of(report, operation).dtype);
    if (operation.source == operation.target) {
      totals.copied += bytes;
      continue;
    }
    totals.sent += bytes;
    totals.out[operation.source] += bytes;
    totals.in[operation.target] += bytes;
    pairs.insert({operation.source, operation.target});
  }
  totals.pairs = std::ssize(pairs);
  return totals;
}

std::string report_text(const ShardReport& report) {
  const ShardTotals totals = totals_of(report);
  std::string out = fmt::format("   sources           {}\n   targets           {}\n", side_text(report.rosters.sources),
                                side_text(report.rosters.targets));
  if (report.rank) out += fmt::format("   plan of           rank {}\n", report.rank->value());
  out += unwanted_text(report.plan.unwanted);
  out += fmt::format("   boxes             {} between {}\n", count_text(std::ssize(report.plan.operations)),
                     count_text(totals.pairs, "pair") + " of ranks");
  out += fmt::format("   sent              {}\n   copied in place   {}\n", bytes_text(totals.sent),
                     bytes_text(totals.copied));
  if (!report.rank)
    out += fmt::format("   imbalance         out {:.2f} over {}, in {:.2f} over {}\n", imbalance(totals.out),
                       count_text(std::ssize(totals.out), "rank"), imbalance(totals.in),
                       count_text(std::ssize(totals.in), "rank"));
  if (report.verified)
    out += report.faults.empty()
               ? "   verified          every element of every target is written once, by a rank that holds it\n"
               : fmt::format("   verified          NOT RIGHT: {}\n", count_text(std::ssize(report.faults), "fault"));
  for (const std::string& fault : report.faults) out += "     " + fault + "\n";
  out += boxes_text(report);
  if (!report.layouts) return out;
  for (const auto& [name, sides] : layouts_of(report))
    out += fmt::format("\n{}\n   {}\n   {}\n", name, sides.first, sides.second);
  return out;
}

std::string report_json(const ShardReport& report) {
  const ShardTotals totals = totals_of(report);
  Json json{{"records", {report.rosters.sources.parameters.size(), report.rosters.targets.parameters.size()}},
            {"unwanted", report.plan.unwanted},
            {"pairs", totals.pairs},
            {"sent", totals.sent},
            {"copied", totals.copied}};
  if (report.rank) json["rank"] = report.rank->value();
  if (!report.rank) json["imbalance_out"] = imbalance(totals.out), json["imbalance_in"] = imbalance(totals.in);
  if (report.verified) json["faults"] = report.faults;
  json["operations"] = Json::array();
  for (std::size_t k = 0; k < report.plan.operations.size(); ++k) {
    const ShardOperation& operation = report.plan.operations[k];
    Json entry{{"source", operation.source.value()},
               {"source_name", source_of(report, operation).name},
               {"target", operation.target.value()},
               {"target_name", target_of(report, operation).name},
               {"resolved_name", target_of(report, operation).resolved_name},
               {"number", operation.number},
               {"box", box_json(operation)}};
    if (!report.rank) entry["task"] = k;
    json["operations"].push_back(std::move(entry));
  }
  if (report.layouts)
    for (const auto& [name, sides] : layouts_of(report))
      json["layouts"][name] = {{"source", sides.first}, {"target", sides.second}};
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
