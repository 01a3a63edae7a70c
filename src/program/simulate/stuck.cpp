#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/simulate/verdict.h"
#include "reshard/error.h"

namespace reshard::simulation {
namespace {

// Programs repeat after as many calls at most, if they repeat at all (unroll_all_calls).
constexpr Index kLookAhead = 64;

struct CellName {
  RankId owner;
  int signal;
  Index slot;
};

class StuckReport {
 public:
  explicit StuckReport(const Standstill& at) : at_(at) {}

  std::vector<Stuck> ranks() {
    std::vector<Stuck> stuck;
    for (Index rank = 0; rank < at_.program.ranks; ++rank)
      if (const auto operation = blocked(RankId(rank))) stuck.push_back(describe(RankId(rank), *operation));
    return stuck;
  }

 private:
  const Progress& progress(RankId rank) const { return at_.progress[static_cast<std::size_t>(rank.value())]; }
  // Nothing else but a wait lasts once all puts have arrived.
  std::shared_ptr<const Operation> blocked(RankId rank) const {
    return progress(rank).is_inside() ? progress(rank).next() : nullptr;
  }
  std::uint64_t expected(RankId rank, const Operation& wait) const {
    return value_in_run(wait, progress(rank).program().run);
  }
  std::uint64_t seen(RankId rank, const Operation& wait) const {
    return at_.cells.at(rank, wait.signal, wait.slot).value();
  }
  // "waits for ready[1] >= 2, sees 1"
  std::string wait_text(RankId rank, const Operation& wait) const {
    return fmt::format("waits for {} {} {}, sees {}", cell_text(at_.program, wait),
                       wait.compare == WaitCompare::equal ? "==" : ">=", expected(rank, wait), seen(rank, wait));
  }

  Stuck describe(RankId rank, const Operation& wait) {
    const CellName cell{rank, wait.signal, wait.slot};
    Stuck stuck{.rank = rank,
                .call = progress(rank).call(),
                .cell = cell_text(at_.program, wait),
                .expected = expected(rank, wait),
                .seen = seen(rank, wait),
                .compare = wait.compare};
    for (Index other = 0; other < at_.program.ranks; ++other)
      if (is_yet_to_notify(RankId(other), cell)) stuck.missing.push_back(RankId(other));
    stuck.text = fmt::format("rank {} {}: {}", rank.value(), wait_text(rank, wait), why(stuck, cell));
    return stuck;
  }

  std::string why(const Stuck& stuck, const CellName& cell) {
    std::string text;
    if (stuck.compare == WaitCompare::equal && stuck.seen > stuck.expected)
      text = fmt::format("it is past {} already; ", stuck.expected);
    if (stuck.missing.empty()) return text + nobody(cell);
    if (stuck.missing == std::vector{stuck.rank}) return text + "only the rank itself would notify it, later";
    text += fmt::format("rank{} {} ha{} not notified it", stuck.missing.size() > 1 ? "s" : "", listed(stuck.missing),
                        stuck.missing.size() > 1 ? "ve" : "s");
    for (const RankId other : stuck.missing)
      if (other != stuck.rank)
        if (const auto operation = blocked(other))
          return text + fmt::format("; rank {} itself {}", other.value(), wait_text(other, *operation));
    return text;
  }

  std::string nobody(const CellName& cell) {
    std::vector<RankId> past;
    for (Index other = 0; other < at_.program.ranks; ++other)
      if (notifies_in_this_call(RankId(other), cell)) past.push_back(RankId(other));
    if (past.empty()) return "nobody ever notifies it";
    const bool finished = std::ranges::none_of(past, [&](RankId other) { return progress(other).is_inside(); });
    return fmt::format("nobody will notify it any more: rank{} {} did, and {}", past.size() > 1 ? "s" : "",
                       listed(past), finished ? "finished all calls" : "went on");
  }

  static std::string listed(const std::vector<RankId>& ranks) {
    constexpr std::size_t most = 8;
    std::vector<Index> numbers;
    for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i) numbers.push_back(ranks[i].value());
    std::string text = fmt::format("{}", fmt::join(numbers, ", "));
    return ranks.size() > most ? text + fmt::format(" and {} more", ranks.size() - most) : text;
  }

  // In what is left of this call, or in a later one.
  bool is_yet_to_notify(RankId rank, const CellName& cell) {
    for (const Operation* operation : progress(rank).rest())
      if (notifies(rank, *operation, cell)) return true;
    const Index call = progress(rank).call(), last = std::min(at_.last_call, call + kLookAhead);
    for (Index later = call + 1; later <= last; ++later)
      if (any_notifies(rank, *at_.calls.program(later).program, cell)) return true;
    return false;
  }
  bool notifies_in_this_call(RankId rank, const CellName& cell) {
    const auto& program = progress(rank).program().program;
    return program && any_notifies(rank, *program, cell);
  }
  bool any_notifies(RankId rank, const Program& program, const CellName& cell) {
    return std::ranges::any_of(program.operations[static_cast<std::size_t>(rank.value())],
                               [&](const Operation& operation) { return notifies(rank, operation, cell); });
  }

  // Deferred operations are taken as memory is now.
  bool notifies(RankId rank, const Operation& operation, const CellName& cell) {
    if (operation.code == OpCode::notify)
      return operation.peer == cell.owner && operation.signal == cell.signal && operation.slot == cell.slot;
    if (operation.code != OpCode::deferred) return false;
    return std::ranges::any_of(expanded(rank, operation),
                               [&](const Operation& made) { return notifies(rank, made, cell); });
  }
  std::vector<Operation> expanded(RankId rank, const Operation& operation) {
    RankReader reader(at_.memory, rank);
    std::vector<Operation> operations;
    try {
      operation.deferred->expand(reader, operations);
    } catch (const Error&) {
      operations.clear();  // refused: nothing would follow
    }
    return operations;
  }

  const Standstill& at_;
};

}  // namespace

std::vector<Stuck> stuck_ranks(const Standstill& at) { return StuckReport(at).ranks(); }

}  // namespace reshard::simulation
