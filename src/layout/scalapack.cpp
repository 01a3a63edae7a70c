// ScaLAPACK array descriptors: blocks dealt round robin over a grid of processes, the first to (RSRC, CSRC).
#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "layout/convention.h"
#include "layout/locate.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

// Of the process with the first block: no other has more.
Index most_rows(const ScalapackMatrix& matrix) {
  const Index blocks = matrix.m / matrix.mb, turns = blocks / matrix.process_rows;
  return turns * matrix.mb + (blocks % matrix.process_rows > 0 ? matrix.mb : matrix.m % matrix.mb);
}

void check(const ScalapackMatrix& matrix) {
  const auto at_least = [](Index value, Index least, std::string_view name) {
    if (value < least)
      fail(Code::invalid_argument, "ScaLAPACK descriptor: {} is {}, it must be at least {}", name, value, least);
  };
  const auto below = [](Index value, Index end, std::string_view name, std::string_view of) {
    if (value < 0 || value >= end)
      fail(Code::invalid_argument, "ScaLAPACK descriptor: {} is {}, it must be 0 to {}, one of the {}", name, value,
           end - 1, of);
  };
  at_least(matrix.m, 0, "M_");
  at_least(matrix.n, 0, "N_");
  at_least(matrix.mb, 1, "MB_");
  at_least(matrix.nb, 1, "NB_");
  at_least(matrix.process_rows, 1, "the number of process rows");
  at_least(matrix.process_columns, 1, "the number of process columns");
  below(matrix.rsrc, matrix.process_rows, "RSRC_", "process rows");
  below(matrix.csrc, matrix.process_columns, "CSRC_", "process columns");
  if (matrix.lld != 0 && matrix.lld < most_rows(matrix))
    fail(Code::invalid_argument,
         "ScaLAPACK descriptor: LLD_ is {}, but a process has {} rows; 0 means as many as it has", matrix.lld,
         most_rows(matrix));
}

RankId rank_of(const ScalapackMatrix& matrix, Index process_row, Index process_column) {
  return matrix.base + (matrix.order == GridOrder::row_major ? process_row * matrix.process_columns + process_column
                                                             : process_column * matrix.process_rows + process_row);
}

// Process of the blocks at mesh coordinate (p, q).
RankId rank_at(const ScalapackMatrix& matrix, Index p, Index q) {
  return rank_of(matrix, (p + matrix.rsrc) % matrix.process_rows, (q + matrix.csrc) % matrix.process_columns);
}

Mesh mesh_of(const ScalapackMatrix& matrix) {
  const std::vector<Axis> axes{{"p", matrix.process_rows}, {"q", matrix.process_columns}};
  if (matrix.rsrc == 0 && matrix.csrc == 0) {
    const bool by_rows = matrix.order == GridOrder::row_major;
    return Mesh::strided("", axes, matrix.base,
                         {by_rows ? matrix.process_columns : 1, by_rows ? 1 : matrix.process_rows});
  }
  std::vector<RankId> ranks;
  for (Index p = 0; p < matrix.process_rows; ++p)
    for (Index q = 0; q < matrix.process_columns; ++q) ranks.push_back(rank_at(matrix, p, q));
  return Mesh::listed("", axes, std::move(ranks));
}

Cut cyclic(int axis, Index block) {
  Cut cut;
  cut.axes = {axis};
  cut.rule = Rule::cyclic;
  cut.block = block;
  return cut;
}

// One dimension as ScaLAPACK would say it.
struct Blocks {
  Index block = 1;
  Index processes = 1;
  std::vector<int> axes;  // of the mesh, slowest first
};

Blocks blocks_of(const Layout& layout, int dim) {
  const LayoutSpec& spec = layout.spec();
  const Index n = spec.shape[dim];
  const std::vector<Cut>& cuts = spec.cuts[dim];
  if (cuts.empty()) return {std::max<Index>(n, 1), 1, {}};
  const Cut& cut = cuts.front();
  const Index processes = cut_width(spec.mesh, cut);
  if (cuts.size() == 1 && cut.pieces == Pieces::whole && cut.unit == 1 && cut.rule == Rule::cyclic)
    return {cut.block, processes, cut.axes};
  const bool divides = require_chunks(layout, dim, "ScaLAPACK");
  if (cuts.size() > 1 && !divides)
    fail(Code::unsupported, "{}: ScaLAPACK cuts dimension {} once; cutting axis by axis differs for {} elements",
         layout.text(), dim, n);
  Blocks blocks;
  for (const Cut& each : cuts) {
    blocks.processes *= cut_width(spec.mesh, each);
    blocks.axes.insert(blocks.axes.end(), each.axes.begin(), each.axes.end());
  }
  blocks.block = std::max<Index>(ceil_div(n, blocks.processes), 1);
  return blocks;
}

void require_unique_owners(const Layout& layout) {
  const LayoutSpec& spec = layout.spec();
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis)
    if (spec.kinds[axis].kind != AxisKind::Kind::cut && spec.mesh.axes()[axis].size > 1)
      fail(Code::unsupported, "{}: a ScaLAPACK matrix has one owner per element, but axis \"{}\" does not cut it",
           layout.text(), spec.mesh.axes()[axis].name);
}

Index leading_dimension(const Layout& layout) {
  const StorageOrder& storage = layout.spec().storage;
  if (storage.order == std::vector<int>{1, 0}) return 0;
  if (storage.strides.size() == 2 && storage.strides[0] == 1) return storage.strides[1];
  fail(Code::unsupported, "{}: ScaLAPACK stores columns one after another; give order(1,0) or strides(1,lld)",
       layout.text());
}

// Sets the index along `axes` together, slowest first.
void set_index(const Mesh& mesh, const std::vector<int>& axes, Index index, Coordinate& coordinate) {
  for (std::size_t k = axes.size(); k-- > 0;) {
    coordinate[axes[k]] = index % mesh.axes()[axes[k]].size;
    index /= mesh.axes()[axes[k]].size;
  }
}

}  // namespace

Layout from_scalapack(Dtype dtype, const ScalapackMatrix& matrix) {
  check(matrix);
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = {matrix.m, matrix.n};
  spec.mesh = mesh_of(matrix);
  spec.cuts = {{cyclic(0, matrix.mb)}, {cyclic(1, matrix.nb)}};
  if (matrix.lld > 0)
    spec.storage.strides = {1, matrix.lld};
  else
    spec.storage.order = {1, 0};
  return Layout(std::move(spec));
}

ScalapackMatrix to_scalapack(const Layout& layout) {
  if (layout.is_view() || layout.dims() != 2)
    fail(Code::unsupported, "{}: a ScaLAPACK matrix has two dimensions and is no view", layout.text());
  require_unique_owners(layout);
  const Mesh& mesh = layout.mesh();
  const Blocks rows = blocks_of(layout, 0), columns = blocks_of(layout, 1);
  ScalapackMatrix matrix{.m = layout.shape()[0],
                         .n = layout.shape()[1],
                         .mb = rows.block,
                         .nb = columns.block,
                         .lld = leading_dimension(layout),
                         .process_rows = rows.processes,
                         .process_columns = columns.processes,
                         .base = mesh.first_rank()};
  Coordinate coordinate(mesh.axes().size(), 0);
  const auto fits = [&] {
    for (Index p = 0; p < rows.processes; ++p)
      for (Index q = 0; q < columns.processes; ++q) {
        set_index(mesh, rows.axes, p, coordinate);
        set_index(mesh, columns.axes, q, coordinate);
        if (mesh.rank_at(coordinate) != rank_at(matrix, p, q)) return false;
      }
    return true;
  };
  const Index first = mesh.rank_at(coordinate) - matrix.base;  // process of the first block
  if (first < mesh.size()) {
    matrix.rsrc = first / matrix.process_columns;
    matrix.csrc = first % matrix.process_columns;
    if (fits()) return matrix;
    matrix.order = GridOrder::column_major;
    matrix.rsrc = first % matrix.process_rows;
    matrix.csrc = first / matrix.process_rows;
    if (fits()) return matrix;
  }
  fail(Code::unsupported, "{}: its ranks are no grid of {} x {} processes in row-major or column-major order",
       layout.text(), rows.processes, columns.processes);
}

}  // namespace reshard
