#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/numbers.h"
#include "output/table.h"
#include "tune/measured.h"

namespace reshard::cli {
namespace {

std::string time_cell(const std::vector<AlgorithmTime>& times, Algorithm algorithm) {
  for (const AlgorithmTime& time : times)
    if (time.algorithm == algorithm) return time_text(time.seconds);
  return "-";
}

}  // namespace

std::string tune_text(const std::vector<MeasuredCase>& cases, const Tuning& tuning) {
  Table table({"operation", "ranks>", "bytes>", "eager>", "direct>", "takes"});
  for (const MeasuredCase& measured : cases)
    for (const auto& [bytes, times] : measured.times)
      table.row({std::string(name_of(measured.kind)), fmt::format("{}", measured.ranks), bytes_text(bytes),
                 time_cell(times, Algorithm::eager), time_cell(times, Algorithm::direct),
                 std::string(name_of(tuning.choose(measured.kind, measured.ranks, 1, bytes)))});
  return table.text();
}

std::string tune_json(const std::string& fabric, const std::vector<MeasuredCase>& cases, const Tuning& tuning) {
  nlohmann::ordered_json json{{"fabric", fabric}, {"times", nlohmann::ordered_json::array()}};
  for (const MeasuredCase& measured : cases) {
    for (const auto& [bytes, times] : measured.times) {
      for (const AlgorithmTime& time : times)
        json["times"].push_back({{"operation", name_of(measured.kind)},
                                 {"ranks", measured.ranks},
                                 {"bytes", bytes},
                                 {"algorithm", name_of(time.algorithm)},
                                 {"seconds", time.seconds},
                                 {"least", time.least},
                                 {"most", time.most}});
    }
  }
  json["table"] = tuning.text();
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
