#include "plan/megatron/shard_index.h"

#include <algorithm>

namespace reshard::megatron {
namespace {

struct LineOrder {
  bool operator()(const Segments* a, const Segments* b) const {
    return std::ranges::lexicographical_compare(*a, *b, {}, key, key);
  }
  static std::pair<GlobalIndex, Index> key(const Segment& segment) { return {segment.global, segment.length}; }
};

void push(std::vector<Span>& spans, const Span& span) {
  if (!spans.empty()) {
    Span& last = spans.back();
    if (last.source + last.length == span.source && last.target + last.length == span.target) {
      last.length += span.length;
      return;
    }
  }
  spans.push_back(span);
}

}  // namespace

Index ShardHit::elements() const {
  Index elements = 1;
  for (const auto& spans : dims) {
    Index length = 0;
    for (const Span& span : spans) length += span.length;
    elements *= length;
  }
  return elements;
}

ShardIndex::ShardIndex(const std::vector<std::vector<Segments>>& shards) {
  const std::size_t dims = shards.empty() ? 0 : shards.front().size();
  std::vector<std::vector<Index>> lines(shards.size());
  for (std::size_t dim = 0; dim < dims; ++dim) {
    std::map<const Segments*, Index, LineOrder> known;
    std::vector<Run>& runs = runs_.emplace_back();
    for (const auto& shard : shards) known.try_emplace(&shard[dim], 0);
    Index next = 0;
    for (auto& [segments, line] : known) {
      line = next++;
      for (const Segment& segment : *segments) runs.push_back({segment, line});
    }
    std::ranges::sort(runs, {}, [](const Run& run) { return run.segment.global; });
    for (std::size_t k = 0; k < shards.size(); ++k) lines[k].push_back(known.at(&shards[k][dim]));
  }
  for (std::size_t k = 0; k < shards.size(); ++k) shards_.try_emplace(std::move(lines[k]), static_cast<Index>(k));
}

std::vector<ShardIndex::LineHit> ShardIndex::hits_along(std::size_t dim, const Segments& wanted, Index& steps) const {
  const std::vector<Run>& runs = runs_[dim];
  std::map<Index, std::vector<Span>> by_line;
  for (const Segment& want : wanted) {
    auto run = std::ranges::partition_point(
        runs, [&](const Run& r) { return r.segment.global + r.segment.length <= want.global; });
    for (; run != runs.end() && run->segment.global < want.global + want.length; ++run, ++steps) {
      const Segment& have = run->segment;
      const GlobalIndex begin = std::max(have.global, want.global);
      const GlobalIndex end = std::min(have.global + have.length, want.global + want.length);
      push(by_line[run->line], {have.local + (begin - have.global), want.local + (begin - want.global), end - begin});
    }
  }
  std::vector<LineHit> hits;
  for (auto& [line, spans] : by_line) hits.push_back({line, std::move(spans)});
  return hits;
}

std::vector<ShardHit> ShardIndex::overlapping(const std::vector<Segments>& wanted, Index& steps) const {
  std::vector<std::vector<LineHit>> along;
  for (std::size_t dim = 0; dim < runs_.size(); ++dim) {
    along.push_back(hits_along(dim, wanted[dim], steps));
    if (along.back().empty()) return {};
  }
  std::vector<ShardHit> found;
  std::vector<std::size_t> at(along.size(), 0);
  for (;;) {
    ++steps;
    std::vector<Index> lines;
    for (std::size_t dim = 0; dim < at.size(); ++dim) lines.push_back(along[dim][at[dim]].line);
    if (const auto shard = shards_.find(lines); shard != shards_.end()) {
      ShardHit& hit = found.emplace_back(ShardHit{.shard = shard->second, .dims = {}});
      for (std::size_t dim = 0; dim < at.size(); ++dim) hit.dims.push_back(along[dim][at[dim]].spans);
    }
    std::size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == along[dim - 1].size()) at[--dim] = 0;
    if (dim == 0) return found;
  }
}

}  // namespace reshard::megatron
