#include "plan/megatron/shard_layout.h"

#include <algorithm>

#include "base/fail.h"
#include "plan/megatron/holdings.h"

namespace reshard::megatron {
namespace {

Cut tp_cut(const ShardForm& form, int axis) {
  Cut cut;
  cut.axes = {axis};
  cut.rule = Rule::even;
  if (!form.sizes.empty()) {
    cut.pieces = Pieces::packed;
    cut.piece_sizes = form.sizes;
  } else if (form.stride > 1) {
    cut.pieces = Pieces::strided;
    cut.piece_count = form.stride;
  }
  return cut;
}

Cut window(int axis, Index pad) {
  Cut cut;
  cut.axes = {axis};
  cut.rule = Rule::window;
  cut.block = pad;
  return cut;
}

[[noreturn]] void refuse(std::string_view name, const std::string& reason) {
  fail(Code::unsupported, "tensor '{}' has no layout: {}", name, reason);
}

// The record at every place of every grid: grids in order, then GTP, then TP.
std::vector<RankId> ranks_in_order(const Holdings& held) {
  const HeldForm& form = held.forms().front();
  std::map<ShardPlace, Index> shards;
  for (std::size_t k = 0; k < form.shards.size(); ++k) shards[form.shards[k].place] = static_cast<Index>(k);
  std::vector<RankId> ranks;
  for (Index grid = 0; grid < held.grids(); ++grid)
    for (Index gtp = 0; gtp < form.form.gtp_size; ++gtp)
      for (Index tp = 0; tp < form.form.tp_size; ++tp) {
        const auto shard = shards.find({tp, gtp});
        const auto record = shard == shards.end() ? std::nullopt : held.member(grid, shard->second);
        if (!record)
          refuse(held.name(),
                 fmt::format("copy {} has no rank at place {} of tensor parallel and {} of GTP", grid, tp, gtp));
        ranks.push_back(held.parameter(*record).owner);
      }
  return ranks;
}

}  // namespace

std::vector<std::vector<Cut>> cuts_of(const ShardForm& form, int gtp, int tp) {
  std::vector<std::vector<Cut>> cuts(form.stored.size());
  if (form.tp_dim >= 0) cuts[static_cast<std::size_t>(form.tp_dim)].push_back(tp_cut(form, tp));
  if (form.is_gtp) cuts[0].push_back(window(gtp, form.pad));
  return cuts;
}

Layout grid_layout(const ShardForm& form) {
  return Layout(LayoutSpec{.dtype = form.dtype,
                           .shape = form.global_shape(),
                           .mesh = Mesh("", {{"gtp", form.gtp_size}, {"tp", form.tp_size}}),
                           .cuts = cuts_of(form, 0, 1)});
}

Coordinate grid_coordinate(const ShardForm&, const ShardPlace& place) { return {place.gtp, place.tp}; }

Layout layout_of(const Roster& roster, std::string_view resolved_name) {
  std::vector<Index> records;
  for (std::size_t k = 0; k < roster.parameters.size(); ++k)
    if (roster.parameters[k].resolved_name == resolved_name) records.push_back(static_cast<Index>(k));
  if (records.empty()) fail(Code::invalid_argument, "tensor '{}' is not in the roster", resolved_name);
  const Holdings held(roster, "listed", resolved_name, records);
  const HeldForm& first = held.forms().front();
  if (first.form.fused && first.form.ep_size > 1)
    refuse(resolved_name,
           fmt::format("experts fused in one tensor, and {} parts of them under this name", first.form.ep_size));
  if (held.forms().size() > 1) {
    const HeldForm& second = held.forms()[1];
    refuse(resolved_name,
           "its copies are cut differently: " +
               difference_text(first.form, held.example(first).owner, second.form, held.example(second).owner));
  }
  std::vector<Axis> axes;
  int gtp = 0, tp = 0;
  if (held.grids() > 1) axes.push_back({"dp", held.grids()});
  if (first.form.is_gtp) gtp = static_cast<int>(axes.size()), axes.push_back({"gtp", first.form.gtp_size});
  if (first.form.tp_dim >= 0) tp = static_cast<int>(axes.size()), axes.push_back({"tp", first.form.tp_size});
  const std::vector<RankId> ranks = ranks_in_order(held);
  return Layout(LayoutSpec{.dtype = first.form.dtype,
                           .shape = first.form.global_shape(),
                           .mesh = Mesh::listed("", axes, ranks),
                           .cuts = cuts_of(first.form, gtp, tp)});
}

}  // namespace reshard::megatron
