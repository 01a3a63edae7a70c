#include "oracle/layout_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

namespace reshard::oracle {
namespace {

// Global index at every local position of a library segment list; holes where no segment is.
Line unrolled(const Segments& segments, std::size_t length) {
  Line line(length, hole);
  for (const Segment& s : segments)
    for (Index k = 0; k < s.length; ++k) {
      const auto at = static_cast<std::size_t>(s.local.value() + k);
      if (at >= line.size()) line.resize(at + 1, hole);
      line[at] = s.global.value() + k;
    }
  return line;
}

// Which element lies at which address, by the library's region and storage.
std::vector<Index> library_buffer(const Region& region, const LocalStorage& storage, const std::vector<Index>& shape,
                                  std::size_t size) {
  std::vector<Index> buffer(size, hole);
  if (!region.held) return buffer;
  std::vector<Index> counts;
  for (const Segments& segments : region.dims) counts.push_back(length_of(segments));
  std::vector<std::vector<std::pair<Index, Index>>> cells(region.dims.size());
  for (std::size_t d = 0; d < region.dims.size(); ++d)
    for (const Segment& s : region.dims[d])
      for (Index k = 0; k < s.length; ++k) cells[d].push_back({s.local.value() + k, s.global.value() + k});
  std::vector<Index> global(counts.size());
  each_index(counts, [&](const std::vector<Index>& pick) {
    Index address = storage.offset;
    for (std::size_t d = 0; d < pick.size(); ++d) {
      const auto [local, g] = cells[d][static_cast<std::size_t>(pick[d])];
      address += local * storage.strides[d];
      global[d] = g;
    }
    const auto at = static_cast<std::size_t>(address);
    if (at >= buffer.size()) buffer.resize(at + 1, hole);
    buffer[at] = linear_index(global, shape);
  });
  return buffer;
}

bool ordered(const Segments& segments) {
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (segments[k].length <= 0) return false;
    if (k == 0) continue;
    const Segment& before = segments[k - 1];
    const Index local_gap = segments[k].local - (before.local + before.length);
    const Index global_gap = segments[k].global - (before.global + before.length);
    if (local_gap < 0 || global_gap < 0 || (local_gap == 0 && global_gap == 0)) return false;
  }
  return true;
}

void compare_part(const Layout& layout, Index rank, const Part& part, const LocalStorage& storage,
                  std::vector<std::string>& faults) {
  const Region region = layout.region(RankId(rank));
  const auto fault = [&](const std::string& what) {
    faults.push_back(fmt::format("{} rank {}: {}", layout.text(), rank, what));
  };
  if (region.held != part.held) return fault(fmt::format("held {}, oracle {}", region.held, part.held));
  if (storage.elements != static_cast<Index>(part.buffer.size()))
    fault(fmt::format("buffer of {} elements, oracle has {}", storage.elements, part.buffer.size()));
  if (layout.local_bytes(RankId(rank)) != static_cast<Index>(part.buffer.size()) * bytes_of(layout.dtype()))
    fault(fmt::format("{} local bytes", layout.local_bytes(RankId(rank))));
  if (!part.held) return;
  for (std::size_t d = 0; d < region.dims.size(); ++d) {
    if (!ordered(region.dims[d])) fault(fmt::format("dimension {}: segments not sorted and merged", d));
    const Line line = unrolled(region.dims[d], part.logical[d].size());
    if (!layout.is_view() && line != part.logical[d])
      fault(fmt::format("dimension {}: holds [{}], oracle [{}]", d, fmt::join(line, " "),
                        fmt::join(part.logical[d], " ")));
  }
  const std::vector<Index> buffer = library_buffer(region, storage, layout.shape(), part.buffer.size());
  if (buffer != part.buffer)
    fault(fmt::format("memory [{}], oracle [{}]", fmt::join(buffer, " "), fmt::join(part.buffer, " ")));
}

}  // namespace

Side side_of(const Layout& layout) {
  Side side{ownership_of(layout), {}, {}};
  side.owners = owner_bits(side.ownership);
  for (const auto& [rank, part] : side.ownership.parts) side.storage[rank] = layout.storage(RankId(rank));
  return side;
}

std::vector<std::string> layout_faults(const Layout& layout, const Side& side) {
  std::vector<std::string> faults;
  for (const auto& [rank, part] : side.ownership.parts) compare_part(layout, rank, part, side.storage.at(rank), faults);
  for (Index rank = 0; rank <= layout.mesh().end_rank().value(); ++rank) {
    const bool member = side.ownership.parts.contains(rank);
    if (!member && layout.region(RankId(rank)).held) faults.push_back(fmt::format("rank {} is not in the mesh", rank));
    if (!member && layout.local_bytes(RankId(rank)) != 0) faults.push_back(fmt::format("rank {} needs no bytes", rank));
  }
  return faults;
}

}  // namespace reshard::oracle
