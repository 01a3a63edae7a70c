#include "golden/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace reshard {
namespace {

struct Box {
  Index source = 0;
  std::vector<Span> spans;
};

void expand(const Transfer& t, std::vector<Span> chosen, std::vector<Box>& boxes) {
  if (chosen.size() == t.dims.size()) return boxes.push_back({t.source.value(), std::move(chosen)});
  for (const Span& span : t.dims[chosen.size()]) {
    std::vector<Span> more = chosen;
    more.push_back(span);
    expand(t, more, boxes);
  }
}

std::vector<Index> target_starts(const Box& box) {
  std::vector<Index> starts;
  for (const Span& span : box.spans) starts.push_back(span.target.value());
  return starts;
}

std::string slices(const Box& box, LocalIndex Span::*end) {
  std::vector<std::string> parts;
  for (const Span& span : box.spans)
    parts.push_back(fmt::format("{}:{}", (span.*end).value(), (span.*end).value() + span.length));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

}  // namespace

std::vector<Index> sizes_of(const Layout& layout, int dim) {
  std::vector<Index> sizes;
  for (Index k = 0; k < layout.mesh().size(); ++k)
    sizes.push_back(length_of(layout.region(layout.mesh().rank_at_ordinal(k)).dims[static_cast<std::size_t>(dim)]));
  return sizes;
}

std::vector<Index> sizes_by(std::string_view cut, Index n, Index parts) {
  return sizes_of(layout(fmt::format("f32[{}] on (p={}) {{0: {}}}", n, parts, cut)));
}

std::vector<Index> offsets_of(const Layout& layout, int dim) {
  std::vector<Index> offsets;
  for (Index k = 0; k < layout.mesh().size(); ++k) {
    const Segments s = layout.region(layout.mesh().rank_at_ordinal(k)).dims[static_cast<std::size_t>(dim)];
    offsets.push_back(s.empty() ? layout.shape()[static_cast<std::size_t>(dim)] : s.front().global.value());
  }
  return offsets;
}

std::vector<Index> held_by(const Layout& layout, Index rank, int dim) {
  const Region region = layout.region(RankId(rank));
  std::vector<Index> held;
  for (const Segment& s : region.dims[static_cast<std::size_t>(dim)])
    for (Index k = 0; k < s.length; ++k) held.push_back(s.global.value() + k);
  return held;
}

std::string segments_of(const Layout& layout, Index rank) {
  const Region region = layout.region(RankId(rank));
  std::vector<std::string> parts;
  for (const Segment& s : region.dims[0])
    parts.push_back(fmt::format("({},{},{})", s.local.value(), s.global.value(), s.length));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string received_by(const Plan& plan, Index rank) {
  std::vector<Box> boxes;
  for (const Transfer& t : plan.transfers())
    if (t.target == RankId(rank)) expand(t, {}, boxes);
  std::ranges::sort(boxes, {}, target_starts);
  std::vector<std::string> parts;
  for (const Box& box : boxes)
    parts.push_back(fmt::format("({},{}->{})", box.source, slices(box, &Span::source), slices(box, &Span::target)));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace reshard
