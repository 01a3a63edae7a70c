#include "reshard/check.h"

#include <algorithm>

#include "base/fail.h"
#include "program/check/explorer.h"
#include "program/check/faults.h"
#include "program/check/repair.h"
#include "reshard/lower.h"

namespace reshard {
namespace {

void validate(const CheckInput& input) {
  if (input.calls.empty()) fail(Code::invalid_argument, "a check needs at least one call");
  const Program& first = input.calls.front();
  for (const Program& call : input.calls) {
    if (call.ranks != first.ranks || call.signals != first.signals)
      fail(Code::invalid_argument, "program {}: the calls of a check must agree on ranks and signals", first.name);
    if (call.operations.size() != static_cast<std::size_t>(call.ranks))
      fail(Code::invalid_argument, "program {}: {} lists of operations for {} ranks", call.name, call.operations.size(),
           call.ranks);
  }
  // Sums of notifications are followed in signed 64 bits.
  constexpr std::uint64_t kFarthestStart = std::uint64_t{1} << 62;
  for (const SignalSpec& signal : first.signals)
    for (const std::vector<std::uint64_t>& starts : signal.starts)
      for (const std::uint64_t start : starts)
        if (start > kFarthestStart)
          fail(Code::unsupported, "signal {} starts at {}; counters can be checked from up to 2^62 on", signal.name,
               start);
}

// Knowledge that grows until a run needs no more of it.
struct Knowledge {
  explicit Knowledge(const CheckInput& input)
      : granularity(longest_windows(input)), signals(input.calls.front().signals, input.calls.front().ranks) {
    const std::vector<WindowSpec>& windows = longest_windows(input);
    bool has_deferred = false;
    for (std::size_t c = 0; c < input.calls.size(); ++c) {
      for (std::size_t r = 0; r < input.calls[c].operations.size(); ++r) {
        for (const Operation& operation : input.calls[c].operations[r]) {
          granularity.observe(operation);
          signals.observe(static_cast<Index>(r), static_cast<Index>(c) + 1, operation);
          has_deferred = has_deferred || operation.code == OpCode::deferred;
        }
      }
    }
    for (const std::vector<Expectation>& expect : input.expect) granularity.observe(expect, windows);
    for (std::size_t w = 0; w < windows.size(); ++w)
      if (has_deferred || has_rule(input, static_cast<int>(w), windows[w]))
        granularity.cut(static_cast<int>(w), bytes_of(windows[w].dtype));
  }

  static const std::vector<WindowSpec>& longest_windows(const CheckInput& input) {
    return std::ranges::max_element(input.calls, {}, [](const Program& call) { return call.windows.size(); })->windows;
  }
  // What is no input but starts with contents of its own is told element by element.
  static bool has_rule(const CheckInput& input, int window, const WindowSpec& spec) {
    if (input.initial == nullptr || spec.role == BufferRole::input) return false;
    for (Index r = 0; r < input.calls.front().ranks; ++r) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(spec.bytes[static_cast<std::size_t>(r)]));
      if (input.initial(1, RankId(r), window, bytes)) return true;
    }
    return false;
  }

  explore::Granularity granularity;
  explore::SignalCells signals;
};

CheckReport unfinished(CheckReport report) {
  report.passed = report.bounded = true;
  return report;
}

CheckReport explore_all(const CheckInput& input, const CheckOptions& options, explore::Budget& budget) {
  validate(input);
  Knowledge knowledge(input);
  CheckReport report;
  report.ranks = input.calls.front().ranks;
  report.calls = static_cast<Index>(input.calls.size());
  while (true) {
    try {
      explore::Machine machine(input, options, knowledge.granularity, knowledge.signals, budget.deadline());
      explore::Explorer explorer(machine, budget);
      report.bounded = !explorer.explore();
      report.passed = machine.findings.empty();
      if (!report.passed) {
        std::vector<explore::StepRecord> steps;
        const explore::State end = explorer.replay(steps);
        describe(report, machine, steps, end);
      }
      return report;
    } catch (const explore::Restart&) {
      if (budget.is_spent()) return unfinished(report);
    } catch (const explore::OutOfTime&) {
      return unfinished(report);
    }
  }
}

// Ranks that stop for ever in fewer calls do so in fewer steps. Not worth more than a few times what the first cost.
CheckReport shortest_deadlock(const CheckInput& input, const CheckOptions& options, explore::Budget& budget,
                              const CheckReport& found) {
  CheckOptions limited = options;
  limited.max_states = std::min(options.max_states, 20'000 + 4 * budget.states);
  for (std::size_t calls = 1; calls < input.calls.size() && !budget.is_spent(); ++calls) {
    explore::Budget share(limited);
    CheckInput fewer = input;
    fewer.calls.resize(calls);
    fewer.expect.resize(std::min(fewer.expect.size(), calls));
    CheckReport report = explore_all(fewer, limited, share);
    budget.spend(share.states);
    if (report.fault != CheckFault::deadlock) continue;
    report.calls = found.calls;
    return report;
  }
  return found;
}

CheckReport checked(const CheckInput& input, const CheckOptions& options) {
  explore::Budget budget(options);
  CheckReport report = explore_all(input, options, budget);
  if (report.fault == CheckFault::deadlock) report = shortest_deadlock(input, options, budget, report);
  report.states = budget.states;
  report.transitions = budget.transitions;
  report.seconds = budget.seconds();
  return report;
}

// Expectations take memory for each element, however long they are.
constexpr Index kMostExpected = Index{1} << 22;

void refuse_large(const SymbolicProgram& program, const Program& unrolled, Index calls) {
  if (program.expect.empty()) return;
  double elements = 0;
  for (const WindowSpec& window : unrolled.windows)
    for (const Index bytes : window.role == BufferRole::input ? std::vector<Index>{} : window.bytes)
      elements += static_cast<double>(bytes / bytes_of(window.dtype));
  elements *= static_cast<double>(calls);
  if (elements > static_cast<double>(kMostExpected))
    fail(Code::unsupported,
         "program {}: a check holds up to {} elements against what is expected, and here are {:.0f}; check smaller "
         "sizes",
         program.name, kMostExpected, elements);
}

CheckInput input_of(const SymbolicProgram& program, const CheckOptions& options) {
  CheckInput input;
  for (Index call = 1; call <= options.calls; ++call) {
    const UnrollOptions at{.ranks = options.ranks, .sizes = options.sizes, .call = call};
    input.calls.push_back(unroll(program, at));
    refuse_large(program, input.calls.back(), options.calls);
    input.expect.push_back(expectations(program, at));
  }
  input.initial = [&program, sizes = options.sizes, ranks = options.ranks](Index call, RankId rank, int window,
                                                                           std::span<std::byte> bytes) {
    return fill_initial(program, {.ranks = ranks, .sizes = sizes, .call = call}, rank, window, bytes);
  };
  return input;
}

}  // namespace

std::string_view name_of(CheckFault fault) {
  switch (fault) {
    case CheckFault::race: return "race";
    case CheckFault::wrong_value: return "wrong value";
    case CheckFault::deadlock: return "deadlock";
    case CheckFault::contract: return "contract";
    case CheckFault::overflow: return "overflow";
    case CheckFault::refused: return "refused";
    case CheckFault::out_of_bounds: return "out of bounds";
  }
  return "unknown";
}

CheckReport check(const CheckInput& input, const CheckOptions& options) { return checked(input, options); }

CheckReport check(const SymbolicProgram& program, const CheckOptions& options) {
  const SymbolicProgram lowered = lower(program);
  CheckReport report = checked(input_of(lowered, options), options);
  if (report.fault && options.suggest) report.repair = explore::find_repair(lowered, options, report);
  return report;
}

}  // namespace reshard
