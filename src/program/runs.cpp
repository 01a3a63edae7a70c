#include "program/runs.h"

namespace reshard {
namespace {

bool continues(const Run& run, const Span& last, const Span& next) {
  return next.length == run.first.length && (run.count == 1 || (next.source - last.source == run.source_step &&
                                                                next.target - last.target == run.target_step));
}

}  // namespace

std::vector<Run> runs_of(std::span<const Span> spans) {
  std::vector<Run> runs;
  const Span* last = nullptr;
  for (const Span& span : spans) {
    if (last != nullptr && continues(runs.back(), *last, span)) {
      runs.back().source_step = span.source - last->source;
      runs.back().target_step = span.target - last->target;
      ++runs.back().count;
    } else {
      runs.push_back({.first = span});
    }
    last = &span;
  }
  return runs;
}

bool advance(std::vector<std::size_t>& at, const std::vector<std::vector<Run>>& runs) {
  for (std::size_t d = at.size(); d-- > 0;) {
    if (++at[d] < runs[d].size()) return true;
    at[d] = 0;
  }
  return false;
}

}  // namespace reshard
