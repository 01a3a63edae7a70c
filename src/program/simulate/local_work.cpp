#include "program/simulate/local_work.h"

#include <array>
#include <cstring>

#include "base/fail.h"
#include "base/reducible.h"
#include "program/simulate/elements.h"
#include "program/simulate/strided_rows.h"
#include "reshard/unroll.h"

namespace reshard::simulation {
namespace {

// memmove must not see the null of an empty window.
void move_bytes(std::byte* target, const std::byte* source, Index bytes) {
  if (bytes > 0) std::memmove(target, source, static_cast<std::size_t>(bytes));
}

void move_blocks(const Operation& operation, RankId from, RankId to, SimulatedMemory& memory) {
  for (const Block& block : operation.blocks) {
    for (Index row = 0; row < rows_of(block); ++row) {
      const RowPlace place = row_of(block, row);
      const std::byte* source = memory.at(from, operation.source_window, place.source, block.row_bytes);
      std::byte* target = memory.at(to, operation.target_window, place.target, block.row_bytes);
      move_bytes(target, source, block.row_bytes);
    }
  }
}

void check_op(const Operation& operation) {
  if (!is_reducible(operation.dtype, operation.reduce_op))
    fail(Code::unsupported, "{} cannot be reduced by {}", name_of(operation.dtype), name_of(operation.reduce_op));
}

void fold_elements(const Operation& operation, const Reduction& reduction, RankId rank, SimulatedMemory& memory) {
  const Index bytes = bytes_of(operation.dtype);
  std::vector<const std::byte*> terms(reduction.terms.size());
  for (Index element = 0; element < elements_of(reduction); ++element) {
    const auto at = [&](const Operand& operand) {
      return memory.at(rank, operand.window, element_offset(reduction, operand, element), bytes);
    };
    for (std::size_t term = 0; term < terms.size(); ++term) terms[term] = at(reduction.terms[term]);
    fold_element(operation.reduce_op, operation.dtype, terms, operation.divisor, at(reduction.result));
  }
}

void cast_elements(const Operation& operation, const Reduction& reduction, RankId rank, SimulatedMemory& memory) {
  const Operand& source = reduction.terms.front();
  for (Index element = 0; element < elements_of(reduction); ++element) {
    const Index from = element_offset(reduction, source, element);
    const Index to = element_offset(reduction, reduction.result, element);
    cast_element(operation.source_dtype, memory.at(rank, source.window, from, bytes_of(operation.source_dtype)),
                 operation.dtype, memory.at(rank, reduction.result.window, to, bytes_of(operation.dtype)));
  }
}

void fill_blocks(const Operation& operation, RankId rank, SimulatedMemory& memory) {
  std::array<std::byte, 16> element{};
  if (operation.number) {
    write_element(operation.dtype, *operation.number, element.data());
  } else {
    check_op(operation);
    write_identity(operation.reduce_op, operation.dtype, element.data());
  }
  const Index bytes = bytes_of(operation.dtype);
  for (const Block& block : operation.blocks) {
    for (Index row = 0; row < rows_of(block); ++row) {
      std::byte* target = memory.at(rank, operation.target_window, row_of(block, row).target, block.row_bytes);
      for (Index at = 0; at + bytes <= block.row_bytes; at += bytes)
        std::memcpy(target + at, element.data(), static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace

void do_local_work(const Operation& operation, RankId rank, SimulatedMemory& memory) {
  switch (operation.code) {
    case OpCode::copy: return move_blocks(operation, rank, rank, memory);
    case OpCode::get: return move_blocks(operation, operation.peer, rank, memory);
    case OpCode::reduce:
      check_op(operation);
      for (const Reduction& reduction : operation.reductions) fold_elements(operation, reduction, rank, memory);
      return;
    case OpCode::cast:
      for (const Reduction& reduction : operation.reductions) cast_elements(operation, reduction, rank, memory);
      return;
    case OpCode::fill: return fill_blocks(operation, rank, memory);
    case OpCode::put:
    case OpCode::notify:
    case OpCode::wait:
    case OpCode::fence:
    case OpCode::deferred: return;
  }
}

std::vector<std::byte> rows_to_put(const Operation& put, const Block& block, Index first, Index count, RankId from,
                                   SimulatedMemory& memory) {
  std::vector<std::byte> rows;
  rows.reserve(static_cast<std::size_t>(count * block.row_bytes));
  for (Index row = first; row < first + count; ++row) {
    const std::byte* source = memory.at(from, put.source_window, row_of(block, row).source, block.row_bytes);
    rows.insert(rows.end(), source, source + block.row_bytes);
  }
  return rows;
}

void deliver_rows(const Operation& put, const Block& block, Index first, Index count, std::span<const std::byte> rows,
                  SimulatedMemory& memory) {
  for (Index row = first; row < first + count; ++row) {
    const std::byte* source = rows.data() + (row - first) * block.row_bytes;
    std::byte* target = memory.at(put.peer, put.target_window, row_of(block, row).target, block.row_bytes);
    if (!put.accumulate) {
      move_bytes(target, source, block.row_bytes);
      continue;
    }
    const Index bytes = bytes_of(put.dtype);
    for (Index at = 0; at + bytes <= block.row_bytes; at += bytes) {
      const std::array<const std::byte*, 2> terms{target + at, source + at};
      fold_element(put.reduce_op, put.dtype, terms, 1, target + at);
    }
  }
}

}  // namespace reshard::simulation
