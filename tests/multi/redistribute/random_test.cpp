// Random pairs of layouts, executed and compared with the oracle. RESHARD_SEED repeats a failure.
#include <gtest/gtest.h>

#include "property/random_layout.h"
#include "redistribute/moved_tensor.h"

namespace reshard::multi {
namespace {

struct Batch {
  Fabric fabric = Fabric::thread;
  unsigned number = 0;
};

// 10 x 60 on threads, 6 x 10 on processes.
std::vector<Batch> batches() {
  std::vector<Batch> all;
  for (unsigned i = 0; i < 10; ++i) all.push_back({Fabric::thread, i});
  for (unsigned i = 0; i < 6; ++i) all.push_back({Fabric::shm, i});
  return all;
}

class RandomMoves : public testing::TestWithParam<Batch> {};

TEST_P(RandomMoves, EqualTheOracle) {
  const auto [fabric, number] = GetParam();
  Random random(seed_from_environment() + 100 * number + (fabric == Fabric::shm ? 50 : 0));
  for (int pair = 0; pair < (fabric == Fabric::thread ? 60 : 10); ++pair) {
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
  return std::string(name_of(test.param.fabric)) + "_" + std::to_string(test.param.number);
});

}  // namespace
}  // namespace reshard::multi
