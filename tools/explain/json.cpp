// explain for programs: everything, exact.
#include <nlohmann/json.hpp>

#include "explain/explained.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index kGreatestMap = Index{1} << 20;  // cells

Json slices(const std::vector<Segments>& dims) {
  Json json = Json::array();
  for (const Segments& segments : dims) {
    Json& dim = json.emplace_back(Json::array());
    for (const Segment& segment : segments)
      dim.push_back({segment.global.value(), (segment.global + segment.length).value()});
  }
  return json;
}

Json side(const Cutting& cutting) {
  const Layout& layout = cutting.layout();
  Json json{{"layout", layout.text()}, {"shape", layout.shape()},  {"dtype", name_of(layout.dtype())},
            {"bytes", layout.bytes()}, {"cuts", cutting.bounds()}, {"ranks", Json::array()}};
  for (const Holding& holding : cutting.holdings()) {
    const LocalStorage storage = layout.storage_at(holding.coordinate);
    Json rank{{"rank", holding.rank.value()}, {"coordinate", holding.coordinate}, {"held", holding.region.held}};
    if (holding.region.held) {
      rank["holds"] = slices(holding.region.dims);
      rank["local_shape"] = storage.extents;
      rank["strides"] = storage.strides;
      rank["offset"] = storage.offset;
    }
    rank["bytes"] = storage.elements * bytes_of(layout.dtype());
    json["ranks"].push_back(std::move(rank));
  }
  return json;
}

Json map_of(const Explained& explained) {
  const Move& move = *explained.move;
  const Index cells = count_cells(move.plan, explained.source, move.grid);
  if (cells > kGreatestMap) return nullptr;
  Json json = Json::array();
  for (const CellMove& cell : cell_moves(move.plan, explained.source, move.target, move.grid, cells))
    json.push_back({{"source", cell.source.value()},
                    {"source_cell", cell.source_cell},
                    {"target", cell.target.value()},
                    {"target_cell", cell.target_cell}});
  return json;
}

Json transfers_of(const Explained& explained) {
  const Plan& plan = explained.move->plan;
  Json json = Json::array();
  for (const Transfer& transfer : plan.transfers())
    json.push_back({{"source", transfer.source.value()},
                    {"target", transfer.target.value()},
                    {"slice", slices(global_slice(transfer, explained.source))},
                    {"bytes", transfer.elements() * bytes_of(plan.source().dtype())}});
  return json;
}

}  // namespace

std::string explain_json(const Explained& explained) {
  if (!explained.move) return side(explained.source).dump(2) + "\n";
  const Move& move = *explained.move;
  const Certificate& certificate = move.certificate;
  const Json json{{"source", side(explained.source)},
                  {"target", side(move.target)},
                  {"common_grid", {{"even", move.grid.even}, {"cuts", move.grid.bounds}}},
                  {"map", map_of(explained)},
                  {"transfers", transfers_of(explained)},
                  {"certificate",
                   {{"sent", certificate.sent},
                    {"needed", certificate.needed},
                    {"copied", certificate.copied},
                    {"messages", certificate.messages},
                    {"imbalance_out", certificate.imbalance_out},
                    {"imbalance_in", certificate.imbalance_in}}}};
  return json.dump(2) + "\n";
}

}  // namespace reshard::cli
