#include "predict/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownPerLevel = 3;

std::string direction(const LinkUse& use) { return use.inwards ? "in" : "out"; }

std::string named(const LinkUse& use, const Topology& topology) {
  return fmt::format("{} {}", topology.node_name(use.node), direction(use));
}

const LinkUse* greatest(const Prediction& prediction, double LinkUse::*seconds) {
  const auto found = std::ranges::max_element(prediction.links, {}, seconds);
  return found == prediction.links.end() ? nullptr : &*found;
}

std::string topology_text(const Topology& topology) {
  std::string out = count_text(topology.ranks(), "rank");
  for (int level = 1; level < topology.levels(); ++level)
    out += ", " + count_text(topology.nodes(level), topology.level_name(level));
  return out;
}

std::string links_text(const Prediction& prediction, const Topology& topology) {
  Table table({"link", "", "bytes>", "must>", "messages>", "time>", "at least>"});
  bool any = false;
  for (int level = topology.levels(); level-- > 0;) {
    std::size_t shown = 0;
    for (const LinkUse& use : prediction.links) {
      if (use.node.level != level || shown == kShownPerLevel) continue;
      ++shown;
      any = true;
      table.row({topology.node_name(use.node), direction(use), bytes_text(use.load.bytes), bytes_text(use.load.must),
                 count_text(use.load.messages), time_text(use.seconds), time_text(use.bound)});
    }
  }
  return any ? "\nThe busiest links of each level, each way\n" + table.text() : "";
}

std::string schemes_text(const Forecast& forecast) {
  if (forecast.schemes.empty()) return "\nNo two ranks want the same from others: there is nothing to forward.\n";
  Table table({"scheme", "time>", "busiest link>", "messages>", ""});
  for (const SchemeForecast& scheme : forecast.schemes)
    table.row({std::string(name_of(scheme.scheme)), time_text(scheme.seconds), time_text(scheme.link_seconds),
               count_text(scheme.messages), &scheme == &fastest(forecast) ? "chosen" : ""});
  return "\nOne to many: who forwards, with waits between hops\n" + table.text();
}

Json link_json(const LinkUse& use, const Topology& topology) {
  return {{"link", topology.node_name(use.node)},
          {"direction", direction(use)},
          {"bytes", use.load.bytes},
          {"bytes_least", use.load.must},
          {"messages", use.load.messages},
          {"seconds", use.seconds},
          {"seconds_least", use.bound}};
}

}  // namespace

std::string forecast_text(const Forecast& forecast, const Topology& topology, const std::string& file) {
  std::string out = fmt::format("   source            {}\n   target            {}\n   topology          {}: {}\n",
                                forecast.source, forecast.target, file, topology_text(topology));
  if (forecast.model)
    out += fmt::format("   tensors           {}, {}\n", count_text(forecast.tensors), bytes_text(forecast.bytes));
  out += fmt::format("   sent              {}{}lower bound {}\n", bytes_text(forecast.sent),
                     forecast.sent == forecast.needed ? " = " : ", ", bytes_text(forecast.needed));
  const LinkUse* busiest = greatest(forecast.prediction, &LinkUse::seconds);
  const LinkUse* bound = greatest(forecast.prediction, &LinkUse::bound);
  if (busiest == nullptr) return out + "   time              0: nothing crosses a link\n";
  out +=
      fmt::format("   time              {}: {}\n", time_text(forecast.prediction.seconds), named(*busiest, topology));
  out += fmt::format("   at least          {}: {}, each byte once\n", time_text(forecast.prediction.bound),
                     named(*bound, topology));
  if (forecast.rounds_seconds)
    out += fmt::format("   by rounds         {} for {}, one after another\n", time_text(*forecast.rounds_seconds),
                       count_text(forecast.rounds, "round"));
  out += fmt::format("   predicted         in {}\n", seconds_text(forecast.planned_in));
  return out + links_text(forecast.prediction, topology) + schemes_text(forecast);
}

std::string forecast_json(const Forecast& forecast, const Topology& topology, const std::string& file) {
  Json json{{"source", forecast.source},
            {"target", forecast.target},
            {"topology", file},
            {"tensors", forecast.tensors},
            {"tensor_bytes", forecast.bytes},
            {"sent", forecast.sent},
            {"needed", forecast.needed},
            {"seconds", forecast.prediction.seconds},
            {"seconds_least", forecast.prediction.bound}};
  if (const LinkUse* busiest = greatest(forecast.prediction, &LinkUse::seconds))
    json["busiest"] = named(*busiest, topology);
  if (forecast.rounds_seconds) json["rounds"] = {{"count", forecast.rounds}, {"seconds", *forecast.rounds_seconds}};
  json["prediction_seconds"] = forecast.planned_in;
  json["links"] = Json::array();
  for (const LinkUse& use : forecast.prediction.links) json["links"].push_back(link_json(use, topology));
  json["schemes"] = Json::array();
  for (const SchemeForecast& scheme : forecast.schemes)
    json["schemes"].push_back({{"scheme", name_of(scheme.scheme)},
                               {"seconds", scheme.seconds},
                               {"seconds_busiest_link", scheme.link_seconds},
                               {"messages", scheme.messages}});
  if (!forecast.schemes.empty()) json["chosen"] = name_of(fastest(forecast).scheme);
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
