#include "convert/route.h"

#include <algorithm>

namespace reshard::convert_detail {
namespace {

// The part of a transfer whose target indices lie in [begin, end) of every dimension; no dimensions if there is none.
bool clip(const Transfer& transfer, const std::vector<Index>& begin, const std::vector<Index>& end, Transfer& out) {
  out = {transfer.source, transfer.target, {}};
  for (std::size_t dim = 0; dim < transfer.dims.size(); ++dim) {
    std::vector<Span>& spans = out.dims.emplace_back();
    for (const Span& span : transfer.dims[dim]) {
      const LocalIndex first = std::max(span.target, LocalIndex(begin[dim]));
      const LocalIndex last = std::min(span.target + span.length, LocalIndex(end[dim]));
      if (first < last) spans.push_back({span.source + (first - span.target), first, last - first});
    }
    if (spans.empty()) return false;
  }
  return true;
}

}  // namespace

const std::vector<Transfer>& Router::receives(int from_layout, int to_layout, RankId rank) {
  const auto [entry, fresh] = planned_.try_emplace({from_layout, to_layout, rank});
  if (fresh)
    entry->second = plan_receives(job_.from.layouts()[static_cast<std::size_t>(from_layout)],
                                  job_.to.layouts()[static_cast<std::size_t>(to_layout)], rank, job_.plan);
  return entry->second;
}

std::vector<Feed> Router::feeds(int stored_place, RankId rank, const LocalBox& box) {
  const StoredTensor& stored = job_.to.stored()[static_cast<std::size_t>(stored_place)];
  const Index size = element_bytes(job_.to, stored);
  const std::vector<Index> shape = job_.to.local_shape(stored, rank);
  const Index first_element = linear_begin(box, shape);
  std::vector<Feed> feeds;
  for (int part = 0; part < std::ssize(stored.parts); ++part) {
    const int place = stored.parts[static_cast<std::size_t>(part)];
    const ModelTensor& target = job_.to.tensors()[static_cast<std::size_t>(place)];
    const ModelTensor& source =
        job_.from.tensors()[static_cast<std::size_t>(job_.source_tensor[static_cast<std::size_t>(place)])];
    LocalStorage into = job_.to.part_storage(stored, part, rank);
    // The box in the part's own indices: parts lie one after another along one dimension.
    std::vector<Index> begin = box.begin, end = box.end;
    if (!shape.empty()) {
      const std::size_t dim = static_cast<std::size_t>(stored.dim);
      const Index before = into.strides[dim] == 0 ? 0 : into.offset / into.strides[dim];
      begin[dim] = std::max<Index>(0, begin[dim] - before);
      end[dim] = std::min(into.extents[dim], end[dim] - before);
      if (begin[dim] >= end[dim]) continue;
    }
    into.offset -= first_element;
    const StoredTensor& source_stored = job_.from.stored()[static_cast<std::size_t>(source.stored)];
    Transfer clipped;
    for (const Transfer& transfer : receives(source.layout, target.layout, rank)) {
      if (!clip(transfer, begin, end, clipped)) continue;
      const CheckpointTensor& bytes = *job_.checkpoint.find(source_stored.name, transfer.source);
      const LocalStorage out_of = job_.from.part_storage(source_stored, source.part, transfer.source);
      Feed& feed = feeds.emplace_back(Feed{bytes.file, blocks_of(clipped, size, out_of, into)});
      for (Block& block : feed.blocks) block.source_offset += bytes.offset;
    }
  }
  return feeds;
}

}  // namespace reshard::convert_detail
