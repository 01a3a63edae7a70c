#include "op/halo/operations.h"

namespace reshard::halo {
namespace {

std::vector<Span> spans_of(const Run& run) {
  if (run.step == 1) return {{LocalIndex(run.owner), LocalIndex(run.holder), run.length}};
  std::vector<Span> spans;
  for (Index k = 0; k < run.length; ++k)
    spans.push_back({LocalIndex(run.owner + k * run.step), LocalIndex(run.holder + k), 1});
  return spans;
}

Dtype real_of(Dtype dtype) {
  if (dtype == Dtype::complex64) return Dtype::f32;
  return dtype == Dtype::complex128 ? Dtype::f64 : dtype;
}

}  // namespace

Operation tell(RankId peer, int signal, RankId self, Index round, Index rounds) {
  return {.code = OpCode::notify,
          .peer = peer,
          .signal = signal,
          .slot = self.value(),
          .value = static_cast<std::uint64_t>(round),
          .per_run = static_cast<std::uint64_t>(rounds)};
}

Operation await(int signal, RankId peer, Index round, Index rounds) {
  return {.code = OpCode::wait,
          .signal = signal,
          .slot = peer.value(),
          .value = static_cast<std::uint64_t>(round),
          .per_run = static_cast<std::uint64_t>(rounds)};
}

void add_blocks(const Link& link, Index element_bytes, const LocalStorage& owner, const LocalStorage& holder,
                std::vector<Block>& blocks) {
  Transfer transfer;
  for (const Run& run : link.dims) transfer.dims.push_back(spans_of(run));
  for (Block& block : blocks_of(transfer, element_bytes, owner, holder)) blocks.push_back(std::move(block));
}

Minus::Minus(Dtype dtype) : real(real_of(dtype)), parts(bytes_of(dtype) / bytes_of(real)) {}

Operation Minus::write(int scratch) const {
  return {.code = OpCode::fill,
          .target_window = scratch,
          .blocks = {{.row_bytes = bytes_of(real)}},
          .dtype = real,
          .number = -1};
}

Reduction Minus::change(const std::vector<Index>& counts, const Place& place, int scratch) const {
  const Index bytes = bytes_of(real);
  Reduction change{
      .counts = counts, .result = {.window = place.window, .offset = place.offset * parts * bytes}, .terms = {}};
  for (const Index stride : place.strides) change.result.strides.push_back(stride * parts * bytes);
  if (parts > 1) {
    change.counts.push_back(parts);
    change.result.strides.push_back(bytes);
  }
  change.terms = {change.result,
                  {.window = scratch, .offset = 0, .strides = std::vector<Index>(change.counts.size(), 0)}};
  return change;
}

}  // namespace reshard::halo
