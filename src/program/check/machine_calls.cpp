// Where calls begin and end, and operations that follow from memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/fail.h"
#include "program/check/machine.h"
#include "reshard/error.h"
#include "reshard/unroll.h"

namespace reshard::explore {
namespace {

// Memory that a deferred operation reads but that holds no number.
struct NotANumber {
  std::size_t cell = 0;
};

CellBytes bytes_at(std::span<const std::byte> bytes, Index offset, Index n_bytes) {
  CellBytes cell{};
  std::copy_n(bytes.begin() + offset, n_bytes, cell.begin());
  return cell;
}

bool fits_a_cell(Index n_bytes) { return n_bytes <= static_cast<Index>(sizeof(CellBytes)); }

}  // namespace

// Contents of an input, or of other memory with a rule, as a call begins.
const std::vector<ValueId>& Machine::contents(std::uint32_t call, std::uint32_t rank, int window) {
  const auto [entry, added] = contents_.try_emplace({call, rank, window});
  if (!added) return entry->second;
  const auto w = static_cast<std::size_t>(window);
  const Index n_bytes = bytes_of_window(rank, window), step = cell_bytes_[w];
  std::vector<std::byte> bytes(static_cast<std::size_t>(n_bytes));
  const bool given = input_.initial != nullptr && input_.initial(call, RankId(rank), window, bytes);
  const bool is_input = windows_[w].role == BufferRole::input;
  if (!given && !is_input) return entry->second;
  for (Index offset = 0; offset < n_bytes; offset += step) {
    std::optional<CellBytes> known;
    if (given && fits_a_cell(step)) known = bytes_at(bytes, offset, step);
    entry->second.push_back(is_input ? values.input(call, RankId(rank), window, offset, known)
                                     : values.number(known.value()));
  }
  return entry->second;
}

void Machine::fill_start(State& state) {
  for (std::uint32_t r = 0; r < state.ranks.size(); ++r) {
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      const bool is_window = windows_[w].role == BufferRole::window;
      const auto first = static_cast<std::ptrdiff_t>(first_cell_[r][w]);
      const Index n_cells = bytes_of_window(r, static_cast<int>(w)) / cell_bytes_[w];
      for (Index i = 0; i < n_cells; ++i)
        state.cells[static_cast<std::size_t>(first + i)].value = is_window ? Values::kZero : Values::kUndefined;
      if (windows_[w].role == BufferRole::input) continue;
      const std::vector<ValueId>& given = contents(1, r, static_cast<int>(w));
      for (std::size_t i = 0; i < given.size(); ++i) state.cells[static_cast<std::size_t>(first) + i].value = given[i];
    }
  }
}

void Machine::begin_call(State& state, std::uint32_t rank) {
  RankState& at = state.ranks[rank];
  at.begun = 1;
  const Actor who = actor(state, rank, nullptr);
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const BufferRole role = windows_[w].role;
    if (role == BufferRole::window && input_.initial == nullptr) continue;
    if (role != BufferRole::input && at.call == 1) continue;
    const std::vector<ValueId>& given = contents(at.call, rank, static_cast<int>(w));
    const std::size_t first = first_cell_[rank][w];
    for (std::size_t i = 0; i < given.size(); ++i) write(state, first + i, who, given[i]);
    if (!given.empty() || role == BufferRole::window) continue;
    const Index n_cells = bytes_of_window(rank, static_cast<int>(w)) / cell_bytes_[w];
    for (Index i = 0; i < n_cells; ++i) state.cells[first + static_cast<std::size_t>(i)].value = Values::kUndefined;
  }
  note(state, rank, StepRecord::Kind::begin, nullptr);
}

void Machine::end_call(State& state, std::uint32_t rank) {
  RankState& at = state.ranks[rank];
  const std::vector<std::uint32_t>& refused = words_[at.refused];
  if (std::ranges::find(refused, at.call) == refused.end() && at.call <= expected_.size()) {
    const Actor who = actor(state, rank, nullptr);
    bool wrong = false;
    for (const ExpectedCell& expected : expected_[at.call - 1][rank]) {
      read(state, expected.cell, who);
      const CellState& cell = state.cells[expected.cell];
      if (wrong || values.agree(cell.value, expected.value)) continue;
      wrong = true;
      Finding finding{.fault = CheckFault::wrong_value,
                      .cell = expected.cell,
                      .held = cell.value,
                      .expected = expected.value,
                      .dtype = expected.dtype};
      for (const std::uint32_t id : words_[cell.writes]) finding.culprits.push_back(accesses_[id]);
      finding.culprits.push_back(accesses_[who.access]);
      findings.push_back(std::move(finding));
    }
  }
  note(state, rank, StepRecord::Kind::end, nullptr);
  next_call(state, rank);
}

void Machine::prepare_expectations() {
  for (std::size_t c = 0; c < input_.expect.size(); ++c) {
    auto& call = expected_.emplace_back(static_cast<std::size_t>(ranks_));
    for (const Expectation& expectation : input_.expect[c]) {
      look_at_clock();
      const auto w = static_cast<std::size_t>(expectation.window);
      const auto rank = static_cast<std::uint32_t>(expectation.rank.value());
      const Index step = cell_bytes_[w];
      // A cell of several elements is expected by the first of them.
      if (expectation.offset % step != 0) continue;
      for (Index part = 0; part == 0 || part * step < bytes_of(expectation.dtype); ++part) {
        const std::size_t cell = cell_at(rank, expectation.window, expectation.offset) + static_cast<std::size_t>(part);
        call[rank].push_back(
            {.cell = static_cast<std::uint32_t>(cell),
             .value = value_of(expectation.value, expectation, static_cast<std::uint32_t>(c) + 1, part),
             .dtype = expectation.dtype});
      }
    }
  }
}

ValueId Machine::value_of(const Term& term, const Expectation& expectation, std::uint32_t call, Index part) {
  const Index step = cell_bytes_[static_cast<std::size_t>(expectation.window)];
  if (term.kind == Term::Kind::constant) return values.number(term.value, expectation.dtype, step, part);
  if (term.kind == Term::Kind::input) {
    const auto w = static_cast<std::size_t>(term.window);
    const Index parts = std::max<Index>(1, bytes_of(windows_[w].dtype) / cell_bytes_[w]);
    const auto cell = static_cast<std::size_t>(term.offset / cell_bytes_[w] + std::min(part, parts - 1));
    const ValueId value = contents(call, static_cast<std::uint32_t>(term.rank.value()), term.window).at(cell);
    return cell_bytes_[w] == bytes_of(term.dtype) && step == bytes_of(expectation.dtype)
               ? values.cast(value, term.dtype, expectation.dtype)
               : value;
  }
  std::vector<ValueId> terms;
  for (const Term& inner : term.terms) terms.push_back(value_of(inner, expectation, call, part));
  const Index divisor = term.op == ReduceOp::avg ? static_cast<Index>(terms.size()) : 1;
  return values.fold(term.op, terms, expectation.dtype, step == bytes_of(expectation.dtype), divisor);
}

class Machine::Reader final : public MemoryReader {
 public:
  Reader(Machine& machine, State& state, const Actor& who) : machine_(machine), state_(state), who_(who) {}

  Index integer(int window, Index offset, Dtype dtype) override {
    const Index n_bytes = bytes_of(dtype);
    const std::string fault = machine_.range_fault(who_.rank, window, offset, n_bytes);
    if (!fault.empty()) fail(Code::invalid_argument, "{}", fault);
    const Index before = machine_.granularity_.cell_bytes(window);
    machine_.granularity_.cut(window, n_bytes);
    machine_.granularity_.cut(window, offset);
    if (machine_.granularity_.cell_bytes(window) != before) throw Restart{};
    CellBytes bytes{};
    for (Index at = 0; at < n_bytes; at += before) {
      const std::size_t cell = machine_.cell_at(who_.rank, window, offset + at);
      machine_.read(state_, cell, who_);
      const CellValue& value = machine_.values[state_.cells[cell].value];
      if (!value.known) throw NotANumber{cell};
      std::copy_n(value.bytes.begin(), before, bytes.begin() + at);
    }
    read_.push_back(read_element(dtype, bytes.data()));
    return read_.back();
  }
  std::vector<Index> take_read() { return std::move(read_); }

 private:
  Machine& machine_;
  State& state_;
  const Actor& who_;
  std::vector<Index> read_;
};

std::uint32_t Machine::expanded_list(State& state, std::uint32_t rank, const Operation& op) {
  const Actor who = actor(state, rank, nullptr);
  Reader reader(*this, state, who);
  auto operations = std::make_shared<std::vector<Operation>>();
  op.deferred->expand(reader, *operations);
  const auto [entry, added] = expansions_.try_emplace({op.deferred.get(), reader.take_read()});
  if (added) {
    learn(*operations, rank, state.ranks[rank].call);
    entry->second = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back(std::move(operations));
  }
  return entry->second;
}

void Machine::learn(std::span<const Operation> operations, std::uint32_t rank, std::uint32_t call) {
  bool changed = false;
  for (const Operation& op : operations) {
    const std::string fault = bounds_fault(op, rank);
    if (!fault.empty()) throw Error(Code::invalid_argument, fault);
    changed = granularity_.observe(op) || changed;
    changed = signals.observe(rank, call, op) || changed;
  }
  if (changed) throw Restart{};
}

void Machine::expand(State& state, std::uint32_t rank, const Operation& op) {
  RankState& at = state.ranks[rank];
  try {
    const std::uint32_t expanded = expanded_list(state, rank, op);
    at.parent = words_.number_of({at.list, at.at, at.parent});
    at.list = expanded;
    at.at = 0;
  } catch (const NotANumber& unknown) {
    stop(state, rank,
         {.fault = CheckFault::wrong_value, .cell = static_cast<std::uint32_t>(unknown.cell), .detail = op.label});
  } catch (const Error& error) {
    if (error.code() != Code::invalid_argument) throw;
    const std::string& name = input_.calls.front().name;
    const std::string message = error.what();
    // What a `require` says begins with the program alone; anything else quotes rank and statement.
    if (!message.starts_with(fmt::format("program {}: ", name)))
      return stop(state, rank, {.fault = CheckFault::out_of_bounds, .detail = message});
    refuse(state, rank, message);
  }
}

void Machine::refuse(State& state, std::uint32_t rank, const std::string& message) {
  RankState& at = state.ranks[rank];
  std::vector<std::uint32_t> calls = words_[at.refused];
  calls.push_back(at.call);
  at.refused = words_.number_of(std::move(calls));
  refusals.insert({{rank, at.call}, {message, at.steps}});
  at.list = (at.call - 1) * static_cast<std::uint32_t>(ranks_) + rank;
  at.at = static_cast<std::uint32_t>(list(at.list).size());
  at.parent = 0;
}

std::string Machine::range_fault(std::uint32_t rank, int window, Index first, Index n_bytes) const {
  if (window < 0 || static_cast<std::size_t>(window) >= windows_.size())
    return fmt::format("there is no window {}", window);
  const Index bytes = bytes_of_window(rank, window);
  if (first >= 0 && first + n_bytes <= bytes) return "";
  return fmt::format("bytes [{}, {}) of {} of rank {}, which has {}", first, first + n_bytes,
                     windows_[static_cast<std::size_t>(window)].name, rank, bytes);
}

}  // namespace reshard::explore
