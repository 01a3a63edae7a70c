#include "program/simulate/flight.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "base/reducible.h"
#include "program/simulate/local_work.h"
#include "program/simulate/strided_rows.h"

namespace reshard::simulation {
namespace {

// Enough to tear a put; more would only make steps.
constexpr Index kPieces = 8;

void check_put(RankId from, const Operation& put, SimulatedMemory& memory) {
  if (put.accumulate && !is_reducible(put.dtype, put.reduce_op))
    fail(Code::unsupported, "{} cannot be accumulated by {}", name_of(put.dtype), name_of(put.reduce_op));
  for (const Block& block : put.blocks) {
    for (Index row = 0; row < rows_of(block); ++row) {
      const RowPlace place = row_of(block, row);
      memory.at(from, put.source_window, place.source, block.row_bytes);
      memory.at(put.peer, put.target_window, place.target, block.row_bytes);
    }
  }
}

// A single row becomes two, so that it can arrive half; elements that are accumulated stay whole.
std::vector<Block> torn(const Operation& put, const Block& block) {
  const Index unit = put.accumulate ? bytes_of(put.dtype) : 8;
  const Index half = block.row_bytes / 2 / unit * unit;
  if (rows_of(block) != 1 || half == 0) return {block};
  const RowPlace place = row_of(block, 0);
  return {{place.source, place.target, half}, {place.source + half, place.target + half, block.row_bytes - half}};
}

}  // namespace

void PutsInFlight::issue(RankId from, std::shared_ptr<const Operation> put, SimulatedMemory& memory) {
  check_put(from, *put, memory);
  std::vector<Block> blocks;
  for (const Block& block : put->blocks) std::ranges::move(torn(*put, block), std::back_inserter(blocks));
  Index rows = 0;
  for (const Block& block : blocks) rows += rows_of(block);
  const Index step = std::max<Index>(1, ceil_div(rows, kPieces));
  for (Block& torn_block : blocks) {
    const auto block = std::make_shared<const Block>(std::move(torn_block));
    for (Index first = 0; first < rows_of(*block); first += step)
      add({from, put, block, first, std::min(step, rows_of(*block) - first)});
  }
}

void PutsInFlight::add(const Piece& piece) {
  pieces_.push_back(piece);
  ++pending_[static_cast<std::size_t>(piece.from.value())];
}

void PutsInFlight::read_sources(RankId from, SimulatedMemory& memory) {
  for (Piece& piece : pieces_) {
    if (piece.from != from || piece.is_read) continue;
    piece.source = rows_to_put(*piece.put, *piece.block, piece.first_row, piece.rows, from, memory);
    piece.is_read = true;
  }
}

RankId PutsInFlight::deliver(std::size_t piece, SimulatedMemory& memory) {
  std::swap(pieces_[piece], pieces_.back());
  Piece arrived = std::move(pieces_.back());
  pieces_.pop_back();
  --pending_[static_cast<std::size_t>(arrived.from.value())];
  if (!arrived.is_read)
    arrived.source = rows_to_put(*arrived.put, *arrived.block, arrived.first_row, arrived.rows, arrived.from, memory);
  deliver_rows(*arrived.put, *arrived.block, arrived.first_row, arrived.rows, arrived.source, memory);
  return arrived.from;
}

}  // namespace reshard::simulation
