#include "program/simulate/machine.h"

#include <algorithm>

#include "base/fail.h"
#include "program/simulate/cost_count.h"
#include "program/simulate/expected.h"
#include "program/simulate/local_work.h"
#include "program/simulate/strided_rows.h"
#include "program/simulate/verdict.h"

namespace reshard::simulation {

Machine::Machine(Calls& calls, Index ranks, const SimulateOptions& options, Order order)
    : calls_(calls),
      options_(options),
      order_(order),
      program_(calls.program(1).program),
      memory_(*program_),
      cells_(*program_),
      contents_(*program_, calls),
      clock_(ranks, options.topology),
      flight_(ranks),
      ready_(ranks, options.slow),
      schedule_(options.seed),
      progress_(static_cast<std::size_t>(ranks)),
      round_(static_cast<std::size_t>(ranks), 0),
      refused_(static_cast<std::size_t>(ranks), false) {
  report_.cost.ranks.resize(static_cast<std::size_t>(ranks));
}

SimulateReport Machine::run() {
  for (Index rank = 0; rank < program_->ranks; ++rank) settle(RankId(rank));
  while (const std::optional<Choice> choice = choose()) {
    ++report_.steps;
    choice->rank ? step(*choice->rank) : arrive(choice->arrival);
  }
  finish_report();
  return std::move(report_);
}

std::optional<Choice> Machine::choose() {
  return order_ == Order::in_step ? choose_in_step(ready_, round_) : schedule_.choose(ready_, flight_.size());
}

bool Machine::has_finished(RankId rank) const {
  const Progress& progress = progress_[index(rank)];
  return !progress.is_inside() && progress.call() == options_.calls;
}

bool Machine::can_go(RankId rank) {
  if (has_finished(rank)) return false;
  const Progress& progress = progress_[index(rank)];
  const std::shared_ptr<const Operation> next = progress.is_inside() ? progress.next() : nullptr;
  if (!next) return true;
  if (next->code == OpCode::fence) return flight_.pending(rank) == 0;
  if (next->code != OpCode::wait || !cells_.has(rank, next->signal, next->slot)) return true;
  const std::uint64_t seen = cells_.at(rank, next->signal, next->slot).value();
  return is_satisfied(next->compare, seen, value_in_run(*next, progress.program().run));
}

void Machine::step(RankId rank) {
  const Progress& progress = progress_[index(rank)];
  if (!progress.is_inside()) {
    begin_call(rank);
  } else if (const std::shared_ptr<const Operation> operation = progress.next()) {
    try {
      execute(rank, operation);
    } catch (const Error& error) {
      refuse(rank, error.what());
    }
  } else {
    end_call(rank);
  }
  settle(rank);
}

void Machine::arrive(std::size_t piece) { settle(flight_.deliver(piece, memory_)); }

void Machine::begin_call(RankId rank) {
  Progress& progress = progress_[index(rank)];
  const Index call = progress.call() + 1;
  contents_.begin(call, rank, memory_);
  progress.begin(calls_.program(call), rank);
  refused_[index(rank)] = false;
}

void Machine::end_call(RankId rank) {
  Progress& progress = progress_[index(rank)];
  const Index call = progress.call();
  if (!refused_[index(rank)]) check_outputs(rank);
  flight_.read_sources(rank, memory_);  // inputs may be given anew
  if (options_.observe)
    for (std::size_t window = 0; window < program_->windows.size(); ++window)
      options_.observe(call, rank, static_cast<int>(window), memory_.of(rank, static_cast<int>(window)));
  progress.end();
  if (++ended_[call] < program_->ranks) return;
  ended_.erase(call);
  contents_.retire(call);
  calls_.retire(call);
}

void Machine::check_outputs(RankId rank) {
  const Index call = progress_[index(rank)].call();
  const std::shared_ptr<const ExpectationsOfRank> expected = calls_.expect(call);
  const Mismatches mismatches = compare_outputs(*program_, expected->at(index(rank)), contents_.inputs(call), memory_);
  if (report_.wrong_elements == 0 && mismatches.count > 0)
    first_mismatch_ = fmt::format("after call {} {}", call, mismatches.first);
  report_.wrong_elements += mismatches.count;
}

void Machine::refuse(RankId rank, const std::string& why) {
  report_.refusals.push_back({progress_[index(rank)].call(), rank, why});
  progress_[index(rank)].give_up();
  refused_[index(rank)] = true;
}

void Machine::execute(RankId rank, const std::shared_ptr<const Operation>& operation) {
  if (operation->code == OpCode::deferred) return expand(rank, *operation);
  const double begin = clock_.now(rank);
  std::optional<std::size_t> cause;
  std::optional<VirtualClock::Interval> way;
  switch (operation->code) {
    case OpCode::put: way = put(rank, operation); break;
    case OpCode::notify: notify(rank, *operation); break;
    case OpCode::wait: cause = wait(rank, *operation); break;
    case OpCode::fence: clock_.fence(rank); break;
    default: work(rank, *operation);
  }
  count_cost(*operation, rank, report_.cost.ranks[index(rank)]);
  if (options_.timeline) {
    SimulatedEvent event = event_of(rank, *operation, {begin, clock_.now(rank)});
    event.cause = cause;
    report_.timeline.push_back(std::move(event));
    if (way) report_.timeline.push_back(event_of(rank, *operation, *way));
    if (way) report_.timeline.back().track = SimulatedEvent::Track::arrivals;
  }
  progress_[index(rank)].advance();
}

void Machine::work(RankId rank, const Operation& operation) {
  do_local_work(operation, rank, memory_);
  const bool folds = operation.code == OpCode::reduce || operation.code == OpCode::cast;
  const Index bytes = folds ? bytes_of_results(operation) : bytes_of_blocks(operation);
  operation.code == OpCode::get ? clock_.get(rank, operation.peer, bytes) : clock_.work(rank, bytes);
}

VirtualClock::Interval Machine::put(RankId rank, const std::shared_ptr<const Operation>& operation) {
  flight_.issue(rank, operation, memory_);
  while (!options_.delay_puts && flight_.size() > 0) flight_.deliver(flight_.size() - 1, memory_);
  return clock_.put(rank, operation->peer, bytes_of_blocks(*operation));
}

void Machine::notify(RankId rank, const Operation& operation) {
  const RankId peer = operation.peer;
  SimulatedCell& cell = cells_.at(peer, operation.signal, operation.slot);
  cell.notify(operation.notify_op, value_in_run(operation, progress_[index(rank)].program().run),
              {.time = clock_.notify(rank, peer),
               .round = round_[index(rank)] + (peer == rank ? 0 : 1),
               .event = report_.timeline.size()});
  if (peer != rank) settle(peer);
}

std::optional<std::size_t> Machine::wait(RankId rank, const Operation& operation) {
  SimulatedCell& cell = cells_.at(rank, operation.signal, operation.slot);
  const std::uint64_t expected = value_in_run(operation, progress_[index(rank)].program().run);
  double& round = round_[index(rank)];
  round = cell.rounds().pass(round, operation.compare, expected).time;
  report_.cost.ranks[index(rank)].rounds = static_cast<Index>(round);
  const CounterHistory::Passing passing = cell.clock().pass(clock_.now(rank), operation.compare, expected);
  clock_.wait(rank, passing.time);
  return passing.event;
}

void Machine::expand(RankId rank, const Operation& operation) {
  RankReader reader(memory_, rank);
  std::vector<Operation> operations;
  operation.deferred->expand(reader, operations);
  progress_[index(rank)].advance_into(std::move(operations));
}

SimulatedEvent Machine::event_of(RankId rank, const Operation& operation, VirtualClock::Interval time) const {
  const Progress& progress = progress_[index(rank)];
  SimulatedEvent event{.rank = rank,
                       .code = operation.code,
                       .call = progress.call(),
                       .text = operation_text(*program_, operation, progress.program().run),
                       .begin = time.begin,
                       .end = time.end};
  if (operation.code == OpCode::put || operation.code == OpCode::get || operation.code == OpCode::notify)
    event.peer = operation.peer;
  return event;
}

void Machine::finish_report() {
  const auto ranks = static_cast<std::size_t>(program_->ranks);
  for (std::size_t r = 0; r < ranks; ++r) report_.rank_seconds.push_back(clock_.now(RankId(static_cast<Index>(r))));
  report_.seconds = std::ranges::max(report_.rank_seconds);
  report_.stuck = stuck_ranks({*program_, calls_, options_.calls, progress_, cells_, memory_});
  report_.finished = report_.stuck.empty();
  report_.correct = report_.finished && report_.refusals.empty() && report_.wrong_elements == 0;
  report_.message = message_of(report_, first_mismatch_);
}

}  // namespace reshard::simulation
