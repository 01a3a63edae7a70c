// Random batches: tensors of random shapes and layouts between two meshes, many of them alike.
#pragma once

#include "property/random_layout.h"
#include "reshard/batch_plan.h"

namespace reshard {

// Ranks stay below 48. Names are in no order.
inline Batch random_batch(Random& random, Index most_tensors) {
  Batch batch;
  Index left = random.between(1, most_tensors);
  while (left > 0) {
    const std::vector<Index> shape = random_shape(random);
    const Dtype dtype = random.among(std::vector{Dtype::u8, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::complex128});
    const Layout source = random_layout(random, shape, dtype), target = random_layout(random, shape, dtype);
    for (Index k = random.between(1, left); k > 0; --k, --left)
      batch.add("t" + std::to_string(random.below(1000)) + "." + std::to_string(left), source, target);
  }
  random.shuffle(batch.tensors);
  return batch;
}

inline Index world_of(const Batch& batch) {
  Index ranks = 1;
  for (const std::vector<Layout>* layouts : {&batch.sources, &batch.targets})
    for (const Layout& layout : *layouts) ranks = std::max(ranks, layout.mesh().end_rank().value());
  return ranks;
}

}  // namespace reshard
