// A report as text: what is wrong in words, then who did what, a column per rank and a row per step.
#include <fmt/format.h>

#include <algorithm>

#include "reshard/check.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

constexpr std::size_t kWidth = 100;

// Counted in characters; labels are ASCII, marks are not.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = width_of(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

// Lines of at most `width` characters, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t cut = text.rfind(' ', width);
    if (cut == std::string_view::npos || cut == 0) cut = width;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

std::string marked(const TraceStep& step) {
  return fmt::format("{}{}{}", step.arrival ? "~> " : "", step.text,
                     step.blocked   ? ": blocked"
                     : step.arrival ? " arrives"
                                    : "");
}

// Columns of one width that together fit; wide worlds get the columns they need and more than that width.
std::size_t column_width(const CheckReport& report, std::size_t left) {
  std::size_t longest = 0;
  for (const TraceStep& step : report.trace) longest = std::max(longest, width_of(marked(step)));
  const auto ranks = static_cast<std::size_t>(std::max<Index>(report.ranks, 1));
  const std::size_t fits = kWidth > left ? (kWidth - left) / ranks : 0;
  return std::max<std::size_t>(14, std::min(longest + 3, fits));
}

std::string line_of(std::string_view head, Index rank, std::string text, const CheckReport& report, std::size_t width) {
  std::string line(head);
  for (Index r = 0; r < report.ranks; ++r) line += padded(r == rank ? std::move(text) : "", width);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string heading(const CheckReport& report, std::size_t left, std::size_t width) {
  std::string line(left, ' ');
  for (Index r = 0; r < report.ranks; ++r) line += padded(fmt::format("rank {}", r), width);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string trace_text(const CheckReport& report) {
  const std::size_t digits = std::max<std::size_t>(2, std::to_string(report.trace.size()).size());
  const std::size_t left = digits + 5;
  const std::size_t width = column_width(report, left);
  std::string text = heading(report, left, width);
  for (std::size_t i = 0; i < report.trace.size(); ++i) {
    const TraceStep& step = report.trace[i];
    std::string head = fmt::format("{:>{}} c{} {}", i + 1, digits, step.call, step.culprit ? "!" : " ");
    head = padded(std::move(head), left);
    for (std::string& line : wrapped(marked(step), width - 2)) {
      text += line_of(head, step.rank.value(), std::move(line), report, width);
      head.assign(left, ' ');
    }
  }
  return text;
}

std::string verdict(const CheckReport& report) {
  const auto counted = [](Index count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  const std::string what = counted(report.ranks, "rank") + ", " + counted(report.calls, "call");
  const std::string cost = fmt::format("{} states in {:.3f} s", report.states, report.seconds);
  if (report.fault) return fmt::format("FAULT: {} ({}; {})\n", name_of(*report.fault), what, cost);
  if (report.bounded)
    return fmt::format("nothing found, but not all was explored ({}; {}): raise the limits of states or time\n", what,
                       cost);
  return fmt::format("passed: no order of events goes wrong ({}; {})\n", what, cost);
}

}  // namespace

std::string CheckReport::text() const {
  std::string text = verdict(*this);
  if (!message.empty())
    for (const std::string& line : wrapped(message, kWidth)) text += line + "\n";
  if (!trace.empty()) {
    text += "\nOne way to get there; `c2` is call 2, `!` marks what is at fault, `~>` a put that arrives late:\n";
    text += trace_text(*this);
  }
  if (repair) text += fmt::format("\nRepair, proven by the same check: {}\n", repair->description);
  return text;
}

}  // namespace reshard
