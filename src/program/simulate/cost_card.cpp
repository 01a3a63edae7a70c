#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "program/simulate/cost_count.h"
#include "program/simulate/machine.h"
#include "program/simulate/strided_rows.h"
#include "reshard/lower.h"

namespace reshard {
namespace simulation {

void count_cost(const Operation& operation, RankId rank, CostCard::Rank& cost) {
  const bool is_peer = operation.peer != rank;
  const Index bytes = bytes_of_blocks(operation);
  switch (operation.code) {
    case OpCode::copy: cost.bytes_copied += bytes; break;
    case OpCode::put:
      ++cost.puts;
      cost.bytes_put += bytes;
      cost.peer_bytes += is_peer ? bytes : 0;
      break;
    case OpCode::get:
      ++cost.gets;
      cost.bytes_got += bytes;
      cost.peer_bytes += is_peer ? bytes : 0;
      break;
    case OpCode::notify:
      ++cost.notifications;
      cost.peer_notifications += is_peer ? 1 : 0;
      break;
    case OpCode::wait: ++cost.waits; break;
    case OpCode::reduce: cost.bytes_reduced += bytes_of_results(operation); break;
    case OpCode::cast: cost.bytes_copied += bytes_of_results(operation); break;
    case OpCode::fence:
    case OpCode::fill:
    case OpCode::deferred: break;
  }
}

namespace {

using Member = Index CostCard::Rank::*;
struct Column {
  std::string_view title;
  Member member;
};
constexpr Column kColumns[] = {
    {"bytes put", &CostCard::Rank::bytes_put},
    {"bytes got", &CostCard::Rank::bytes_got},
    {"from/to peers", &CostCard::Rank::peer_bytes},
    {"copied", &CostCard::Rank::bytes_copied},
    {"reduced", &CostCard::Rank::bytes_reduced},
    {"puts", &CostCard::Rank::puts},
    {"gets", &CostCard::Rank::gets},
    {"notifies", &CostCard::Rank::notifications},
    {"to peers", &CostCard::Rank::peer_notifications},
    {"waits", &CostCard::Rank::waits},
    {"rounds", &CostCard::Rank::rounds},
};

bool is_deferred(const Operation& operation) { return operation.code == OpCode::deferred; }

bool has_deferred(const Program& program) {
  return std::ranges::any_of(program.operations,
                             [](const auto& operations) { return std::ranges::any_of(operations, is_deferred); });
}

// What decides about rounds: data moves none of them.
Program signals_of(Program program) {
  for (WindowSpec& window : program.windows) std::ranges::fill(window.bytes, 0);
  for (auto& operations : program.operations)
    std::erase_if(operations, [](const Operation& op) { return op.code != OpCode::notify && op.code != OpCode::wait; });
  return program;
}

UnrollOptions of_call(UnrollOptions options, Index call) {
  options.call = call;
  options.only.reset();
  return options;
}

// The counters of a run in step of calls 1 to `calls`.
std::vector<CostCard::Rank> run_in_step(Calls& calls, Index ranks, Index count) {
  SimulateOptions options{.calls = count, .delay_puts = false};
  return Machine(calls, ranks, options, Order::in_step).run().cost.ranks;
}

std::vector<CostCard::Rank> counted(const SymbolicProgram& program, const UnrollOptions& options, bool with_data,
                                    Index calls) {
  if (with_data) return run_in_step(*calls_of(program, options), options.ranks, calls);
  SimulateInput input;
  for (Index call = 1; call <= calls; ++call)
    input.programs.push_back(signals_of(unroll(program, of_call(options, call))));
  return run_in_step(*calls_of(input, options.ranks), options.ranks, calls);
}

void subtract(CostCard::Rank& from, const CostCard::Rank& what) {
  for (const Column& column : kColumns) from.*column.member -= what.*column.member;
}

}  // namespace
}  // namespace simulation

CostCard cost_card(const SymbolicProgram& symbolic, const UnrollOptions& options) {
  using namespace simulation;
  const SymbolicProgram lowered = lower(symbolic);
  const Program program = unroll(lowered, of_call(options, options.call));
  const bool with_data = has_deferred(program);
  CostCard card{counted(lowered, options, with_data, options.call)};
  if (options.call > 1) {
    const auto before = counted(lowered, options, with_data, options.call - 1);
    for (std::size_t r = 0; r < before.size(); ++r) subtract(card.ranks[r], before[r]);
  }
  if (with_data) return card;
  for (std::size_t r = 0; r < card.ranks.size(); ++r) {
    CostCard::Rank cost{.rounds = card.ranks[r].rounds};
    for (const Operation& operation : program.operations[r]) count_cost(operation, RankId(static_cast<Index>(r)), cost);
    card.ranks[r] = cost;
  }
  return card;
}

std::string CostCard::text() const {
  using simulation::Column;
  Rank sum;
  for (const Rank& rank : ranks)
    for (const Column& column : simulation::kColumns) sum.*column.member += rank.*column.member;
  const auto width = [&](const Column& column) {
    return std::max(column.title.size(), fmt::formatted_size("{}", sum.*column.member));
  };
  std::string text = "rank";
  const auto out = std::back_inserter(text);
  for (const Column& column : simulation::kColumns) fmt::format_to(out, "  {:>{}}", column.title, width(column));
  const auto line = [&](std::string_view name, const Rank& rank) {
    fmt::format_to(out, "\n{:>4}", name);
    for (const Column& column : simulation::kColumns)
      fmt::format_to(out, "  {:>{}}", rank.*column.member, width(column));
  };
  for (std::size_t r = 0; r < ranks.size(); ++r) line(std::to_string(r), ranks[r]);
  sum.rounds = 0;
  for (const Rank& rank : ranks) sum.rounds = std::max(sum.rounds, rank.rounds);
  line("all", sum);
  return text + "\n";
}

}  // namespace reshard
