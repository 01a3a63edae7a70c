#include "property/explorer_oracle.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace reshard {
namespace {

constexpr Index kElementBytes = 4;

struct Reach {
  std::size_t cell = 0;
  bool writes = false;
};

struct NaiveState {
  // Per rank: call (from 0) and the next operation; -1 before the call has begun.
  std::vector<short> call, at;
  std::vector<short> memory;  // codes of values
  std::vector<short> signals;
  struct Put {
    short rank = 0, call = 0, at = 0;
    bool read = false;
    std::vector<short> values = {};
  };
  std::vector<Put> puts;

  std::string key() const {
    std::string text;
    const auto add = [&](const std::vector<short>& numbers) {
      text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(short));
    };
    add(call), add(at), add(memory), add(signals);
    for (const Put& put : puts) {
      add({put.rank, put.call, put.at, put.read});
      add(put.values);
    }
    return text;
  }
};

// A rank's next step, or one of a put.
struct Step {
  std::size_t rank = 0;
  int put = -1;
};

class Naive {
 public:
  explicit Naive(const CheckInput& input) : input_(input), ranks_(static_cast<std::size_t>(first().ranks)) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      first_.emplace_back();
      for (const WindowSpec& window : first().windows) {
        first_.back().push_back(cells_);
        cells_ += static_cast<std::size_t>(window.bytes[r] / kElementBytes);
      }
    }
    for (const SignalSpec& signal : first().signals) {
      first_slot_.push_back(slots_);
      slots_ += static_cast<std::size_t>(signal.slots);
    }
  }

  OracleVerdict run(Index max_states) {
    NaiveState start;
    start.call.assign(ranks_, 0);
    start.at.assign(ranks_, -1);
    start.memory.assign(cells_, 0);
    start.signals.assign(slots_ * ranks_, 0);
    visit(std::move(start));
    while (!open_.empty()) {
      if (verdict_.states >= max_states) {
        verdict_.complete = false;
        break;
      }
      const NaiveState state = std::move(open_.back());
      open_.pop_back();
      expand(state);
    }
    return verdict_;
  }

 private:
  const Program& first() const { return input_.calls.front(); }
  bool is_done(const NaiveState& state, std::size_t rank) const {
    return static_cast<std::size_t>(state.call[rank]) == input_.calls.size();
  }
  const std::vector<Operation>& list(const NaiveState& state, std::size_t rank) const {
    return input_.calls[static_cast<std::size_t>(state.call[rank])].operations[rank];
  }
  const Operation* next(const NaiveState& state, std::size_t rank) const {
    if (is_done(state, rank) || state.at[rank] < 0) return nullptr;
    const auto at = static_cast<std::size_t>(state.at[rank]);
    return at < list(state, rank).size() ? &list(state, rank)[at] : nullptr;
  }
  const Operation& operation_of(const NaiveState::Put& put) const {
    return input_.calls[static_cast<std::size_t>(put.call)]
        .operations[static_cast<std::size_t>(put.rank)][static_cast<std::size_t>(put.at)];
  }
  std::size_t cell(std::size_t rank, int window, Index offset) const {
    return first_[rank][static_cast<std::size_t>(window)] + static_cast<std::size_t>(offset / kElementBytes);
  }
  std::size_t slot(int signal, Index number, std::size_t rank) const {
    return (first_slot_[static_cast<std::size_t>(signal)] + static_cast<std::size_t>(number)) * ranks_ + rank;
  }
  short origin(std::size_t call, std::size_t rank, int window, Index offset) const {
    return static_cast<short>(1 + call * cells_ + cell(rank, window, offset));
  }

  // Cells at both ends of a move, element by element.
  std::vector<std::pair<std::size_t, std::size_t>> pairs(const Operation& op, std::size_t rank) const {
    const auto peer = static_cast<std::size_t>(op.peer.value());
    const std::size_t from = op.code == OpCode::get ? peer : rank, to = op.code == OpCode::put ? peer : rank;
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (const Block& block : op.blocks)
      add_pairs(block, 0, cell(from, op.source_window, block.source_offset),
                cell(to, op.target_window, block.target_offset), found);
    return found;
  }
  void add_pairs(const Block& block, std::size_t loop, std::size_t from, std::size_t to,
                 std::vector<std::pair<std::size_t, std::size_t>>& found) const {
    if (loop == block.loops.size()) {
      for (Index i = 0; i < block.row_bytes / kElementBytes; ++i) found.emplace_back(from + i, to + i);
      return;
    }
    for (Index i = 0; i < block.loops[loop].count; ++i)
      add_pairs(block, loop + 1, from + i * block.loops[loop].source_stride / kElementBytes,
                to + i * block.loops[loop].target_stride / kElementBytes, found);
  }

  bool has_puts(const NaiveState& state, std::size_t rank, bool unread_only) const {
    return std::ranges::any_of(state.puts, [&](const NaiveState::Put& put) {
      return static_cast<std::size_t>(put.rank) == rank && !(unread_only && put.read);
    });
  }

  bool is_enabled(const NaiveState& state, std::size_t rank) const {
    if (is_done(state, rank)) return false;
    if (state.at[rank] < 0) return true;
    const Operation* op = next(state, rank);
    if (op == nullptr) return !has_puts(state, rank, true);
    if (op->code == OpCode::fence) return !has_puts(state, rank, false);
    if (op->code != OpCode::wait) return true;
    const short value = state.signals[slot(op->signal, op->slot, rank)];
    const auto wanted = static_cast<short>(op->value);
    return op->compare == WaitCompare::equal ? value == wanted : value >= wanted;
  }

  std::vector<Step> steps(const NaiveState& state) const {
    std::vector<Step> found;
    for (std::size_t r = 0; r < ranks_; ++r)
      if (is_enabled(state, r)) found.push_back({r});
    for (std::size_t p = 0; p < state.puts.size(); ++p)
      found.push_back({static_cast<std::size_t>(state.puts[p].rank), static_cast<int>(p)});
    return found;
  }

  // Memory that a step reads or writes.
  std::vector<Reach> reach(const NaiveState& state, const Step& step) const {
    std::vector<Reach> found;
    if (step.put >= 0) {
      const NaiveState::Put& put = state.puts[static_cast<std::size_t>(step.put)];
      for (const auto& [from, to] : pairs(operation_of(put), step.rank))
        found.push_back({put.read ? to : from, put.read});
      return found;
    }
    if (state.at[step.rank] < 0) {
      each_input(step.rank, [&](std::size_t at, int, Index) { found.push_back({at, true}); });
      return found;
    }
    const Operation* op = next(state, step.rank);
    if (op == nullptr) {
      for (const Expectation* expected : expectations(state, step.rank))
        found.push_back({cell(step.rank, expected->window, expected->offset), false});
    } else if (op->code == OpCode::copy || op->code == OpCode::get) {
      for (const auto& [from, to] : pairs(*op, step.rank)) {
        found.push_back({from, false});
        found.push_back({to, true});
      }
    }
    return found;
  }

  template <class Visit>
  void each_input(std::size_t rank, Visit visit) const {
    for (std::size_t w = 0; w < first().windows.size(); ++w) {
      if (first().windows[w].role != BufferRole::input) continue;
      for (Index offset = 0; offset < first().windows[w].bytes[rank]; offset += kElementBytes)
        visit(cell(rank, static_cast<int>(w), offset), static_cast<int>(w), offset);
    }
  }

  std::vector<const Expectation*> expectations(const NaiveState& state, std::size_t rank) const {
    std::vector<const Expectation*> found;
    const auto call = static_cast<std::size_t>(state.call[rank]);
    if (call >= input_.expect.size()) return found;
    for (const Expectation& expected : input_.expect[call])
      if (static_cast<std::size_t>(expected.rank.value()) == rank) found.push_back(&expected);
    return found;
  }

  static bool conflict(const std::vector<Reach>& a, const std::vector<Reach>& b) {
    for (const Reach& one : a)
      for (const Reach& other : b)
        if (one.cell == other.cell && (one.writes || other.writes)) return true;
    return false;
  }

  void expand(const NaiveState& state) {
    const std::vector<Step> now = steps(state);
    bool all_done = true;
    for (std::size_t r = 0; r < ranks_; ++r) all_done = all_done && is_done(state, r);
    if (now.empty() && !all_done) verdict_.faults.insert(CheckFault::deadlock);
    std::vector<std::vector<Reach>> reaches;
    for (const Step& step : now) reaches.push_back(reach(state, step));
    for (std::size_t i = 0; i < now.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (conflict(reaches[i], reaches[j])) verdict_.faults.insert(CheckFault::race);
    for (const Step& step : now) {
      NaiveState after = state;
      step.put >= 0 ? take_put(after, static_cast<std::size_t>(step.put)) : take(after, step.rank);
      visit(std::move(after));
    }
  }

  void take_put(NaiveState& state, std::size_t number) const {
    NaiveState::Put& put = state.puts[number];
    const auto moved = pairs(operation_of(put), static_cast<std::size_t>(put.rank));
    if (!put.read) {
      for (const auto& [from, to] : moved) put.values.push_back(state.memory[from]);
      put.read = true;
      return;
    }
    for (std::size_t i = 0; i < moved.size(); ++i) state.memory[moved[i].second] = put.values[i];
    state.puts.erase(state.puts.begin() + static_cast<std::ptrdiff_t>(number));
  }

  void take(NaiveState& state, std::size_t rank) {
    const auto call = static_cast<std::size_t>(state.call[rank]);
    if (state.at[rank] < 0) {
      each_input(rank, [&](std::size_t at, int w, Index offset) { state.memory[at] = origin(call, rank, w, offset); });
      state.at[rank] = 0;
      return;
    }
    const Operation* op = next(state, rank);
    if (op == nullptr) {
      for (const Expectation* expected : expectations(state, rank)) {
        const Term& term = expected->value;
        const short wanted = origin(call, static_cast<std::size_t>(term.rank.value()), term.window, term.offset);
        if (state.memory[cell(rank, expected->window, expected->offset)] != wanted)
          verdict_.faults.insert(CheckFault::wrong_value);
      }
      ++state.call[rank];
      state.at[rank] = -1;
      return;
    }
    perform(state, rank, *op);
    ++state.at[rank];
  }

  void perform(NaiveState& state, std::size_t rank, const Operation& op) {
    if (op.code == OpCode::put) {
      state.puts.push_back({static_cast<short>(rank), state.call[rank], state.at[rank]});
    } else if (op.code == OpCode::copy || op.code == OpCode::get) {
      std::vector<short> values;
      const auto moved = pairs(op, rank);
      for (const auto& [from, to] : moved) values.push_back(state.memory[from]);
      for (std::size_t i = 0; i < moved.size(); ++i) state.memory[moved[i].second] = values[i];
    } else if (op.code == OpCode::notify) {
      short& value = state.signals[slot(op.signal, op.slot, static_cast<std::size_t>(op.peer.value()))];
      const auto by = static_cast<short>(static_cast<Index>(op.value));
      value = static_cast<short>(op.notify_op == NotifyOp::set ? by : value + by);
      if (value < 0) verdict_.faults.insert(CheckFault::overflow);
    }
  }

  void visit(NaiveState state) {
    if (!seen_.insert(state.key()).second) return;
    ++verdict_.states;
    open_.push_back(std::move(state));
  }

  const CheckInput& input_;
  std::size_t ranks_ = 0, cells_ = 0, slots_ = 0;
  std::vector<std::vector<std::size_t>> first_;
  std::vector<std::size_t> first_slot_;
  std::unordered_set<std::string> seen_;
  std::vector<NaiveState> open_;
  OracleVerdict verdict_;
};

}  // namespace

OracleVerdict explore_naively(const CheckInput& input, Index max_states) { return Naive(input).run(max_states); }

}  // namespace reshard
