#include "op/halo/links.h"

#include <algorithm>

#include "op/halo/edge.h"

namespace reshard::halo {
namespace {

// Cells of the tensor that a strip comes from.
Index least_source(const Strip& strip) { return strip.step < 0 ? strip.source - (strip.length - 1) : strip.source; }
Index source_length(const Strip& strip) { return strip.step == 0 ? 1 : strip.length; }

// Groups are apart along one more dimension.
Box with_group(Box box, Index group) {
  box.offsets.emplace_back(group);
  box.sizes.push_back(1);
  return box;
}

Box box_of(const Piece& piece) {
  Box box{{}, piece.length};
  for (const Index begin : piece.begin) box.offsets.emplace_back(begin);
  return with_group(std::move(box), piece.group);
}

bool to_next(std::vector<std::size_t>& at, const auto& lists) {
  for (std::size_t k = at.size(); k-- > 0;) {
    if (++at[k] < lists[k].size()) return true;
    at[k] = 0;
  }
  return false;
}

}  // namespace

Index Link::elements() const {
  Index elements = 1;
  for (const Run& run : dims) elements *= run.length;
  return elements;
}

Links::Links(const Domain& domain) : domain_(domain), order_(order_of(domain.halo)) {
  std::vector<Box> boxes;
  for (std::size_t k = 0; k < domain.pieces.size(); ++k) {
    if (domain.pieces[k].is_empty()) continue;
    pieces_.push_back(k);
    boxes.push_back(box_of(domain.pieces[k]));
  }
  index_.emplace(std::move(boxes));
}

std::vector<Link> Links::links(std::size_t holder, std::optional<std::size_t> phase) const {
  const Piece& piece = domain_.pieces[holder];
  std::vector<Link> links;
  if (piece.is_empty()) return links;
  const std::vector<Parts> parts = parts_of(piece, phase);
  for (const bool crosses : {false, true}) {
    const std::vector<std::vector<Part>> lists = chosen(parts, crosses);
    if (std::ranges::any_of(lists, [](const auto& list) { return list.empty(); })) continue;
    std::vector<std::size_t> at(lists.size(), 0);
    std::vector<const Part*> box(lists.size());
    do {
      bool is_ghost = false;
      for (std::size_t dim = 0; dim < lists.size(); ++dim) {
        box[dim] = &lists[dim][at[dim]];
        is_ghost = is_ghost || box[dim]->strip.is_ghost;
      }
      if (is_ghost) add(holder, box, crosses, links);
    } while (to_next(at, lists));
    if (pole_of(domain_.halo) == nullptr) break;
  }
  return links;
}

std::vector<Links::Parts> Links::parts_of(const Piece& piece, std::optional<std::size_t> phase) const {
  const HaloDim* pole = pole_of(domain_.halo);
  std::vector<Parts> parts(domain_.dims());
  for (std::size_t dim = 0; dim < parts.size(); ++dim) {
    // Of the dimensions that are widened in this phase, ghosts; of those after it, own cells.
    const auto place =
        std::ranges::find(order_, static_cast<int>(dim), [&](std::size_t k) { return domain_.halo.dims[k].dim; }) -
        order_.begin();
    const bool is_before = phase && place < static_cast<std::ptrdiff_t>(*phase);
    const bool is_now = phase && place == static_cast<std::ptrdiff_t>(*phase);
    const auto is_wanted = [&](const Strip& strip) {
      return !strip.is_constant && (!phase || strip.is_ghost == is_now);
    };
    if (is_before) {
      parts[dim].plain.push_back({{.length = piece.length[dim], .source = piece.begin[dim]}, true});
      continue;
    }
    for (const Strip& strip : strips_of(domain_, piece, dim))
      if (is_wanted(strip)) parts[dim].plain.push_back({strip});
    if (pole == nullptr || pole->edge.longitude != static_cast<int>(dim)) continue;
    for (const Strip& strip : strips_of(domain_, piece, dim, domain_.shape[dim] / 2))
      if (is_wanted(strip)) parts[dim].turned.push_back({strip});
  }
  return parts;
}

std::vector<std::vector<Links::Part>> Links::chosen(const std::vector<Parts>& parts, bool crosses) const {
  const HaloDim* pole = pole_of(domain_.halo);
  std::vector<std::vector<Part>> lists;
  for (std::size_t dim = 0; dim < parts.size(); ++dim) {
    const bool is_longitude = pole != nullptr && pole->edge.longitude == static_cast<int>(dim);
    lists.push_back(is_longitude && crosses ? parts[dim].turned : parts[dim].plain);
    if (pole != nullptr && pole->dim == static_cast<int>(dim))
      std::erase_if(lists.back(), [&](const Part& part) { return part.strip.crosses != crosses; });
  }
  return lists;
}

void Links::add(std::size_t holder, const std::vector<const Part*>& box, bool crosses, std::vector<Link>& links) const {
  const Piece& piece = domain_.pieces[holder];
  Box wanted;
  for (const Part* part : box) {
    wanted.offsets.emplace_back(least_source(part->strip));
    wanted.sizes.push_back(source_length(part->strip));
  }
  Index comparisons = 0;
  for (const Index found : index_->overlapping(with_group(std::move(wanted), piece.group), comparisons)) {
    const std::size_t owner = pieces_[static_cast<std::size_t>(found)];
    Link link{.holder = holder, .owner = owner, .dims = {}, .crosses = crosses};
    for (std::size_t dim = 0; dim < box.size(); ++dim)
      link.dims.push_back(run_of(*box[dim], piece, domain_.pieces[owner], dim));
    links.push_back(std::move(link));
  }
}

// Of a part that the owner has some of.
Run Links::run_of(const Part& part, const Piece& holder, const Piece& owner, std::size_t dim) const {
  if (part.is_carried) return {.holder = 0, .owner = 0, .length = holder.width(dim)};
  const Strip& strip = part.strip;
  const Index begin = owner.begin[dim], end = begin + owner.length[dim];
  Index skipped = 0, stop = strip.length;
  if (strip.step == 1) {
    skipped = std::max<Index>(0, begin - strip.source);
    stop = std::min(strip.length, end - strip.source);
  } else if (strip.step == -1) {
    skipped = std::max<Index>(0, strip.source - (end - 1));
    stop = std::min(strip.length, strip.source - begin + 1);
  }
  return {.holder = strip.first + skipped,
          .owner = owner.before[dim] + strip.source + skipped * strip.step - begin,
          .length = stop - skipped,
          .step = strip.step};
}

}  // namespace reshard::halo
