// Spans to strided blocks: uniform spans become loops, loops that continue each other become one, the innermost
// contiguous loop becomes the row.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/checked.h"
#include "base/fail.h"
#include "program/runs.h"
#include "reshard/program.h"

namespace reshard {
namespace {

// The nest runs fastest where the target is densest, so that the target is written in order.
bool slower(const Loop& a, const Loop& b) {
  const Index target_a = std::abs(a.target_stride), target_b = std::abs(b.target_stride);
  if (target_a != target_b) return target_a > target_b;
  return std::abs(a.source_stride) > std::abs(b.source_stride);
}

// `inner` run to its end lands where `outer` takes its next step.
bool continues(const Loop& outer, const Loop& inner) {
  return outer.source_stride == inner.count * inner.source_stride &&
         outer.target_stride == inner.count * inner.target_stride;
}

void merge(std::vector<Loop>& loops) {
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    if (!merged.empty() && continues(merged.back(), loop)) {
      merged.back() = {merged.back().count * loop.count, loop.source_stride, loop.target_stride};
    } else {
      merged.push_back(loop);
    }
  }
  loops = std::move(merged);
}

// Ends describe one dimension of both buffers, in bytes per element step.
struct Steps {
  Index source = 0;
  Index target = 0;
};

Block block_of(std::span<const Run> runs, std::span<const Steps> steps, Block block) {
  const Index element_bytes = block.row_bytes;
  for (std::size_t d = 0; d < runs.size(); ++d) {
    const Run& run = runs[d];
    block.source_offset += run.first.source.value() * steps[d].source;
    block.target_offset += run.first.target.value() * steps[d].target;
    block.loops.push_back({run.count, run.source_step * steps[d].source, run.target_step * steps[d].target});
    block.loops.push_back({run.first.length, steps[d].source, steps[d].target});
  }
  std::erase_if(block.loops, [](const Loop& loop) { return loop.count == 1; });
  std::stable_sort(block.loops.begin(), block.loops.end(), slower);
  merge(block.loops);
  if (!block.loops.empty() && block.loops.back().source_stride == element_bytes &&
      block.loops.back().target_stride == element_bytes) {
    block.row_bytes *= block.loops.back().count;
    block.loops.pop_back();
  }
  return block;
}

void check_dims(const Transfer& transfer, const LocalStorage& storage, std::string_view end) {
  if (storage.strides.size() != transfer.dims.size()) {
    fail(Code::invalid_argument, "transfer {} -> {} has {} dimensions but the {} storage has {} strides",
         transfer.source.value(), transfer.target.value(), transfer.dims.size(), end, storage.strides.size());
  }
}

}  // namespace

Index Block::bytes() const {
  Index total = row_bytes;
  for (const Loop& loop : loops) total = checked_mul(total, loop.count, "bytes of a block");
  return total;
}

std::vector<Block> blocks_of(const Transfer& transfer, Index element_bytes, const LocalStorage& source,
                             const LocalStorage& target) {
  check_dims(transfer, source, "source");
  check_dims(transfer, target, "target");
  std::vector<std::vector<Run>> runs;
  std::vector<Steps> steps;
  for (std::size_t d = 0; d < transfer.dims.size(); ++d) {
    if (transfer.dims[d].empty()) return {};
    runs.push_back(runs_of(transfer.dims[d]));
    steps.push_back({source.strides[d] * element_bytes, target.strides[d] * element_bytes});
  }
  const Block origin{source.offset * element_bytes, target.offset * element_bytes, element_bytes, {}};
  std::vector<Block> blocks;
  std::vector<std::size_t> at(runs.size(), 0);
  std::vector<Run> chosen(runs.size());
  do {
    for (std::size_t d = 0; d < runs.size(); ++d) chosen[d] = runs[d][at[d]];
    blocks.push_back(block_of(chosen, steps, origin));
  } while (advance(at, runs));
  return blocks;
}

}  // namespace reshard
