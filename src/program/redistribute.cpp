// A plan as one-sided reads, and writes between hosts, with the epoch protocol: signals only grow, run k uses k + 1.
//
// Why it is safe. A reader's `get` follows its wait on the owner's "ready", which the owner sets at the start of the
// run, so it reads data of this run. An owner leaves a run only after every reader said "done", so it cannot overwrite
// what is still being read, and cannot be more than one run ahead of any of its readers. Each rank alone writes its
// target, and its staging.
//
// A write is the same seen from the other end: "ready" comes from the reader, whose target may be written in this run;
// "done" comes from the owner, whose puts are then there. The reader leaves a run only after that, and the owner only
// after its fence, so that its source is free. Ranks are apart both ways, so a slot of "ready" or "done" has one
// meaning.
#include <algorithm>
#include <span>

#include "base/fail.h"
#include "plan/staging.h"
#include "program/reduce_operations.h"
#include "program/terms.h"
#include "reshard/program.h"

namespace reshard {
namespace {

constexpr int kReadySlots = 0, kDoneSlots = 1;

Operation tell(RankId peer, int signal, RankId self) {
  return {.code = OpCode::notify, .peer = peer, .signal = signal, .slot = self.value(), .value = 1, .per_run = 1};
}

Operation await(int signal, RankId peer) {
  return {.code = OpCode::wait, .signal = signal, .slot = peer.value(), .value = 1, .per_run = 1};
}

Operation transfer_operation(OpCode code, RankId peer, std::vector<Block> blocks) {
  return {.code = code,
          .peer = peer,
          .source_window = kSourceWindow,
          .target_window = kTargetWindow,
          .blocks = std::move(blocks)};
}

// What is moved, and how its pending terms are seen.
struct Move {
  Move(const Layout& from, const Layout& to, const PlanOptions& options, const RankHosts& where)
      : source(from), target(to), lifted(lift(from, to)), staging_limit(options.staging_limit), hosts(where) {
    if (lifted) check_staging(lifted->fold, source, staging_limit);
  }
  bool reduces() const { return lifted && lifted->fold.terms > 1; }
  bool is_put(RankId owner, RankId reader) const { return !reduces() && hosts.are_apart(owner, reader); }

  const Layout& source;
  const Layout& target;
  std::optional<Lift> lifted;
  Index staging_limit;
  const RankHosts& hosts;
};

// What one rank has to do with others.
struct RankPart {
  std::vector<Transfer> receives;  // copies to itself included
  std::vector<Transfer> sends;
};

// The blocks that `receive` moves, as both ends store them.
std::vector<Block> blocks_between(const Move& move, const Transfer& receive) {
  return blocks_of(receive, bytes_of(move.source.dtype()), move.source.storage(receive.source),
                   move.target.storage(receive.target));
}

// Neighbouring readers begin with different owners, so that no owner is read by all at once.
void turn(std::vector<const Transfer*>& gets, Index start) {
  if (gets.empty()) return;
  std::rotate(gets.begin(), gets.begin() + start % static_cast<Index>(gets.size()), gets.end());
}

void add_copies(const Move& move, std::span<const Transfer> receives, std::vector<Operation>& operations) {
  for (const Transfer& receive : receives)
    if (receive.is_local())
      operations.push_back(transfer_operation(OpCode::copy, receive.source, blocks_between(move, receive)));
}

// All puts are on their way before the fence, and the fetches of this rank.
void add_puts(const Move& move, std::span<const Transfer> sends, Index start, std::vector<Operation>& operations) {
  std::vector<const Transfer*> puts;
  for (const Transfer& send : sends)
    if (move.is_put(send.source, send.target)) puts.push_back(&send);
  turn(puts, start);
  for (const Transfer* send : puts) {
    operations.push_back(await(kReadySlots, send->target));
    operations.push_back(transfer_operation(OpCode::put, send->target, blocks_between(move, *send)));
  }
}

void finish_puts(const Move& move, std::span<const Transfer> sends, std::vector<Operation>& operations) {
  std::vector<Operation> told;
  for (const Transfer& send : sends)
    if (move.is_put(send.source, send.target)) told.push_back(tell(send.target, kDoneSlots, send.source));
  if (told.empty()) return;
  operations.push_back({.code = OpCode::fence});
  std::ranges::move(told, std::back_inserter(operations));
}

void add_gets(const Move& move, std::span<const Transfer> receives, Index start, std::vector<Operation>& operations) {
  std::vector<const Transfer*> gets;
  for (const Transfer& receive : receives)
    if (!receive.is_local() && !move.is_put(receive.source, receive.target)) gets.push_back(&receive);
  turn(gets, start);
  for (const Transfer* receive : gets) {
    operations.push_back(await(kReadySlots, receive->source));
    operations.push_back(transfer_operation(OpCode::get, receive->source, blocks_between(move, *receive)));
    operations.push_back(tell(receive->source, kDoneSlots, receive->target));
  }
}

// Each owner has one term of one part: it is told once its part is done.
void add_reductions(const Move& move, std::span<const Transfer> receives, Index start,
                    std::vector<Operation>& operations) {
  for (const Part& part : parts_of(receives, *move.lifted)) {
    for (const Transfer& term : part.terms)
      if (!term.is_local()) operations.push_back(await(kReadySlots, term.source));
    std::ranges::move(reduce_operations(move.source, move.target, move.lifted->fold, part, move.staging_limit, start),
                      std::back_inserter(operations));
    for (const Transfer& term : part.terms)
      if (!term.is_local()) operations.push_back(tell(term.source, kDoneSlots, term.target));
  }
}

// Of a target that pends anew, what is no copy of the value.
bool holds_identity(const Move& move, RankId rank) {
  return move.lifted && move.lifted->identity && !move.lifted->target.region(rank).held &&
         move.target.region(rank).elements() > 0;
}

// As they are moved: of terms that only stay pending, the values.
std::vector<Transfer> moved(const Move& move, std::vector<Transfer> transfers) {
  if (move.lifted && !move.reduces())
    for (Transfer& transfer : transfers) transfer = without_terms(transfer, move.lifted->extents.size());
  return transfers;
}

std::vector<Operation> operations_of(const Move& move, RankId self, const RankPart& part) {
  std::vector<Operation> operations;
  for (const Transfer& send : part.sends)
    if (!send.is_local() && !move.is_put(self, send.target)) operations.push_back(tell(send.target, kReadySlots, self));
  for (const Transfer& receive : part.receives)
    if (!receive.is_local() && move.is_put(receive.source, self))
      operations.push_back(tell(receive.source, kReadySlots, self));
  if (holds_identity(move, self)) operations.push_back(fill_operation(move.target, *move.lifted->identity, self));
  const Index start = move.target.mesh().ordinal_of(self).value_or(0);
  const auto receives = moved(move, part.receives), sends = moved(move, part.sends);
  if (move.reduces()) {
    add_reductions(move, receives, start, operations);
  } else {
    add_puts(move, sends, start, operations);
    add_copies(move, receives, operations);
    add_gets(move, receives, start, operations);
    finish_puts(move, sends, operations);
  }
  for (const Transfer& receive : receives)
    if (!receive.is_local() && move.is_put(receive.source, self))
      operations.push_back(await(kDoneSlots, receive.source));
  for (const Transfer& send : sends)
    if (!send.is_local() && !move.is_put(self, send.target)) operations.push_back(await(kDoneSlots, send.target));
  return operations;
}

WindowSpec window_of(std::string name, const Layout& layout, Index world_ranks) {
  WindowSpec window{.name = std::move(name), .bytes = {}};
  for (Index r = 0; r < world_ranks; ++r) window.bytes.push_back(layout.local_bytes(RankId(r)));
  return window;
}

void check_world(const Layout& layout, Index world_ranks) {
  if (layout.mesh().end_rank().value() > world_ranks) {
    fail(Code::invalid_argument, "{} names rank {}, but the world has {} ranks; start more ranks or move the mesh",
         layout.text(), layout.mesh().end_rank().value() - 1, world_ranks);
  }
}

void check_ends(const Transfer& t, Index world_ranks) {
  for (const RankId rank : {t.source, t.target}) {
    if (rank >= RankId(0) && rank < RankId(world_ranks)) continue;
    fail(Code::invalid_argument, "transfer {} -> {}: rank {} is outside the world of {} ranks", t.source.value(),
         t.target.value(), rank.value(), world_ranks);
  }
}

WindowSpec staging_of(const Move& move, Index world_ranks) {
  WindowSpec window{.name = "staging", .bytes = {}};
  for (Index r = 0; r < world_ranks; ++r)
    window.bytes.push_back(staging_bytes(move.lifted->fold, move.target, RankId(r), move.staging_limit));
  return window;
}

Program empty_program(const Move& move, Index world_ranks) {
  const Layout &source = move.source, &target = move.target;
  check_world(source, world_ranks);
  check_world(target, world_ranks);
  Program program{.name = "redistribute", .ranks = world_ranks};
  program.windows = {window_of("source", source, world_ranks), window_of("target", target, world_ranks)};
  if (move.reduces()) program.windows.push_back(staging_of(move, world_ranks));
  program.signals = {{.name = "ready", .slots = world_ranks, .is_by_rank = true},
                     {.name = "done", .slots = world_ranks, .is_by_rank = true}};
  program.operations.resize(static_cast<std::size_t>(world_ranks));
  return program;
}

}  // namespace

Program redistribute_program(const Plan& plan, Index world_ranks, const RankHosts& hosts) {
  const Move move(plan.source(), plan.target(), plan.options(), hosts);
  Program program = empty_program(move, world_ranks);
  std::vector<RankPart> parts(program.operations.size());
  RankId last(0);
  for (const Transfer& t : plan.transfers()) {
    check_ends(t, world_ranks);
    if (t.target < last)
      fail(Code::invalid_argument, "the plan's transfers are not in order of target rank: {} -> {} comes too late",
           t.source.value(), t.target.value());
    last = t.target;
    parts[static_cast<std::size_t>(t.source.value())].sends.push_back(t);
    parts[static_cast<std::size_t>(t.target.value())].receives.push_back(t);
  }
  for (std::size_t r = 0; r < parts.size(); ++r)
    program.operations[r] = operations_of(move, RankId(static_cast<Index>(r)), parts[r]);
  return program;
}

Program redistribute_program(const Layout& source, const Layout& target, RankId rank, Index world_ranks,
                             const PlanOptions& options, const RankHosts& hosts) {
  const Move move(source, target, options, hosts);
  Program program = empty_program(move, world_ranks);
  if (rank < RankId(0) || rank >= RankId(world_ranks)) {
    fail(Code::invalid_argument, "rank {} is outside the world of {} ranks", rank.value(), world_ranks);
  }
  const RankPart part{.receives = plan_receives(source, target, rank, options),
                      .sends = plan_sends(source, target, rank, options)};
  program.operations[static_cast<std::size_t>(rank.value())] = operations_of(move, rank, part);
  return program;
}

}  // namespace reshard
