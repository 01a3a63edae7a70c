// All moves between placements of R, S0 and S1 on one mesh.
#include <algorithm>
#include <limits>
#include <map>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/compare/cheapest_route.h"
#include "plan/compare/greedy.h"
#include "reshard/compare.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

constexpr Index kMostAxes = 4;
constexpr Index kMostTableRanks = 4096;

Layout layout_of(const TensorOnMesh& tensor, const Placements& placements) {
  LayoutSpec spec{.dtype = Dtype::u8, .shape = tensor.shape, .mesh = Mesh("", tensor.axes)};
  for (const std::vector<int>& axes : placements.dims) {
    std::vector<Cut>& cuts = spec.cuts.emplace_back();
    for (const int axis : axes) cuts.emplace_back().axes = {axis};
  }
  return Layout(std::move(spec));
}

// One way to move, summed over pairs.
class Sum {
 public:
  // `buffers`: the most that a rank holds on the way, beside the `both` of its two shards.
  void add(Index received, Index needed, Index buffers, Index both) {
    above_ += received > needed;
    received_ += received;
    needed_ += needed;
    worst_ = std::max(worst_, multiple(received, needed));
    peak_ = std::max(peak_, multiple(buffers, both));
  }
  PlacementTable::Multiple result() const {
    return {.above = above_, .sum = multiple(received_, needed_), .worst = worst_, .peak = peak_};
  }

 private:
  static double multiple(Index of, Index one) {
    return one == 0 ? 1 : static_cast<double>(of) / static_cast<double>(one);
  }
  Index above_ = 0, received_ = 0, needed_ = 0;
  double worst_ = 1, peak_ = 0;
};

RouteCost cost_of(const TensorOnMesh& tensor, const std::vector<Step>& steps) {
  RouteCost cost;
  for (const Step& step : steps) {
    const StepCost one = cost_over_ranks(tensor, step);
    cost = {cost.received + one.received, cost.steps + 1, std::max(cost.buffers, one.buffers)};
  }
  return cost;
}

TensorOnMesh tensor_of(std::span<const Index> mesh, Index rows, Index columns) {
  if (mesh.empty()) fail(Code::invalid_argument, "a table of placements needs a mesh of at least one axis");
  if (std::ssize(mesh) > kMostAxes)
    fail(Code::unsupported, "a table of placements has at most {} axes, not {}", kMostAxes, mesh.size());
  if (rows < 0 || columns < 0)
    fail(Code::invalid_argument, "a tensor of [{},{}] elements has a negative size", rows, columns);
  TensorOnMesh tensor{.shape = {rows, columns}, .axes = {}, .element_bytes = 1};
  Index ranks = 1;
  for (const Index size : mesh) {
    if (size < 2)
      fail(Code::invalid_argument, "axis {} of the mesh has size {}; it cuts nothing below 2", tensor.axes.size(),
           size);
    ranks = checked_mul(ranks, size, "ranks of the mesh");
    tensor.axes.push_back({std::string(1, static_cast<char>('a' + tensor.axes.size())), size});
  }
  if (ranks > kMostTableRanks)
    fail(Code::unsupported, "a table of placements has at most {} ranks, not {}", kMostTableRanks, ranks);
  constexpr std::string_view kPadded = "padded elements of all ranks";
  const Index most_rows = checked_add(rows, ranks, kPadded), most_columns = checked_add(columns, ranks, kPadded);
  checked_mul(checked_mul(most_rows, most_columns, kPadded), 2 * ranks, kPadded);
  return tensor;
}

}  // namespace

PlacementTable compare_placements(std::span<const Index> mesh, Index rows, Index columns) {
  const TensorOnMesh tensor = tensor_of(mesh, rows, columns);
  std::vector<Placements> all = all_placements(tensor);
  std::erase_if(all, [](const Placements& placements) { return !placements.in_axis_order(); });
  std::vector<Layout> layouts;
  for (const Placements& placements : all) layouts.push_back(layout_of(tensor, placements));
  const bool even = std::ranges::all_of(all, [&](const Placements& placements) { return divides(tensor, placements); });
  const MoveGraph graph(tensor, MoveSet::dtensor), family(tensor, MoveSet::permute_family);

  Sum direct, greedy, cheapest, permuting;
  for (std::size_t from = 0; from < all.size(); ++from) {
    const Routes routes = graph.from(all[from], std::numeric_limits<Index>::max());
    std::map<Index, Routes> within;  // of the permute family, by the elements that a rank may hold
    for (std::size_t to = 0; to < all.size(); ++to) {
      if (from == to) continue;
      const Certificate certificate = plan(layouts[from], layouts[to]).certificate();
      const Index before = greatest_elements(tensor, all[from]), after = greatest_elements(tensor, all[to]);
      const auto add = [&](Sum& sum, const RouteCost& cost) {
        sum.add(cost.received, certificate.needed, cost.buffers, before + after);
      };
      add(direct, {.received = certificate.sent, .steps = 1, .buffers = before + after + certificate.peak_staging});
      add(greedy, cost_of(tensor, greedy_steps(tensor, all[from], all[to])));
      add(cheapest, routes.cost(all[to]));
      if (!even) continue;
      const Index most = std::max(before, after);
      auto permutes = within.find(most);
      if (permutes == within.end()) permutes = within.emplace(most, family.from(all[from], most)).first;
      add(permuting, permutes->second.cost(all[to]));
    }
  }
  PlacementTable table;
  table.mesh.assign(mesh.begin(), mesh.end());
  table.pairs = static_cast<Index>(all.size() * (all.size() - 1));
  table.direct = direct.result();
  table.dtensor_greedy = greedy.result();
  table.dtensor_graph = cheapest.result();
  if (even) table.permute_family = permuting.result();
  return table;
}

}  // namespace reshard
