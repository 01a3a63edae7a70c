#include "program/terms.h"

#include <map>

#include "base/fail.h"

namespace reshard {
namespace {

// Row-major number of the term among those that meet at the target; -1 if it is no term, or of nothing.
Index term_of(const Transfer& transfer, const std::vector<Index>& extents) {
  Index term = 0;
  if (transfer.elements() == 0) return -1;
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    const std::vector<Span>& spans = transfer.dims[dim];
    if (spans.size() != 1 || spans.front().length != 1 || spans.front().target.value() >= extents[dim]) return -1;
    term = term * extents[dim] + spans.front().target.value();
  }
  return term;
}

// Parts of one rank are disjoint products, so their first elements differ.
std::vector<LocalIndex> first_of(const Transfer& transfer) {
  std::vector<LocalIndex> first;
  for (const std::vector<Span>& spans : transfer.dims)
    first.push_back(spans.empty() ? LocalIndex(-1) : spans.front().target);
  return first;
}

}  // namespace

Transfer without_terms(const Transfer& transfer, std::size_t leading) {
  if (transfer.dims.size() < leading)
    fail(Code::invalid_argument, "transfer {} -> {} has {} dimensions, but {} axes of the source are partial",
         transfer.source.value(), transfer.target.value(), transfer.dims.size(), leading);
  return {transfer.source,
          transfer.target,
          {transfer.dims.begin() + static_cast<std::ptrdiff_t>(leading), transfer.dims.end()}};
}

std::vector<Part> parts_of(std::span<const Transfer> receives, const Lift& lift) {
  std::map<std::vector<LocalIndex>, std::map<Index, Transfer>> by_place;
  for (const Transfer& receive : receives) {
    Transfer transfer = without_terms(receive, lift.extents.size());
    const Index term = term_of(receive, lift.extents);
    std::map<Index, Transfer>& terms = by_place[first_of(transfer)];
    const bool fits = term >= 0 && (terms.empty() || terms.begin()->second.dims == transfer.dims);
    if (!fits || !terms.emplace(term, std::move(transfer)).second)
      fail(Code::invalid_argument, "transfer {} -> {}: it is not one term of a part of the target",
           receive.source.value(), receive.target.value());
  }
  std::vector<Part> parts;
  for (auto& [place, terms] : by_place) {
    Part& part = parts.emplace_back();
    for (auto& [number, transfer] : terms) part.terms.push_back(std::move(transfer));
    if (std::ssize(part.terms) != lift.fold.terms)
      fail(Code::invalid_argument, "transfer {} -> {}: only {} of {} terms of its elements are in the plan",
           part.terms.front().source.value(), part.terms.front().target.value(), part.terms.size(), lift.fold.terms);
  }
  return parts;
}

}  // namespace reshard
