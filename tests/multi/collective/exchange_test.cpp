// Bytes that are moved: every byte names who sent it to whom, where, and in which call.
#include "collective/every_collective.h"
#include "reshard/stamp.h"

namespace reshard::multi {
namespace {

constexpr int kCalls = 3;
constexpr Index kSizes[] = {0, 1, 7, 64, 1000, 70'001};

class CollectiveExchange : public EveryCollective {};
RESHARD_ON_EVERY_FABRIC(CollectiveExchange, {1, 2, 3, 4, 6, 7, 8});

TEST_P(CollectiveExchange, AllToAll) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      for (const Index n : kSizes) {
        AllToAll op(world, n, {.algorithm = algorithm});
        for (Index call = 0; call < kCalls; ++call) {
          for (RankId to(0); to < RankId(world.ranks()); ++to)
            write_origin(part_of(op.input(), to.value() * n, (to.value() + 1) * n), world.rank(), to, call);
          op.run();
          for (RankId from(0); from < RankId(world.ranks()); ++from)
            expect_origin(world.endpoint(), fmt::format("all_to_all {} of {}", name_of(algorithm), n),
                          part_of(op.output(), from.value() * n, (from.value() + 1) * n), from, world.rank(), call);
        }
      }
    }
  });
}

// Rank r sends 0 to its successor, and to others lengths of all kinds; the last rank sends nothing at all.
Index length_between(RankId from, RankId to, Index ranks) {
  if (from.value() == ranks - 1 && ranks > 2) return 0;
  if (to.value() == (from.value() + 1) % ranks) return 0;
  return from.value() * 1009 + to.value() * 83 + 1;
}

TEST_P(CollectiveExchange, AllToAllV) {
  run_everywhere([](World& world) {
    const RankId me = world.rank();
    std::vector<Index> to_each;
    for (RankId to(0); to < RankId(world.ranks()); ++to) to_each.push_back(length_between(me, to, world.ranks()));
    for (const Algorithm algorithm : kAlgorithms) {
      AllToAllV op(world, to_each, {.algorithm = algorithm});
      const auto begin = [](const std::vector<Index>& offsets, RankId rank, Index more = 0) {
        return offsets[static_cast<std::size_t>(rank.value() + more)];
      };
      for (Index call = 0; call < kCalls; ++call) {
        for (RankId to(0); to < RankId(world.ranks()); ++to)
          write_origin(part_of(op.input(), begin(op.input_offsets(), to), begin(op.input_offsets(), to, 1)), me, to,
                       call);
        op.run();
        for (RankId from(0); from < RankId(world.ranks()); ++from) {
          const auto row = part_of(op.output(), begin(op.output_offsets(), from), begin(op.output_offsets(), from, 1));
          expect_equal(world.endpoint(), "length", row.size(), length_between(from, me, world.ranks()));
          expect_origin(world.endpoint(), "all_to_all_v", row, from, me, call);
        }
      }
    }
  });
}

TEST_P(CollectiveExchange, AllGather) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      for (const Index n : kSizes) {
        AllGather op(world, n, {.algorithm = algorithm});
        for (Index call = 0; call < kCalls; ++call) {
          write_origin(op.input(), world.rank(), world.rank(), call);
          op.run();
          for (RankId from(0); from < RankId(world.ranks()); ++from)
            expect_origin(world.endpoint(), fmt::format("all_gather {} of {}", name_of(algorithm), n),
                          part_of(op.output(), from.value() * n, (from.value() + 1) * n), from, from, call);
        }
      }
    }
  });
}

TEST_P(CollectiveExchange, AllGatherV) {
  run_everywhere([](World& world) {
    const auto length = [](RankId rank) { return rank.value() % 3 == 1 ? 0 : rank.value() * 333 + 5; };
    for (const Algorithm algorithm : kAlgorithms) {
      AllGatherV op(world, length(world.rank()), {.algorithm = algorithm});
      for (Index call = 0; call < kCalls; ++call) {
        write_origin(op.input(), world.rank(), world.rank(), call);
        op.run();
        for (RankId from(0); from < RankId(world.ranks()); ++from) {
          const Index begin = op.output_offsets()[static_cast<std::size_t>(from.value())];
          expect_origin(world.endpoint(), "all_gather_v", part_of(op.output(), begin, begin + length(from)), from, from,
                        call);
        }
      }
    }
  });
}

TEST_P(CollectiveExchange, Broadcast) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      for (const Index n : kSizes) {
        const RankId root(n % world.ranks());
        Broadcast op(world, n, root, {.algorithm = algorithm});
        for (Index call = 0; call < kCalls; ++call) {
          if (world.rank() == root) write_origin(op.input(), root, root, call);
          op.run();
          expect_origin(world.endpoint(), fmt::format("broadcast {} of {}", name_of(algorithm), n), op.output(), root,
                        root, call);
        }
      }
    }
  });
}

// Operations of one world share its counters: in any order, and with moves of tensors between them.
TEST_P(CollectiveExchange, OperationsAndMovesInTurns) {
  run_everywhere([](World& world) {
    const RankId me = world.rank(), root(world.ranks() - 1);
    const Layout rows = layout(fmt::format("i64[16,3] on (r={}) {{0: r}}", world.ranks()));
    const Layout copies = layout(fmt::format("i64[16,3] on (r={}) {{}}", world.ranks()));
    Tensor a = world.allocate(rows), b = world.allocate(copies);
    AllGather gather(world, 9, {.algorithm = Algorithm::eager});
    Broadcast broadcast(world, 100, root, {.algorithm = Algorithm::direct});
    Barrier barrier(world);
    for (Index call = 0; call < 5; ++call) {
      write_origin(gather.input(), me, me, call);
      gather.run();
      stamp(a, static_cast<std::uint64_t>(call + 1));
      if (me == root) write_origin(broadcast.input(), root, root, call);
      broadcast.run();
      redistribute(world, a, b);
      if (call == 2) barrier.run();
      broadcast.run();
      expect_stamped(b, static_cast<std::uint64_t>(call + 1));
      for (RankId from(0); from < RankId(world.ranks()); ++from)
        expect_origin(world.endpoint(), "all_gather", part_of(gather.output(), from.value() * 9, from.value() * 9 + 9),
                      from, from, call);
      expect_origin(world.endpoint(), "broadcast", broadcast.output(), root, root, call);
    }
  });
}

TEST_P(CollectiveExchange, BetweenWindowsOfTheCaller) {
  run_worlds([](World& world) {
    const Index n = 100, ranks = world.ranks();
    Tensor x = world.allocate(layout(fmt::format("u8[{0},{1}] on (r={0}) {{0: r}}", ranks, n * ranks)));
    Tensor y = world.allocate(layout(fmt::format("u8[{0},{1}] on (r={0}) {{0: r}}", ranks, n * ranks + 1)));
    for (const Algorithm algorithm : kAlgorithms) {
      AllToAll op(world, n, {.input = x.window(), .output = y.window(), .algorithm = algorithm});
      if (op.input().data() != x.bytes().data() || op.output().data() != y.bytes().data())
        report(world.endpoint(), "not the caller's memory");
      for (Index call = 0; call < kCalls; ++call) {
        for (RankId to(0); to < RankId(ranks); ++to)
          write_origin(part_of(x.bytes(), to.value() * n, (to.value() + 1) * n), world.rank(), to, call);
        op.run();
        for (RankId from(0); from < RankId(ranks); ++from)
          expect_origin(world.endpoint(), "all_to_all", part_of(y.bytes(), from.value() * n, (from.value() + 1) * n),
                        from, world.rank(), call);
      }
    }
  });
}

}  // namespace
}  // namespace reshard::multi
