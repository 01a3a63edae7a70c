// The text and JSON forms of m2m maps.
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "reshard/m2m.h"

namespace reshard {
namespace {

std::string index_text(const CellIndex& index) { return fmt::format("({})", fmt::join(index, ",")); }

// A tuple is no key in JSON.
std::string key_of(const CellIndex& index) { return fmt::format("{}", fmt::join(index, ",")); }

}  // namespace

std::string M2MMap::text() const {
  std::string out =
      fmt::format("m2m middle {}\nsource {} slicers {}\ntarget {} slicers {}\n", index_text(middle_), source_.text(),
                  index_text(source_num_slicers_), target_.text(), index_text(target_num_slicers_));
  const auto end = std::back_inserter(out);
  for (const PartialReduction& reduction : source_partial_reductions_)
    fmt::format_to(end, "reduce {} along axis {} \"{}\"\n", name_of(reduction.op), reduction.axis,
                   source_.mesh().axes()[reduction.axis].name);
  for (const Route& route : routes_) {
    fmt::format_to(end, "{} {} {}", route.source.rank.value(), index_text(source_index(route.source.cell)),
                   name_of(route.kind()));
    for (std::size_t k = 0; k < route.targets.size(); ++k) {
      const RouteEnd& target = route.targets[k];
      fmt::format_to(end, "{} {} {}{}", k == 0 ? " ->" : ",", target.rank.value(),
                     index_text(target_index(target.cell)), route.is_local(target) ? " local" : "");
    }
    out += '\n';
  }
  return out;
}

std::string M2MMap::json() const {
  using Json = nlohmann::ordered_json;
  Json map = Json::object(), reductions = Json::array(), routes = Json::array();
  for (const Route& route : routes_) {
    const std::string rank = fmt::format("{}", route.source.rank.value());
    const CellIndex index = source_index(route.source.cell);
    Json targets = Json::array();
    bool local = false;
    for (const RouteEnd& target : route.targets) {
      targets.push_back(Json::array({target.rank.value(), target_index(target.cell)}));
      local = local || route.is_local(target);
    }
    map[rank][key_of(index)] = std::move(targets);
    routes.push_back(
        {{"rank", route.source.rank.value()}, {"cell", index}, {"kind", name_of(route.kind())}, {"local", local}});
  }
  for (const PartialReduction& reduction : source_partial_reductions_)
    reductions.push_back(Json::array({reduction.axis, name_of(reduction.op)}));
  const Json out{{"format", "reshard m2m 1"},
                 {"source", source_.text()},
                 {"target", target_.text()},
                 {"middle", middle_},
                 {"source_num_slicers", source_num_slicers_},
                 {"target_num_slicers", target_num_slicers_},
                 {"source_partial_reductions", std::move(reductions)},
                 {"m2m_map", std::move(map)},
                 {"routes", std::move(routes)}};
  return out.dump(1);
}

}  // namespace reshard
