// Pending terms that name where they come from, and what they must become: one element at a time, no plan, no region.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redistribute/moved_tensor.h"

namespace reshard::multi {

// A value as the oracle sees it: floats and integers apart, so that nothing is lost.
struct Number {
  double real = 0;
  std::int64_t whole = 0;
};

// The term of element `linear` that ranks with these coordinates along the partial axes hold. Of products small, so
// that integers fit; of floats with fractions, so that the order of a sum shows.
Number term_of(Dtype dtype, ReduceOp op, Index term, Index linear, std::uint64_t epoch);

// Fills what this rank holds of `tensor` with its terms; all else with the poison.
void fill_terms(World& world, Tensor& tensor, std::uint64_t epoch, std::byte poison);

// What must be in `tensor` after the terms of `source` moved there: folded in row-major order of the coordinates along
// the axes of the source that are not pending in the target, bit for bit. `kept` names, per partial axis of the source,
// the axis of the target along which it stays pending, -1 for none.
void expect_folded(World& world, const Layout& source, const Tensor& tensor, const std::vector<int>& kept,
                   std::uint64_t epoch, std::byte poison);

// fill_terms, redistribute, expect_folded, `calls` times with other values; the source stays as it was.
void expect_reduced(World& world, const Layout& source, const Layout& target, const std::vector<int>& kept = {},
                    int calls = 3, const PlanOptions& options = {});

}  // namespace reshard::multi
