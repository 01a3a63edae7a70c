// Accesses to memory: what they must be ordered behind, and what they move.
#include <algorithm>
#include <functional>

#include "program/check/machine.h"

namespace reshard::explore {
namespace {

void each_row(const Block& block, std::size_t loop, Index source, Index target,
              const std::function<void(Index, Index)>& visit) {
  if (loop == block.loops.size()) return visit(source, target);
  const Loop& here = block.loops[loop];
  for (Index i = 0; i < here.count; ++i)
    each_row(block, loop + 1, source + i * here.source_stride, target + i * here.target_stride, visit);
}

void each_index(std::span<const Index> counts, std::vector<Index>& at, std::size_t d,
                const std::function<void()>& visit) {
  if (d == counts.size()) return visit();
  for (at[d] = 0; at[d] < counts[d]; ++at[d]) each_index(counts, at, d + 1, visit);
}

Index offset_of(const Operand& operand, std::span<const Index> at) {
  Index offset = operand.offset;
  for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * operand.strides[d];
  return offset;
}

}  // namespace

std::size_t Machine::HashAccess::operator()(const Access& a) const {
  std::uint64_t hash = mixed(a.rank, a.step);
  hash = mixed(hash, std::uint64_t{a.call} << 32 | a.put);
  hash = mixed(hash, std::uint64_t{a.fences} << 32 | a.peer);
  return mixed(hash, std::uint64_t{a.number} << 32 | a.accumulate);
}

std::size_t Machine::cell_at(std::uint32_t rank, int window, Index offset) const {
  const auto w = static_cast<std::size_t>(window);
  return first_cell_[rank][w] + static_cast<std::size_t>(offset / cell_bytes_[w]);
}

Index Machine::bytes_of_window(std::uint32_t rank, int window) const {
  return windows_[static_cast<std::size_t>(window)].bytes[rank];
}

MemoryPlace Machine::place_of(std::uint32_t cell) const {
  std::uint32_t rank = 0;
  while (rank + 1 < first_cell_.size() && !first_cell_[rank + 1].empty() && first_cell_[rank + 1][0] <= cell) ++rank;
  const std::vector<std::size_t>& first = first_cell_[rank];
  const auto w = static_cast<std::size_t>(std::ranges::upper_bound(first, cell) - first.begin()) - 1;
  return {rank, static_cast<int>(w), static_cast<Index>(cell - first[w]) * cell_bytes_[w]};
}

Machine::Actor Machine::actor(const State& state, std::uint32_t rank, const Operation* put) {
  const RankState& at = state.ranks[rank];
  Actor actor{.rank = rank, .call = at.call, .clock = at.clock};
  Access access{.rank = rank, .step = at.steps, .call = at.call};
  if (put != nullptr) {
    access.put = 1;
    access.fences = at.fences;
    access.peer = static_cast<std::uint32_t>(put->peer.value());
    constexpr std::uint32_t kOps = 256;
    if (put->accumulate)
      access.accumulate =
          1 + static_cast<std::uint32_t>(put->reduce_op) + kOps * static_cast<std::uint32_t>(put->dtype);
    actor.accumulate = access.accumulate;
    if (options_.ordered_puts) {
      access.number = state.puts[rank * static_cast<std::size_t>(ranks_) + access.peer];
      actor.clock = clocks.with_puts(actor.clock, rank, access.peer, access.number - 1);
    }
  }
  actor.access = accesses_.number_of(access);
  return actor;
}

// Puts are done behind a fence of their rank, on an ordered network behind later puts and notifications to the same
// peer; that they have read their source, at the end of the call.
bool Machine::is_ordered(const Access& access, const Actor& actor, bool is_read) const {
  if (access.put == 0) return access.rank == actor.rank || clocks.steps(actor.clock, access.rank) >= access.step;
  if (clocks.fences(actor.clock, access.rank) > access.fences) return true;
  if (options_.ordered_puts && clocks.puts(actor.clock, access.rank, access.peer) >= access.number) return true;
  return is_read && access.rank == actor.rank && actor.call > access.call;
}

void Machine::found_race(const Access& first, bool first_reads, const Actor& actor, bool reads, std::size_t cell) {
  findings.push_back({.fault = CheckFault::race,
                      .culprits = {first, accesses_[actor.access]},
                      .second_reads = reads,
                      .first_reads = first_reads,
                      .cell = static_cast<std::uint32_t>(cell)});
}

void Machine::compare_with_all(std::size_t number, const Actor& actor, bool reads) {
  constexpr std::size_t kMostTouches = 4096, kMostRaces = 65536;
  std::vector<Touch>& touches = touches_[number];
  const Touch now{actor.access, reads};
  for (const Touch& touch : touches) {
    const Access& access = accesses_[touch.access];
    const bool both_accumulate =
        !reads && !touch.reads && actor.accumulate != 0 && access.accumulate == actor.accumulate;
    const bool harmless = (reads && touch.reads) || both_accumulate || touch.access == actor.access;
    if (harmless || is_ordered(access, actor, touch.reads)) continue;
    if (raced_.size() < kMostRaces && raced_.insert({touch, now}).second)
      found_race(access, touch.reads, actor, reads, number);
  }
  if (touches.size() < kMostTouches && (touches.empty() || touches.back() != now)) touches.push_back(now);
}

void Machine::check_writes(const CellState& cell, std::size_t number, const Actor& actor, bool reads) {
  for (const std::uint32_t id : words_[cell.writes]) {
    const Access& access = accesses_[id];
    const bool both_accumulate = !reads && actor.accumulate != 0 && access.accumulate == actor.accumulate;
    if (id != actor.access && !both_accumulate && !is_ordered(access, actor, false))
      found_race(access, false, actor, reads, number);
  }
}

void Machine::read(State& state, std::size_t number, const Actor& actor) {
  look_at_clock();
  CellState& cell = state.cells[number];
  if (keep_all_accesses) compare_with_all(number, actor, true);
  check_writes(cell, number, actor, true);
  const std::vector<std::uint32_t>& before = words_[cell.reads];
  if (before.size() == 1 && before[0] == actor.access) return;
  std::vector<std::uint32_t> reads;
  // What comes behind this read comes behind those.
  for (const std::uint32_t id : before)
    if (id != actor.access && !is_ordered(accesses_[id], actor, true)) reads.push_back(id);
  reads.push_back(actor.access);
  std::ranges::sort(reads);
  cell.reads = words_.number_of(std::move(reads));
}

void Machine::write(State& state, std::size_t number, const Actor& actor, ValueId value) {
  look_at_clock();
  CellState& cell = state.cells[number];
  if (keep_all_accesses) compare_with_all(number, actor, false);
  check_writes(cell, number, actor, false);
  for (const std::uint32_t id : words_[cell.reads])
    if (id != actor.access && !is_ordered(accesses_[id], actor, true))
      found_race(accesses_[id], true, actor, false, number);
  std::vector<std::uint32_t> writes;
  if (actor.accumulate != 0) writes = words_[cell.writes];
  if (actor.accumulate == 0) cell.reads = 0;
  if (std::ranges::find(writes, actor.access) == writes.end()) writes.push_back(actor.access);
  std::ranges::sort(writes);
  cell.writes = words_.number_of(std::move(writes));
  cell.value = value;
}

void Machine::move(State& state, std::uint32_t rank, const Operation& op) {
  const auto peer = static_cast<std::uint32_t>(op.peer.value());
  const bool is_put = op.code == OpCode::put;
  if (is_put && options_.ordered_puts) ++state.puts[rank * static_cast<std::size_t>(ranks_) + peer];
  const Actor who = actor(state, rank, is_put ? &op : nullptr);
  const std::uint32_t from = op.code == OpCode::get ? peer : rank, to = is_put ? peer : rank;
  for (const Block& block : op.blocks)
    each_row(block, 0, block.source_offset, block.target_offset,
             [&](Index source, Index target) { move_row(state, who, op, from, to, source, target, block.row_bytes); });
}

void Machine::move_row(State& state, const Actor& who, const Operation& op, std::uint32_t from, std::uint32_t to,
                       Index source_offset, Index target_offset, Index row_bytes) {
  const Index step = cell_bytes_[static_cast<std::size_t>(op.target_window)];
  const std::size_t source = cell_at(from, op.source_window, source_offset);
  const std::size_t target = cell_at(to, op.target_window, target_offset);
  for (std::size_t i = 0; i < static_cast<std::size_t>(row_bytes / step); ++i) {
    read(state, source + i, who);
    ValueId value = state.cells[source + i].value;
    if (op.accumulate) {
      const ValueId terms[] = {state.cells[target + i].value, value};
      value = values.fold(op.reduce_op, terms, op.dtype, step == bytes_of(op.dtype));
    }
    write(state, target + i, who, value);
  }
}

void Machine::fill(State& state, std::uint32_t rank, const Operation& op) {
  const Actor who = actor(state, rank, nullptr);
  const Index step = cell_bytes_[static_cast<std::size_t>(op.target_window)], element = bytes_of(op.dtype);
  for (const Block& block : op.blocks) {
    each_row(block, 0, 0, block.target_offset, [&](Index, Index target) {
      for (Index at = 0; at < block.row_bytes; at += step) {
        const ValueId value =
            op.number ? values.number(*op.number, op.dtype, step, at % element / step) : values.identity(op.reduce_op);
        write(state, cell_at(rank, op.target_window, target + at), who, value);
      }
    });
  }
}

void Machine::reduce(State& state, std::uint32_t rank, const Operation& op) {
  const Actor who = actor(state, rank, nullptr);
  for (const Reduction& reduction : op.reductions) {
    std::vector<Index> at(reduction.counts.size(), 0);
    each_index(reduction.counts, at, 0, [&] { reduce_element(state, who, op, reduction, at); });
  }
}

ValueId Machine::reduced(const Operation& op, std::span<const ValueId> terms, Index cell_bytes, Index part,
                         bool is_whole) {
  if (op.code != OpCode::cast)
    return values.fold(op.reduce_op, terms, op.dtype, is_whole, op.reduce_op == ReduceOp::avg ? op.divisor : 1);
  return is_whole ? values.cast(terms[0], op.source_dtype, op.dtype)
                  : values.cast_part(terms[0], op.source_dtype, op.dtype, cell_bytes, part);
}

void Machine::reduce_element(State& state, const Actor& who, const Operation& op, const Reduction& reduction,
                             std::span<const Index> at) {
  const bool casts = op.code == OpCode::cast;
  const Index step = cell_bytes_[static_cast<std::size_t>(reduction.result.window)], element = bytes_of(op.dtype);
  const std::size_t result = cell_at(who.rank, reduction.result.window, offset_of(reduction.result, at));
  for (Index part = 0; part * step < element; ++part) {
    std::vector<ValueId> terms;
    bool is_whole = step == element;
    for (const Operand& term : reduction.terms) {
      const Index term_step = cell_bytes_[static_cast<std::size_t>(term.window)];
      const Index parts = bytes_of(casts ? op.source_dtype : op.dtype) / term_step;
      const std::size_t cell =
          cell_at(who.rank, term.window, offset_of(term, at)) + static_cast<std::size_t>(std::min(part, parts - 1));
      read(state, cell, who);
      terms.push_back(state.cells[cell].value);
      is_whole = is_whole && parts == 1;
    }
    write(state, result + static_cast<std::size_t>(part), who, reduced(op, terms, step, part, is_whole));
  }
}

}  // namespace reshard::explore
