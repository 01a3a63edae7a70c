// What all ranks refuse together, before a byte moves; and what ends a world.
#include <optional>

#include "collective/every_collective.h"

namespace reshard::multi {
namespace {

class CollectiveRefusal : public EveryCollective {};
RESHARD_ON_EVERY_FABRIC(CollectiveRefusal, {2, 3});

void expect_usable(World& world) {
  AllReduce op(world, 3, Dtype::i32);
  std::ranges::fill(op.input<std::int32_t>(), 1);
  op.run();
  expect_equal(world.endpoint(), "sum", op.output<std::int32_t>()[2], world.ranks());
}

TEST_P(CollectiveRefusal, ArgumentsThatMakeNoOperation) {
  run_worlds([](World& world) {
    const Endpoint& e = world.endpoint();
    const auto refused = [&](std::initializer_list<std::string> parts, const auto& make) {
      expect_error(e, Code::invalid_argument, parts, make);
      expect_usable(world);
    };
    refused({"-1 bytes"}, [&] { AllToAll(world, -1); });
    refused({"does not fit in 64 bits"}, [&] { AllToAll(world, Index{1} << 62); });
    refused({"root 9 is none of"}, [&] { Broadcast(world, 1, RankId(9)); });
    refused({"complex64 cannot be reduced by max"}, [&] { AllReduce(world, 1, Dtype::complex64, ReduceOp::max); });
    refused({"1 parts for"}, [&] { ReduceScatter(world, std::vector<Index>{1}, Dtype::f32); });
    refused({"all_to_all_v: rank 1 gives 1 lengths for"}, [&] {
      AllToAllV(world, std::vector<Index>(world.rank() == RankId(1) ? 1 : static_cast<std::size_t>(world.ranks()), 5));
    });
    refused({"all_gather_v: rank 1 gives a length of -3 bytes"},
            [&] { AllGatherV(world, world.rank() == RankId(1) ? -3 : 3); });
  });
}

TEST_P(CollectiveRefusal, RanksThatDisagree) {
  run_worlds([](World& world) {
    const Endpoint& e = world.endpoint();
    expect_error(e, Code::invalid_argument, {"ranks 0 and 1", "of 8 bytes", "of 9 bytes"},
                 [&] { AllGather(world, world.rank() == RankId(1) ? 9 : 8); });
    expect_error(e, Code::invalid_argument, {"ranks 0 and 1", "by sum by eager", "by sum by direct"}, [&] {
      const Algorithm mine = world.rank() == RankId(1) ? Algorithm::direct : Algorithm::eager;
      AllReduce(world, 8, Dtype::f32, ReduceOp::sum, {.algorithm = mine});
    });
    expect_usable(world);
  });
}

TEST_P(CollectiveRefusal, WindowsThatDoNotDo) {
  run_worlds([](World& world) {
    const Endpoint& e = world.endpoint();
    Tensor x = world.allocate(layout(fmt::format("u8[{0},8] on (r={0}) {{0: r}}", world.ranks())));
    expect_error(e, Code::invalid_argument, {"the input needs", "bytes on rank 0", "has 8 there"},
                 [&] { AllToAll(world, 100, {.input = x.window()}); });
    expect_error(e, Code::invalid_argument, {"all_gather cannot have window"},
                 [&] { AllGather(world, 1, {.input = x.window(), .output = x.window()}); });
    expect_error(e, Code::invalid_argument, {"12345"}, [&] { AllToAll(world, 1, {.output = WindowId{12345}}); });
    expect_usable(world);
  });
}

// The last rank does not come.
TEST_P(CollectiveRefusal, ARankThatDoesNotComeEndsTheWorld) {
  run_worlds([](World& world) {
    AllReduce op(world, 3, Dtype::i32);
    Barrier barrier(world);
    op.run();
    world.set_timeout(300ms);
    if (world.rank() == RankId(world.ranks() - 1)) return world.endpoint().barrier(in_time());
    expect_error(world.endpoint(), Code::timeout, {"all_reduce", "wait", "deadline passed"}, [&] { op.run(); });
    expect_error(world.endpoint(), Code::peer_lost, {"cannot go on", "all_reduce"}, [&] { op.run(); });
    expect_error(world.endpoint(), Code::peer_lost, {"barrier", "cannot go on"}, [&] { barrier.run(); });
    world.endpoint().barrier(in_time());
  });
}

// Ranks let go of operations when they like.
TEST_P(CollectiveRefusal, OperationsComeAndGo) {
  run_worlds([](World& world) {
    std::optional<AllGather> kept;
    for (int i = 0; i < 20; ++i) {
      AllGather op(world, 1000);
      op.run();
      if (i % 3 == world.rank().value() % 3) kept.emplace(std::move(op));
    }
    kept.reset();
    expect_usable(world);
  });
}

}  // namespace
}  // namespace reshard::multi
