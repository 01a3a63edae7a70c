#include "plan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output/numbers.h"
#include "output/table.h"
#include "plan/rounds_report.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBusiest = 5;
constexpr std::size_t kMatrixRanks = 32;  // rows shown rank by rank
constexpr std::size_t kMatrixGroups = 16;

std::string busiest_text(const Totals& totals) {
  Table table({"busiest", "sends>", "to>", "", "busiest", "receives>", "from>"});
  const auto out = totals.busiest(&RankBytes::sent, kBusiest), in = totals.busiest(&RankBytes::received, kBusiest);
  for (std::size_t k = 0; k < std::max(out.size(), in.size()); ++k) {
    std::vector<std::string> row(7);
    if (k < out.size()) {
      row[0] = fmt::format("rank {}", out[k].rank.value());
      row[1] = bytes_text(out[k].sent);
      row[2] = count_text(out[k].messages_out, "rank");
    }
    if (k < in.size()) {
      row[4] = fmt::format("rank {}", in[k].rank.value());
      row[5] = bytes_text(in[k].received);
      row[6] = count_text(in[k].messages_in, "rank");
    }
    table.row(std::move(row));
  }
  return out.empty() && in.empty() ? "" : "\n" + table.text();
}

// Ranks of one side of the matrix, in groups.
struct Side {
  std::vector<RankId> ranks;
  std::size_t per_group = 1;
  std::size_t groups() const { return (ranks.size() + per_group - 1) / per_group; }
  std::size_t group_of(RankId rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ranks, rank) - ranks.begin()) / per_group;
  }
  std::string name(std::size_t group) const {
    const std::size_t last = std::min((group + 1) * per_group, ranks.size()) - 1;
    const Index a = ranks[group * per_group].value(), b = ranks[last].value();
    return a == b ? fmt::format("{}", a) : fmt::format("{}-{}", a, b);
  }
};

Side side_of(const Totals& totals, bool sources, Index ranks_per_host) {
  Side side;
  for (const auto& [pair, bytes] : totals.pairs) side.ranks.push_back(sources ? pair.first : pair.second);
  std::ranges::sort(side.ranks);
  side.ranks.erase(std::unique(side.ranks.begin(), side.ranks.end()), side.ranks.end());
  if (side.ranks.size() <= kMatrixRanks) return side;
  side.per_group = std::max<std::size_t>(static_cast<std::size_t>(ranks_per_host), 1);
  while (side.groups() > kMatrixGroups) side.per_group *= 2;
  return side;
}

std::string verdict_text(const PlanReport& report) {
  if (!report.verified) return "";
  const std::string what =
      fmt::format("{} in {}", count_text(report.distinct, "distinct plan"), seconds_text(report.verify_seconds));
  std::string out = report.faults.empty() ? fmt::format("   verified          {}, no fault\n", what)
                                          : fmt::format("   verified          {}: {}\n", what,
                                                        count_text(std::ssize(report.faults), "FAULT"));
  for (const std::string& fault : report.faults) out += "     " + fault + "\n";
  return out;
}

std::string relabelled_text(const PlanReport& report) {
  if (!report.relabelled) return "";
  const Relabelling& relabelled = *report.relabelled;
  if (relabelled.seats.empty()) return "   relabelled        no: no order of the target's ranks keeps more in place\n";
  return fmt::format("   relabelled        {} change rank, {} less to send; given was {}\n",
                     count_text(std::ssize(relabelled.seats), "place"), bytes_text(relabelled.saved()),
                     report.target_given);
}

std::string stages_text(const PlanReport& report) {
  std::string out;
  for (std::size_t k = 0; report.staged && k < report.stages.size(); ++k) {
    const StageReport& stage = report.stages[k];
    out += fmt::format("   stage {}           {} sent in {} to {}\n", k + 1, bytes_text(stage.sent),
                       count_text(stage.messages, "message"), stage.target);
  }
  if (report.peak_staging > 0)
    out += fmt::format("   staging           {} for terms, at most, on a rank\n", bytes_text(report.peak_staging));
  return out;
}

Json stages_json(const PlanReport& report) {
  Json stages = Json::array();
  for (const StageReport& stage : report.stages)
    stages.push_back(
        {{"target", stage.target}, {"sent", stage.sent}, {"needed", stage.needed}, {"messages", stage.messages}});
  return stages;
}

std::string bound_text(const PlanReport& report) {
  if (report.totals.sent != report.totals.needed) return "";
  return report.staged ? " of its stages" : ": no plan sends less";
}

std::string messages_text(const PlanReport& report) {
  std::string out = fmt::format("   messages          {}", count_text(report.totals.messages));
  if (report.model)
    out += fmt::format(" between {}", std::ssize(report.totals.pairs) == 1
                                          ? "1 pair of ranks"
                                          : count_text(std::ssize(report.totals.pairs)) + " pairs of ranks");
  if (!report.packing) return out + "\n";
  const PackingReport& packing = *report.packing;
  out += fmt::format("; {} when those below {} are packed\n", count_text(packing.messages),
                     bytes_text(packing.pack_below));
  return out + fmt::format("   packing           stages {} of {} on a rank, at most\n",
                           bytes_text(packing.peak_staging), bytes_text(packing.staging_limit));
}

Json packing_json(const PackingReport& packing) {
  return {{"messages", packing.messages},
          {"pack_below", packing.pack_below},
          {"peak_staging", packing.peak_staging},
          {"staging_limit", packing.staging_limit}};
}

Json relabelled_json(const PlanReport& report) {
  Json seats = Json::array();
  for (const Seat& seat : report.relabelled->seats)
    seats.push_back({{"before", seat.before.value()}, {"now", seat.now.value()}});
  return {{"target_given", report.target_given},
          {"saved", report.relabelled->saved()},
          {"kept", report.relabelled->kept},
          {"seats", std::move(seats)}};
}

}  // namespace

std::string matrix_text(const Totals& totals, Index ranks_per_host) {
  const Side from = side_of(totals, true, ranks_per_host), to = side_of(totals, false, ranks_per_host);
  if (from.ranks.empty()) return "\nNothing is sent.\n";
  std::vector<std::vector<Index>> bytes(from.groups(), std::vector<Index>(to.groups(), 0));
  for (const auto& [pair, sent] : totals.pairs) bytes[from.group_of(pair.first)][to.group_of(pair.second)] += sent;
  std::vector<std::string> headings{"from \\ to"};
  for (std::size_t c = 0; c < to.groups(); ++c) headings.push_back(to.name(c) + ">");
  Table table(headings);
  for (std::size_t r = 0; r < from.groups(); ++r) {
    std::vector<std::string> row{from.name(r)};
    for (const Index sent : bytes[r]) row.push_back(sent == 0 ? "." : bytes_text(sent));
    table.row(std::move(row));
  }
  return "\nBytes from rank (row) to rank (column)\n" + table.text();
}

std::string report_text(const PlanReport& report, bool matrix, Index ranks_per_host) {
  const Totals& totals = report.totals;
  std::string out = fmt::format("   source            {}\n   target            {}\n", report.source, report.target);
  out += relabelled_text(report);
  if (report.model)
    out += fmt::format("   tensors           {}, {}, in {} (source, target, shape, turn)\n", count_text(totals.tensors),
                       bytes_text(totals.tensor_bytes), count_text(report.distinct, "class"));
  out += fmt::format("   sent              {}{}lower bound {}{}\n", bytes_text(totals.sent),
                     totals.sent == totals.needed ? " = " : ", ", bytes_text(totals.needed), bound_text(report));
  out += stages_text(report);
  out += fmt::format("   copied in place   {}\n", bytes_text(totals.copied));
  out += messages_text(report);
  out +=
      fmt::format("   imbalance         out {:.2f} over {}, in {:.2f} over {}\n",
                  totals.imbalance(&RankBytes::sent, report.source_ranks), count_text(report.source_ranks, "rank"),
                  totals.imbalance(&RankBytes::received, report.target_ranks), count_text(report.target_ranks, "rank"));
  out += fmt::format("   planned           in {}, policy {}\n", seconds_text(report.seconds), report.policy);
  out += verdict_text(report) + busiest_text(totals);
  if (report.rounds) out += rounds_text(*report.rounds);
  if (report.host_rounds) out += rounds_text(*report.host_rounds);
  return matrix ? out + matrix_text(totals, ranks_per_host) : out;
}

std::string report_json(const PlanReport& report, bool matrix) {
  const Totals& totals = report.totals;
  Json json{{"source", report.source},
            {"target", report.target},
            {"policy", report.policy},
            {"tensors", totals.tensors},
            {"tensor_bytes", totals.tensor_bytes},
            {"distinct_plans", report.distinct},
            {"sent", totals.sent},
            {"needed", totals.needed},
            {"copied", totals.copied},
            {"messages", totals.messages},
            {"pairs", totals.pairs.size()},
            {"imbalance_out", totals.imbalance(&RankBytes::sent, report.source_ranks)},
            {"imbalance_in", totals.imbalance(&RankBytes::received, report.target_ranks)},
            {"plan_seconds", report.seconds}};
  if (report.staged && !report.model) json["stages"] = stages_json(report);
  if (report.peak_staging > 0) json["peak_staging"] = report.peak_staging;
  if (report.packing) json["packing"] = packing_json(*report.packing);
  if (report.relabelled) json["relabelled"] = relabelled_json(report);
  if (report.verified) {
    json["verify_seconds"] = report.verify_seconds;
    json["faults"] = report.faults;
  }
  for (const auto& [rank, bytes] : totals.ranks)
    json["ranks"].push_back({{"rank", rank.value()},
                             {"sent", bytes.sent},
                             {"received", bytes.received},
                             {"copied", bytes.copied},
                             {"needed", bytes.needed},
                             {"peers_out", bytes.messages_out},
                             {"peers_in", bytes.messages_in}});
  if (matrix) {
    json["matrix"] = Json::array();
    for (const auto& [pair, bytes] : totals.pairs)
      json["matrix"].push_back({{"source", pair.first.value()}, {"target", pair.second.value()}, {"bytes", bytes}});
  }
  if (report.rounds) json["rank_rounds"] = rounds_json(*report.rounds);
  if (report.host_rounds) json["host_rounds"] = rounds_json(*report.host_rounds);
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
