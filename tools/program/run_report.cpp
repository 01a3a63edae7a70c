#include "program/run_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/numbers.h"
#include "output/table.h"
#include "program/simulate_report.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Counter {
  std::string_view heading;
  std::string_view key;
  Index Traffic::*counted;
  Index CostCard::Rank::*stated;
};
constexpr Counter kCounters[] = {
    {"bytes put>", "bytes_put", &Traffic::bytes_put, &CostCard::Rank::bytes_put},
    {"got>", "bytes_got", &Traffic::bytes_got, &CostCard::Rank::bytes_got},
    {"copied>", "bytes_copied", &Traffic::bytes_copied, &CostCard::Rank::bytes_copied},
    {"reduced>", "bytes_reduced", &Traffic::bytes_reduced, &CostCard::Rank::bytes_reduced},
    {"puts>", "puts", &Traffic::puts, &CostCard::Rank::puts},
    {"gets>", "gets", &Traffic::gets, &CostCard::Rank::gets},
    {"notifies>", "notifications", &Traffic::notifications, &CostCard::Rank::notifications},
    {"waits>", "waits", &Traffic::waits, &CostCard::Rank::waits},
};

bool agree(const Traffic& counted, const CostCard::Rank& stated) {
  for (const Counter& counter : kCounters)
    if (counted.*counter.counted != stated.*counter.stated) return false;
  return true;
}

std::string traffic_text(const ProgramRunReport& report) {
  std::vector<std::string> headings{"rank>", "device>"};
  for (const Counter& counter : kCounters) headings.emplace_back(counter.heading);
  headings.emplace_back("cost card");
  Table table(std::move(headings));
  for (std::size_t rank = 0; rank < report.traffic.size(); ++rank) {
    std::vector<std::string> row{fmt::format("{}", rank), fmt::format("{}", report.devices[rank])};
    for (const Counter& counter : kCounters) row.push_back(fmt::format("{}", report.traffic[rank].*counter.counted));
    row.emplace_back(agree(report.traffic[rank], report.card.ranks.at(rank)) ? "the same" : "other numbers");
    table.row(std::move(row));
  }
  return fmt::format("\nCounted in call {}, beside its cost card\n{}", report.calls, table.text(2));
}

}  // namespace

std::string run_text(const ProgramRunReport& report, bool verbose) {
  const std::string verdict =
      report.has_expect ? "OK\n" : "OK, though nothing was compared: the program has no expect\n";
  if (!verbose) return verdict;
  return fmt::format("{}\n{} on {}, {}\n{}", verdict, report.program,
                     count_text(std::ssize(report.devices), report.fabric == "shm" ? "process" : "thread"),
                     count_text(report.calls, "call"), traffic_text(report));
}

std::string run_json(const ProgramRunReport& report) {
  Json traffic = Json::array();
  for (std::size_t rank = 0; rank < report.traffic.size(); ++rank) {
    Json entry{{"rank", rank}};
    for (const Counter& counter : kCounters) entry[std::string(counter.key)] = report.traffic[rank].*counter.counted;
    traffic.push_back(std::move(entry));
  }
  const Json json{{"program", report.program},         {"fabric", report.fabric},
                  {"devices", report.devices},         {"calls", report.calls},
                  {"correct", report.failure.empty()}, {"compared", report.has_expect},
                  {"message", report.failure},         {"traffic", report.failure.empty() ? traffic : Json::array()},
                  {"card", cost_json(report.card)}};
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
