#include "compare/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view title_of(Mover mover) {
  constexpr std::string_view kTitles[] = {"reshard", "permute family", "DTensor, graph", "DTensor, greedy",
                                          "gather, then slice"};
  return kTitles[static_cast<std::size_t>(mover)];
}

// Nothing where something is a multiple of nothing.
std::optional<double> multiple(Index of, Index one) {
  if (one == 0) return of == 0 ? std::optional<double>(1) : std::nullopt;
  return static_cast<double>(of) / static_cast<double>(one);
}

std::string multiple_text(Index of, Index one) {
  const std::optional<double> value = multiple(of, one);
  return value ? fmt::format("{:.2f}", *value) : "-";
}

Json multiple_json(Index of, Index one) {
  const std::optional<double> value = multiple(of, one);
  return value ? Json(*value) : Json(nullptr);
}

std::string step_text(const MoverStep& step) {
  if (step.collective == Collective::exchange) return "straight from an owner to its place";
  std::string text{name_of(step.collective)};
  if (!step.axis.empty()) text += " " + step.axis;
  if (!step.placements.empty()) text += " → " + step.placements;
  return text;
}

std::string how_text(const MoverCost& cost) {
  if (!cost.refused.empty()) return "refused: " + cost.refused;
  if (cost.steps.empty()) return "nothing to do";
  std::vector<std::string> steps;
  for (const MoverStep& step : cost.steps) steps.push_back(step_text(step));
  return fmt::format("{}", fmt::join(steps, ", "));
}

std::string placements_suffix(const std::string& placements) {
  return placements.empty() || placements == "()" ? "" : "   " + placements;
}

Json mover_json(const MoverCost& cost, const Comparison& comparison) {
  Json json{{"method", name_of(cost.mover)}};
  if (!cost.refused.empty()) {
    json["refused"] = cost.refused;
    return json;
  }
  json["received"] = cost.received;
  json["padding"] = cost.padding;
  json["times_bound"] = multiple_json(cost.received, comparison.needed);
  json["peak"] = cost.peak;
  json["times_shards"] = multiple_json(cost.peak, comparison.both_shards);
  json["steps"] = Json::array();
  for (const MoverStep& step : cost.steps)
    json["steps"].push_back({{"collective", name_of(step.collective)},
                             {"axis", step.axis.empty() ? Json(nullptr) : Json(step.axis)},
                             {"placements", step.placements.empty() ? Json(nullptr) : Json(step.placements)},
                             {"received", step.received}});
  json["received_by_rank"] = cost.received_by_rank;
  return json;
}

Json sums_json(const PlacementTable::Multiple& sums) {
  return {{"above_bound", sums.above}, {"sum", sums.sum}, {"worst", sums.worst}, {"peak", sums.peak}};
}

std::string share_text(Index part, Index all) {
  return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

std::string comparison_text(const Layout& source, const Layout& target, const Comparison& comparison) {
  const bool padded = std::ranges::any_of(comparison.movers, [](const MoverCost& cost) { return cost.padding > 0; });
  std::string out = fmt::format(
      "   source        {}{}\n   target        {}{}\n   lower bound   {} received by {}{}\n"
      "   both shards   {} on one rank\n\n",
      source.text(), placements_suffix(comparison.source_placements), target.text(),
      placements_suffix(comparison.target_placements), bytes_text(comparison.needed),
      count_text(std::ssize(comparison.ranks), "rank"),
      source.has_partial() ? ", if all terms go straight to their target; reshard plan may reduce them on the way" : "",
      bytes_text(comparison.both_shards));
  std::vector<std::string> headings{"method", "receives>", "× bound>", "steps>", "peak × shards>", "how"};
  if (padded) headings.insert(headings.begin() + 2, "of it padding>");
  Table table(headings);
  for (const MoverCost& cost : comparison.movers) {
    std::vector<std::string> row(headings.size());
    row.front() = title_of(cost.mover);
    row.back() = how_text(cost);
    if (cost.refused.empty()) {
      std::size_t column = 1;
      row[column++] = bytes_text(cost.received);
      if (padded) row[column++] = bytes_text(cost.padding);
      row[column++] = multiple_text(cost.received, comparison.needed);
      row[column++] = count_text(std::ssize(cost.steps));
      row[column++] = multiple_text(cost.peak, comparison.both_shards);
    }
    table.row(std::move(row));
  }
  return out + table.text();
}

std::string comparison_json(const Layout& source, const Layout& target, const Comparison& comparison) {
  Json json{{"source", source.text()},
            {"target", target.text()},
            {"source_placements", comparison.source_placements},
            {"target_placements", comparison.target_placements},
            {"needed", comparison.needed},
            {"both_shards", comparison.both_shards},
            {"ranks", Json::array()},
            {"methods", Json::array()}};
  for (const RankId rank : comparison.ranks) json["ranks"].push_back(rank.value());
  for (const MoverCost& cost : comparison.movers) json["methods"].push_back(mover_json(cost, comparison));
  return json.dump(2) + "\n";
}

std::string placement_tables_text(const std::vector<PlacementTable>& tables, Index rows, Index columns) {
  Table table({"mesh", "pairs>", "greedy > bound>", "graph > bound>", "greedy sum>", "graph sum>", "greedy worst>",
               "graph worst>", "greedy peak>", "permute sum>", "permute worst>", "reshard sum>"});
  for (const PlacementTable& one : tables) {
    const PlacementTable::Multiple &greedy = one.dtensor_greedy, &graph = one.dtensor_graph;
    const auto& permute = one.permute_family;
    table.row({tuple_text(one.mesh), count_text(one.pairs), share_text(greedy.above, one.pairs),
               share_text(graph.above, one.pairs), fmt::format("{:.2f}", greedy.sum), fmt::format("{:.2f}", graph.sum),
               fmt::format("{:.1f}", greedy.worst), fmt::format("{:.1f}", graph.worst),
               fmt::format("{:.1f}", greedy.peak), permute ? fmt::format("{:.2f}", permute->sum) : "-",
               permute ? fmt::format("{:.1f}", permute->worst) : "-", fmt::format("{:.2f}", one.direct.sum)});
  }
  return fmt::format(
             "   All moves of a {}×{} tensor between different placements of R, S0 and S1 on one mesh.\n"
             "   > bound: pairs that receive more than the lower bound. sum, worst: bytes received, over all pairs "
             "and\n"
             "   of the worst pair, as a multiple of the lower bound. peak: memory, as a multiple of both shards.\n\n",
             rows, columns) +
         table.text();
}

std::string placement_tables_json(const std::vector<PlacementTable>& tables, Index rows, Index columns) {
  Json json{{"shape", {rows, columns}}, {"meshes", Json::array()}};
  for (const PlacementTable& table : tables)
    json["meshes"].push_back(
        {{"mesh", table.mesh},
         {"pairs", table.pairs},
         {name_of(Mover::direct), sums_json(table.direct)},
         {name_of(Mover::permute_family), table.permute_family ? sums_json(*table.permute_family) : Json(nullptr)},
         {name_of(Mover::dtensor_graph), sums_json(table.dtensor_graph)},
         {name_of(Mover::dtensor_greedy), sums_json(table.dtensor_greedy)}});
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
