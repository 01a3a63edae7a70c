#include "program/simulate/touched.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/simulate/expected.h"
#include "program/simulate/strided_rows.h"

namespace reshard::simulation {
namespace {

void add(std::vector<ByteRun>& runs, const ByteRun& run) {
  if (run.bytes == 0) return;
  if (!runs.empty()) {
    ByteRun& last = runs.back();
    if (last.rank == run.rank && last.window == run.window && last.offset + last.bytes == run.offset) {
      last.bytes += run.bytes;
      return;
    }
  }
  runs.push_back(run);
}

void add_rows(std::vector<ByteRun>& runs, const Operation& operation, RankId rank, bool source) {
  const int window = source ? operation.source_window : operation.target_window;
  for (const Block& block : operation.blocks) {
    for (Index row = 0; row < rows_of(block); ++row) {
      const RowPlace place = row_of(block, row);
      add(runs, {rank, window, source ? place.source : place.target, block.row_bytes});
    }
  }
}

void add_elements(std::vector<ByteRun>& runs, const Reduction& reduction, const Operand& operand, RankId rank,
                  Index bytes) {
  for (Index element = 0; element < elements_of(reduction); ++element)
    add(runs, {rank, operand.window, element_offset(reduction, operand, element), bytes});
}

// "0, 2..4": what of the shape the elements are, where they fill a range of one dimension.
std::string selections(const std::vector<Index>& shape, Index first, Index count) {
  Index inner = 1;
  std::size_t d = shape.size();
  while (d > 0 && shape[d - 1] > 0 && first % (inner * shape[d - 1]) == 0 && count % (inner * shape[d - 1]) == 0)
    inner *= shape[--d];
  if (d == 0) return "";
  Index at = first / inner;
  const Index from = at % shape[d - 1], to = from + count / inner;
  if (count % inner != 0 || to > shape[d - 1]) return "?";
  std::vector<std::string> parts{to - from == 1 ? fmt::format("{}", from) : fmt::format("{}..{}", from, to)};
  for (at /= shape[d - 1], --d; d > 0; at /= shape[d - 1], --d) parts.push_back(fmt::format("{}", at % shape[d - 1]));
  std::ranges::reverse(parts);
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace

std::vector<ByteRun> read_by(const Operation& operation, RankId rank) {
  std::vector<ByteRun> runs;
  switch (operation.code) {
    case OpCode::put:
    case OpCode::copy: add_rows(runs, operation, rank, true); break;
    case OpCode::get: add_rows(runs, operation, operation.peer, true); break;
    case OpCode::reduce:
    case OpCode::cast:
      for (const Reduction& reduction : operation.reductions)
        for (const Operand& term : reduction.terms)
          add_elements(runs, reduction, term, rank,
                       bytes_of(operation.code == OpCode::cast ? operation.source_dtype : operation.dtype));
      break;
    default: break;
  }
  return runs;
}

std::vector<ByteRun> written_by(const Operation& operation, RankId rank) {
  std::vector<ByteRun> runs;
  switch (operation.code) {
    case OpCode::put: add_rows(runs, operation, operation.peer, false); break;
    case OpCode::copy:
    case OpCode::get:
    case OpCode::fill: add_rows(runs, operation, rank, false); break;
    case OpCode::reduce:
    case OpCode::cast:
      for (const Reduction& reduction : operation.reductions)
        add_elements(runs, reduction, reduction.result, rank, bytes_of(operation.dtype));
      break;
    default: break;
  }
  return runs;
}

std::string name_of_run(const Program& program, ByteRun& run) {
  const WindowSpec& spec = program.windows[static_cast<std::size_t>(run.window)];
  const auto rank = static_cast<std::size_t>(run.rank.value());
  const Index element = bytes_of(spec.dtype);
  const Index first = run.offset / element, end = (run.offset + run.bytes + element - 1) / element;
  run.offset = first * element;
  run.bytes = std::min(end * element, spec.bytes[rank]) - run.offset;
  if (rank >= spec.shapes.size()) return fmt::format("{}, bytes {}..{}", spec.name, run.offset, run.offset + run.bytes);
  const std::string selected = selections(spec.shapes[rank], first, end - first);
  if (selected != "?") return spec.name + selected;
  return fmt::format("{} to {}", element_name(program, run.window, run.rank, run.offset),
                     element_name(program, run.window, run.rank, (end - 1) * element));
}

}  // namespace reshard::simulation
