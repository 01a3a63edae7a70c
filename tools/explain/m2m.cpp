#include "explain/m2m.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/section.h"
#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

std::string reductions_text(const M2MMap& map) {
  std::string text;
  for (const PartialReduction& reduction : map.source_partial_reductions())
    text += fmt::format("{}({}, {}) along \"{}\"", text.empty() ? "" : ", ", reduction.axis, name_of(reduction.op),
                        map.source().mesh().axes()[static_cast<std::size_t>(reduction.axis)].name);
  return text.empty() ? "none" : text;
}

std::string targets_text(const Route& route) {
  std::string text;
  for (const RouteEnd& target : route.targets)
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", target.rank.value(), route.is_local(target) ? " local" : "");
  return text.empty() ? "-" : text;
}

std::string routes_text(const M2MMap& map, const ShowOptions& options) {
  Index kinds[3] = {}, local = 0;
  for (const Route& route : map.routes()) {
    ++kinds[static_cast<int>(route.kind())];
    local += std::ranges::count_if(route.targets, [&](const RouteEnd& target) { return route.is_local(target); });
  }
  std::string text = heading("3. Routes, in the order in which all ranks go through them", options);
  text += indented(
      fmt::format("{} one, {} many, {} reduce-only; {}", count_text(kinds[static_cast<int>(RouteKind::one)]),
                  count_text(kinds[static_cast<int>(RouteKind::many)]),
                  count_text(kinds[static_cast<int>(RouteKind::reduce_only)]), count_text(local, "local destination")));
  Table table({"source rank·idx", "kind", "target ranks"});
  const Index all = std::ssize(map.routes()), shown = limit_of(all, options);
  for (const Route& route : map.routes().first(static_cast<std::size_t>(shown)))
    table.row({cell_text(route.source.rank, map.source_index(route.source.cell)), std::string(name_of(route.kind())),
               targets_text(route)});
  return text + table.text() + more_text(shown, all);
}

}  // namespace

std::string grid_text(const M2MMap& map) {
  std::string text;
  text += indented("middle                     " + middle_text(map.source_counts(), map.target_counts(), map.middle()));
  const auto slicers = [&](std::string_view side, const std::vector<Index>& cells, const std::vector<Index>& shards) {
    text += indented(fmt::format("{}_num_slicers         {}   cells of a shard; {}", side, tuple_text(cells),
                                 shards.empty() ? "one shard" : extents_text(shards) + " shards"));
  };
  slicers("source", map.source_num_slicers(), map.source_counts());
  slicers("target", map.target_num_slicers(), map.target_counts());
  return text + indented("source_partial_reductions  " + reductions_text(map));
}

std::string map_table(const M2MMap& map, const ShowOptions& options) {
  Index all = 0;
  for (const Route& route : map.routes()) all += std::ssize(route.targets);
  const Index limit = limit_of(all, options);
  std::vector<CellMove> moves;
  for (const Route& route : map.routes())
    for (const RouteEnd& target : route.targets)
      if (std::ssize(moves) < limit)
        moves.push_back(
            {route.source.rank, map.source_index(route.source.cell), target.rank, map.target_index(target.cell)});
  return cells_table(moves) + more_text(std::ssize(moves), all);
}

std::string m2m_text(const M2MMap& map, const ShowOptions& options) {
  std::string text = indented("source  " + map.source().text()) + indented("target  " + map.target().text());
  text += heading("1. The common grid", options) + grid_text(map);
  text += heading("2. The map, dict[source rank][source idx] → [(target rank, target idx)]", options);
  return text + map_table(map, options) + routes_text(map, options);
}

}  // namespace reshard::cli
