#include "program/symbolic/unroller.h"

#include <algorithm>

#include "base/fail.h"
#include "program/symbolic/deferred_statements.h"
#include "program/symbolic/quote.h"
#include "program/symbolic/row_loop.h"
#include "program/symbolic/statement_reads.h"
#include "program/symbolic/term_rows.h"

namespace reshard {
namespace {

constexpr Index kTileBytes = Index{256} << 10;  // stays in the cache

}  // namespace

Unroller::Unroller(std::shared_ptr<const PlacedProgram> program, RankId me, std::vector<Operation>& operations)
    : program_(std::move(program)), me_(me), operations_(&operations), joinable_from_(operations.size()) {}

Unroller::Unroller(std::shared_ptr<const PlacedProgram> program, RankId me, std::vector<Operation>& operations,
                   ElementReader& reader, MemoryReader& memory)
    : program_(std::move(program)),
      me_(me),
      operations_(&operations),
      reader_(&reader),
      memory_(&memory),
      later_(true),
      joinable_from_(operations.size()) {}

void Unroller::walk(const Body& body, std::size_t first, Scope& scope) {
  std::vector<std::string> given;
  for (std::size_t at = first; at < body.size(); ++at) {
    const Statement& statement = body[at];
    ElementReader* const reader =
        at_once_ || at == first ? std::exchange(reader_, at_once_ ? reader_ : nullptr) : nullptr;
    const bool is_let = std::holds_alternative<Let>(statement.form);
    if (reader == nullptr && depends_on_memory(statement)) {
      defer(body, at, is_let, scope);
      if (is_let) break;
      continue;
    }
    run(statement, scope, reader);
    if (is_let) given.push_back(std::get<Let>(statement.form).name);
  }
  for (const std::string& name : given) scope.erase(name);
}

void Unroller::walk_one(const Statement& statement, Scope& scope) {
  run(statement, scope, std::exchange(reader_, at_once_ ? reader_ : nullptr));
}

void Unroller::defer(const Body& body, std::size_t at, bool rest, const Scope& scope) {
  Operation operation{.code = OpCode::deferred};
  operation.deferred = std::make_shared<const DeferredStatements>(program_, me_, body, at, rest, scope);
  operation.label = quote_with_numbers(body[at], scope);
  operations_->push_back(std::move(operation));
}

void Unroller::run(const Statement& statement, Scope& scope, ElementReader* reader) {
  count_statement();
  if (const auto* loop = std::get_if<For>(&statement.form)) return run(*loop, scope, reader);
  if (const auto* condition = std::get_if<If>(&statement.form)) return run(*condition, scope, reader);
  try {
    if (const auto* let = std::get_if<Let>(&statement.form)) scope.set(let->name, evaluate(let->value, scope, reader));
    if (const auto* move = std::get_if<DataMove>(&statement.form)) run(*move, scope, reader);
    if (const auto* reduce = std::get_if<Reduce>(&statement.form)) run(*reduce, scope, reader);
    if (const auto* fill = std::get_if<Fill>(&statement.form)) run(*fill, scope, reader);
    if (const auto* notify = std::get_if<Notify>(&statement.form)) run(*notify, scope, reader);
    if (const auto* wait = std::get_if<Wait>(&statement.form)) run(*wait, scope, reader);
    if (std::holds_alternative<Fence>(statement.form)) append({.code = OpCode::fence, .label = "fence"});
    if (const auto* composite = std::get_if<Composite>(&statement.form)) run(*composite, scope, reader);
  } catch (const Error& error) {
    fail(error.code(), "program {}, rank {}, `{}`: {}", program_->program().name, me_.value(), quote(statement),
         error.what());
  }
  // Its message is the program's own.
  if (const auto* require = std::get_if<Require>(&statement.form)) run(*require, scope, reader);
}

void Unroller::run(const For& loop, Scope& scope, ElementReader* reader) {
  const Index from = loop.peers ? 0 : evaluate(loop.from, scope, reader);
  const Index to = loop.peers ? program_->options().ranks : evaluate(loop.to, scope, reader);
  // Of a deferred loop that changes nothing it reads, all operands are read now.
  const bool at_once = reader != nullptr && !at_once_ && may_read_at_once(loop, *program_, me_);
  if (at_once) {
    at_once_ = true;
    reader_ = reader;
  }
  for (Index i = from; i < to; ++i) {
    if (loop.peers && i == me_.value()) continue;
    count_statement();
    scope.set(loop.variable, i);
    walk(loop.body, 0, scope);
    if (at_once_ && i == from) i = run_rows(loop, from + 1, to, scope, *reader) - 1;
  }
  scope.erase(loop.variable);
  if (at_once) {
    at_once_ = false;
    reader_ = nullptr;
  }
}

Index Unroller::run_rows(const For& loop, Index from, Index to, Scope& scope, ElementReader& reader) {
  if (memory_ == nullptr || to - from < 2 || operations_->size() <= joinable_from_) return from;
  const auto rows = RowLoop::of(*program_, me_, loop, scope, reader);
  Operation row = operations_->back();
  row.blocks.resize(1);
  for (Index i = from; rows && i < to; ++i) {
    const auto block = rows->block(i, *memory_);
    if (!block) return i;
    row.blocks[0] = *block;
    if (!joins_last(row)) return i;
    join_last(row.blocks);
  }
  return rows ? to : from;
}

void Unroller::run(const If& condition, Scope& scope, ElementReader* reader) {
  const bool holds = evaluate(condition.condition, scope, reader) != 0;
  walk(holds ? condition.then : condition.otherwise, 0, scope);
}

void Unroller::run(const DataMove& move, Scope& scope, ElementReader* reader) {
  const bool labelled = !at_once_;
  const PlacedSlice target = place_slice(*program_, me_, move.target, scope, reader, labelled);
  const PlacedSlice source = place_slice(*program_, me_, move.source, scope, reader, labelled);
  check_same_shape(target, source);
  if (target.dtype != source.dtype && !move.cast)
    fail(Code::invalid_argument, "{} is {}, {} is {}; say `cast` at the end to convert", target.label,
         name_of(target.dtype), source.label, name_of(source.dtype));
  if (target.empty) return;
  std::string label = fmt::format("{} {} <- {}{}{}", word_of(move.code), target.label, source.label,
                                  move.accumulate ? fmt::format(" accumulate {}", name_of(*move.accumulate)) : "",
                                  move.cast ? " cast" : "");
  move.code == OpCode::copy ? local_move(move, target, source, std::move(label))
                            : remote_move(move, target, source, std::move(label));
}

// A hidden buffer of the rank's own, shaped as the slice and dense; a place of its own for each use, since puts read
// late.
PlacedSlice Unroller::scratch_like(const PlacedSlice& shape, Dtype dtype) {
  return scratch_at((scratch_bytes_ + 15) / 16 * 16, shape, dtype);
}

PlacedSlice Unroller::scratch_at(Index offset, const PlacedSlice& shape, Dtype dtype) {
  if (later_)
    fail(Code::unsupported, "what depends on memory cannot be cast or accumulated on its way; use a local buffer");
  PlacedSlice scratch{.rank = me_,
                      .window = static_cast<int>(program_->windows().size()),
                      .dtype = dtype,
                      .offset = offset,
                      .label = "scratch"};
  scratch.loops = shape.loops;
  Index stride = bytes_of(dtype);
  for (std::size_t l = scratch.loops.size(); l-- > 0;) {
    scratch.loops[l].stride = stride;
    stride *= scratch.loops[l].count;
  }
  scratch_bytes_ = std::max(scratch_bytes_, offset + stride);
  return scratch;
}

void Unroller::local_move(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source,
                          std::string label) {
  PlacedSlice term = source;
  if (move.accumulate && target.dtype != source.dtype) {
    term = scratch_like(source, target.dtype);
    local_move({.code = OpCode::copy, .cast = true}, term, source, label);
  }
  if (move.accumulate) {
    const PlacedSlice terms[] = {target, term};
    append({.code = OpCode::reduce,
            .reduce_op = *move.accumulate,
            .dtype = target.dtype,
            .reductions = reduction_of(target, terms),
            .label = std::move(label)});
  } else if (target.dtype != source.dtype) {
    append({.code = OpCode::cast,
            .dtype = target.dtype,
            .reductions = reduction_of(target, {&source, 1}),
            .source_dtype = source.dtype,
            .label = std::move(label)});
  } else {
    append({.code = OpCode::copy,
            .source_window = source.window,
            .target_window = target.window,
            .blocks = block_between(target, source),
            .label = std::move(label)});
  }
}

// Casts pass through a buffer of the own rank: before a put, after a get. So do gets that accumulate.
void Unroller::remote_move(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source,
                           std::string label) {
  const bool is_put = move.code == OpCode::put, casts = target.dtype != source.dtype;
  if (!is_put && (casts || move.accumulate)) return get_by_tiles(move, target, source, label);
  PlacedSlice near = source;
  if (is_put && casts) {
    near = scratch_like(source, target.dtype);
    local_move({.code = OpCode::copy, .cast = true}, near, source, label);
  }
  Operation operation = one_way(move.code, target, is_put ? near : source, std::move(label));
  if (is_put && move.accumulate) {
    operation.accumulate = true;
    operation.reduce_op = *move.accumulate;
    operation.dtype = target.dtype;
  }
  append(std::move(operation));
}

Operation Unroller::one_way(OpCode code, const PlacedSlice& target, const PlacedSlice& source, std::string label) {
  return {.code = code,
          .peer = code == OpCode::put ? target.rank : source.rank,
          .source_window = source.window,
          .target_window = target.window,
          .blocks = block_between(target, source),
          .label = std::move(label)};
}

// The buffer is small, and used again for every tile: what a get has brought is still in the cache when it is cast.
void Unroller::get_by_tiles(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source,
                            const std::string& label) {
  const bool casts = target.dtype != source.dtype;
  const Index place = (scratch_bytes_ + 15) / 16 * 16;
  each_tile(target, source, kTileBytes, [&](const PlacedSlice& to, const PlacedSlice& from) {
    const PlacedSlice near = scratch_at(place, from, from.dtype);
    append(one_way(OpCode::get, near, from, label));
    local_move({.code = OpCode::copy, .accumulate = move.accumulate, .cast = casts}, to, near, label);
  });
}

// Puts of one loop that read at once are one operation for each run of one peer; rows that follow one another become
// one. Not so where their order matters: the rows of one operation have none.
bool Unroller::joins_last(const Operation& operation) {
  if (!at_once_ || operations_->size() <= joinable_from_) return false;
  const Operation& last = operations_->back();
  const bool moves = operation.code == OpCode::put || operation.code == OpCode::get || operation.code == OpCode::copy;
  const bool alike = moves && last.code == operation.code && last.peer == operation.peer &&
                     last.source_window == operation.source_window && last.target_window == operation.target_window &&
                     !last.accumulate && !operation.accumulate;
  const bool stays = operation.code == OpCode::copy || operation.peer == me_;
  const bool reads_its_own = stays && operation.source_window == operation.target_window;
  return alike && !reads_its_own && written_.add(operation.blocks);
}

void Unroller::count_statement() {
  // While the program runs somebody is waiting.
  const Index most = Index{1} << (later_ ? 20 : 23);
  if (++walked_ > most)
    fail(Code::unsupported,
         "program {}, rank {}: more than {} statements in one go; use slices instead of loops, or smaller sizes",
         program_->program().name, me_.value(), most);
}

void Unroller::append(Operation operation) {
  if (!joins_last(operation)) {
    written_.clear();
    if (later_) written_.add(operation.blocks);
    operations_->push_back(std::move(operation));
    return;
  }
  join_last(operation.blocks);
}

void Unroller::join_last(std::span<const Block> blocks) {
  for (const Block& block : blocks) {
    Block& before = operations_->back().blocks.back();
    if (before.loops.empty() && block.loops.empty() && before.source_offset + before.row_bytes == block.source_offset &&
        before.target_offset + before.row_bytes == block.target_offset) {
      before.row_bytes += block.row_bytes;
    } else {
      operations_->back().blocks.push_back(block);
    }
  }
}

void Unroller::run(const Reduce& reduce, Scope& scope, ElementReader* reader) {
  const PlacedSlice target = place_slice(*program_, me_, reduce.target, scope, reader, true);
  std::vector<PlacedSlice> terms;
  std::string names;
  for (const BufferSlice& written : reduce.terms) {
    const PlacedSlice term = place_slice(*program_, me_, written, scope, reader, true);
    if (term.dtype != target.dtype)
      fail(Code::invalid_argument, "{} is {}, {} is {}; cast it to a local buffer first", target.label,
           name_of(target.dtype), term.label, name_of(term.dtype));
    const std::vector<PlacedSlice> rows = term_rows(*program_, me_, reduce.target, written, term);
    if (!rows.empty()) check_same_shape(target, rows.front());
    terms.insert(terms.end(), rows.begin(), rows.end());
    names += (names.empty() ? "" : ", ") + term.label;
  }
  if (terms.empty()) fail(Code::invalid_argument, "it has no term: {} is empty", names);
  if (target.empty) return;
  append({.code = OpCode::reduce,
          .reduce_op = reduce.op,
          .dtype = target.dtype,
          .divisor = reduce.op == ReduceOp::avg ? static_cast<Index>(terms.size()) : 1,
          .reductions = reduction_of(target, terms),
          .label = fmt::format("reduce {} <- {}({})", target.label, name_of(reduce.op), names)});
}

void Unroller::run(const Fill& fill, Scope& scope, ElementReader* reader) {
  const PlacedSlice target = place_slice(*program_, me_, fill.target, scope, reader, true);
  if (target.empty) return;
  Operation operation{
      .code = OpCode::fill, .target_window = target.window, .blocks = block_to_fill(target), .dtype = target.dtype};
  if (fill.identity) {
    operation.reduce_op = *fill.identity;
    operation.label = fmt::format("fill {} <- identity({})", target.label, name_of(*fill.identity));
  } else {
    operation.number = evaluate(fill.value, scope, reader);
    operation.label = fmt::format("fill {} <- {}", target.label, *operation.number);
  }
  append(std::move(operation));
}

Index Unroller::slot_of(const Slot& slot, const Scope& scope, ElementReader* reader, std::string& label) const {
  const PlacedSignal& signal = program_->signal(slot.signal);
  if (slot.indices.size() != signal.shape.size())
    fail(Code::invalid_argument, "signal {} has {} dimensions, but {} indices are given", slot.signal,
         signal.shape.size(), slot.indices.size());
  Index number = 0;
  for (std::size_t d = 0; d < signal.shape.size(); ++d) {
    const Index index = evaluate(slot.indices[d], scope, reader);
    if (index < 0 || index >= signal.shape[d])
      fail(Code::invalid_argument, "index {} of dimension {} of signal {} is outside [0, {})", index, d, slot.signal,
           signal.shape[d]);
    number = number * signal.shape[d] + index;
    label += (d == 0 ? "[" : ", ") + std::to_string(index);
  }
  label += "]";
  return number;
}

void Unroller::run(const Notify& notify, Scope& scope, ElementReader* reader) {
  Operation operation{.code = OpCode::notify,
                      .peer = me_,
                      .signal = program_->signal(notify.slot.signal).signal,
                      .notify_op = notify.op};
  if (notify.slot.peer) operation.peer = RankId(evaluate(*notify.slot.peer, scope, reader));
  if (operation.peer < RankId(0) || operation.peer >= RankId(program_->options().ranks))
    fail(Code::invalid_argument, "`{}` is rank {}, outside [0, {})", notify.slot.peer->text(), operation.peer.value(),
         program_->options().ranks);
  std::string cell = fmt::format("{}@{}", notify.slot.signal, operation.peer.value());
  operation.slot = slot_of(notify.slot, scope, reader, cell);
  const Index value = evaluate(notify.value, scope, reader);
  operation.value = static_cast<std::uint64_t>(value);
  operation.label = fmt::format("notify {} {} {}", cell, notify.op == NotifyOp::set ? "=" : "+=", value);
  append(std::move(operation));
}

void Unroller::run(const Wait& wait, Scope& scope, ElementReader* reader) {
  if (wait.slot.peer)
    fail(Code::invalid_argument, "a rank waits for its own counters only; drop `@{}`", wait.slot.peer->text());
  Operation operation{
      .code = OpCode::wait, .signal = program_->signal(wait.slot.signal).signal, .compare = wait.compare};
  std::string cell = wait.slot.signal;
  operation.slot = slot_of(wait.slot, scope, reader, cell);
  const Index value = evaluate(wait.value, scope, reader);
  if (value < 0) fail(Code::invalid_argument, "counters are unsigned and cannot be awaited at {}", value);
  operation.value = static_cast<std::uint64_t>(value);
  operation.label = fmt::format("wait {} {} {}", cell, wait.compare == WaitCompare::equal ? "==" : ">=", value);
  append(std::move(operation));
}

void Unroller::run(const Require& require, Scope& scope, ElementReader* reader) {
  if (evaluate(require.condition, scope, reader) != 0) return;
  fail(Code::invalid_argument, "program {}: {}", program_->program().name, with_values(require.message, scope, reader));
}

void Unroller::run(const Composite& composite, Scope&, ElementReader*) {
  fail(Code::unsupported, "{} is a composite; lower the program first", composite.name);
}

}  // namespace reshard
