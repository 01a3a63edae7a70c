// A plan as one-sided reads, with the epoch protocol: signals only grow, run k uses k + 1.
//
// Why it is safe. A reader's `get` follows its wait on the owner's "ready", which the owner sets at the start of the
// run, so it reads data of this run. An owner leaves a run only after every reader said "done", so it cannot overwrite
// what is still being read, and cannot be more than one run ahead of any of its readers. Each rank alone writes its
// target.
#include <algorithm>
#include <span>

#include "base/fail.h"
#include "reshard/program.h"

namespace reshard {
namespace {

constexpr int source_window = 0, target_window = 1;
constexpr int ready = 0, done = 1;

Operation tell(RankId peer, int signal, RankId self) {
  return {.code = OpCode::notify, .peer = peer, .signal = signal, .slot = self.value(), .value = 1, .per_run = 1};
}

Operation await(int signal, RankId peer) {
  return {.code = OpCode::wait, .signal = signal, .slot = peer.value(), .value = 1, .per_run = 1};
}

Operation move(OpCode code, RankId peer, std::vector<Block> blocks) {
  return {.code = code,
          .peer = peer,
          .source_window = source_window,
          .target_window = target_window,
          .blocks = std::move(blocks)};
}

// The blocks that `receive` moves, as both ends store them.
std::vector<Block> blocks_between(const Layout& source, const Layout& target, const Transfer& receive) {
  return blocks_of(receive, bytes_of(source.dtype()), source.storage(receive.source), target.storage(receive.target));
}

// Neighbouring readers begin with different owners, so that no owner is read by all at once.
void turn(std::vector<const Transfer*>& gets, Index start) {
  if (gets.empty()) return;
  std::rotate(gets.begin(), gets.begin() + start % static_cast<Index>(gets.size()), gets.end());
}

std::vector<Operation> operations_of(const Layout& source, const Layout& target, RankId self,
                                     std::span<const Transfer> receives, std::span<const RankId> readers) {
  std::vector<Operation> operations;
  for (const RankId reader : readers) operations.push_back(tell(reader, ready, self));
  std::vector<const Transfer*> gets;
  for (const Transfer& receive : receives) {
    if (receive.is_local()) {
      operations.push_back(move(OpCode::copy, self, blocks_between(source, target, receive)));
    } else {
      gets.push_back(&receive);
    }
  }
  turn(gets, target.mesh().ordinal_of(self).value_or(0));
  for (const Transfer* receive : gets) {
    operations.push_back(await(ready, receive->source));
    operations.push_back(move(OpCode::get, receive->source, blocks_between(source, target, *receive)));
    operations.push_back(tell(receive->source, done, self));
  }
  for (const RankId reader : readers) operations.push_back(await(done, reader));
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

Program empty_program(const Layout& source, const Layout& target, Index world_ranks) {
  check_world(source, world_ranks);
  check_world(target, world_ranks);
  Program program{.name = "redistribute", .ranks = world_ranks};
  program.windows = {window_of("source", source, world_ranks), window_of("target", target, world_ranks)};
  program.signals = {{.name = "ready", .slots = world_ranks}, {.name = "done", .slots = world_ranks}};
  program.operations.resize(static_cast<std::size_t>(world_ranks));
  return program;
}

}  // namespace

Program redistribute_program(const Plan& plan, Index world_ranks) {
  Program program = empty_program(plan.source(), plan.target(), world_ranks);
  std::vector<std::vector<RankId>> readers(program.operations.size());
  for (const Transfer& t : plan.transfers()) {
    check_ends(t, world_ranks);
    if (!t.is_local()) readers[static_cast<std::size_t>(t.source.value())].push_back(t.target);
  }
  auto rest = plan.transfers();
  for (Index r = 0; r < world_ranks; ++r) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const Transfer& t) { return t.target != RankId(r); });
    const auto receives = rest.first(static_cast<std::size_t>(end - rest.begin()));
    const auto i = static_cast<std::size_t>(r);
    program.operations[i] = operations_of(plan.source(), plan.target(), RankId(r), receives, readers[i]);
    rest = rest.subspan(receives.size());
  }
  if (!rest.empty()) {
    fail(Code::invalid_argument, "the plan's transfers are not in order of target rank: {} -> {} comes too late",
         rest.front().source.value(), rest.front().target.value());
  }
  return program;
}

Program redistribute_program(const Layout& source, const Layout& target, RankId rank, Index world_ranks,
                             const PlanOptions& options) {
  Program program = empty_program(source, target, world_ranks);
  if (rank < RankId(0) || rank >= RankId(world_ranks)) {
    fail(Code::invalid_argument, "rank {} is outside the world of {} ranks", rank.value(), world_ranks);
  }
  std::vector<RankId> readers;
  for (const Transfer& t : plan_sends(source, target, rank, options)) {
    if (!t.is_local()) readers.push_back(t.target);
  }
  program.operations[static_cast<std::size_t>(rank.value())] =
      operations_of(source, target, rank, plan_receives(source, target, rank, options), readers);
  return program;
}

}  // namespace reshard
