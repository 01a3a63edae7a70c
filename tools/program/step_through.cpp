#include "program/step_through.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <string>

#include "output/output.h"
#include "program/replayed_text.h"
#include "reshard/error.h"

namespace reshard::cli {
namespace {

// The number of the step to show next, from 0; `count` or more to leave.
std::size_t asked_for(std::size_t at, std::size_t count) {
  print(fmt::format("[{} of {}] Enter: next, number: go there, q: leave > ", at + 1, count));
  flush();
  std::string line;
  if (!std::getline(std::cin, line) || line == "q") return count;
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool is_step = fault == std::errc() && end == line.data() + line.size() && number >= 1 && number <= count;
  return is_step ? number - 1 : line.empty() ? at + 1 : at;
}

}  // namespace

void step_through(const std::vector<ReplayedStep>& steps, Index first, Index ranks) {
  if (first > std::ssize(steps))
    throw Error(Code::invalid_argument, fmt::format("--step {}: the trace has {} steps", first, steps.size()));
  const bool asks = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  for (auto at = static_cast<std::size_t>(first - 1); at < steps.size();) {
    print(replayed_text(steps, at, ranks) + "\n");
    at = asks ? asked_for(at, steps.size()) : at + 1;
  }
}

}  // namespace reshard::cli
