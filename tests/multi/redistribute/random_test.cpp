// Random pairs of layouts, executed and compared with the oracle. RESHARD_SEED repeats a failure.
#include <gtest/gtest.h>

#include "property/random_layout.h"
#include "redistribute/moved_tensor.h"

namespace reshard::multi {
namespace {

struct Batch {
  const Fabric* fabric = nullptr;
  unsigned number = 0;
};

// 10 x 60 on threads, 6 x 10 on each other fabric.
std::vector<Batch> batches() {
  std::vector<Batch> all;
  for (const Fabric* fabric : fabrics())
    for (unsigned i = 0; i < (fabric->traits().is_threads ? 10 : 6); ++i) all.push_back({fabric, i});
  return all;
}

class RandomMoves : public testing::TestWithParam<Batch> {};

TEST_P(RandomMoves, EqualTheOracle) {
  const auto [fabric, number] = GetParam();
  Random random(seed_from_environment() + 100 * number + (fabric->traits().is_threads ? 0 : 50));
  for (int pair = 0; pair < (fabric->traits().is_threads ? 60 : 10); ++pair) {
    const std::vector<Index> shape = random_shape(random);
    const std::vector<Dtype> dtypes(all_dtypes().begin(), all_dtypes().end());
    const Dtype dtype = random.one_in(2) ? Dtype::i32 : random.among(dtypes);
    const Layout source = random_layout(random, shape, dtype), target = random_layout(random, shape, dtype);
    PlanOptions options;
    options.policy = random.among(std::vector{SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo});
    options.rotation = random.below(3);
    SCOPED_TRACE(testing::Message() << "pair " << pair << ": " << source.text() << "  ->  " << target.text());
    ASSERT_NO_THROW(run_ranks(fabric, world_of(source, target),
                              [&](World& world) { expect_redistribute(world, source, target, 2, options); }));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMoves, testing::ValuesIn(batches()), [](const auto& test) {
  return test.param.fabric->name() + "_" + std::to_string(test.param.number);
});

}  // namespace
}  // namespace reshard::multi
