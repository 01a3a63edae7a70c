// Builtins and what is written by hand give the same, on threads and processes.
#include "program/slow_endpoint.h"
#include "twins/expect_twins.h"

namespace reshard::multi {
namespace {

class ProgramTwins : public EveryWorld {};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
RESHARD_ON_EVERY_FABRIC(ProgramTwins, {1, 2, 3, 4});  // each rank reads every text: seven take minutes
#else
RESHARD_ON_EVERY_FABRIC(ProgramTwins, {1, 2, 3, 4, 7, 8});
#endif

TEST_P(ProgramTwins, HandAndBuiltinGiveTheSame) {
  run_worlds([this](World& world) {
    for (const TwinPair& pair : twin_pairs()) {
      if (world.ranks() < least_ranks(pair)) continue;
      if (is_of_ladder(pair) && traits().is_threads) continue;  // they run in a test of their own
      for (const Index n : {3, 5}) expect_twins(world, pair, sizes_of(pair, n), sizes_of(pair, n));
    }
  });
}

TEST_P(ProgramTwins, OneRankIsSlow) {
  const RankId slow(ranks() / 2);
  run([slow](Endpoint& inner) {
    SlowEndpoint hindered(inner, 30);
    World world(inner.rank() == slow ? static_cast<Endpoint&>(hindered) : inner, {.timeout = 120s});
    for (const TwinPair& pair : twin_pairs())
      if (world.ranks() >= least_ranks(pair) && !is_of_ladder(pair))
        expect_twins(world, pair, sizes_of(pair, 3), sizes_of(pair, 3));
  });
}

TwinPair indexed_pair(std::string_view protocol, std::string_view dtype) {
  const auto file = [&](const std::string& name) {
    return TwinFile{name + " of " + std::string(dtype), twin_program_with(name, ": f32", ": " + std::string(dtype))};
  };
  return {file("indexed_patterns.hand.rp"), file("indexed_patterns." + std::string(protocol) + ".rp")};
}

// Fewer workers than ranks, as many, and more of them: some have nothing to do.
TEST_P(ProgramTwins, IndexedRowsInEveryPattern) {
  run_worlds([](World& world) {
    const TwinPair pair = indexed_pair(world.ranks() % 2 == 0 ? "epoch" : "credits-2", "f32");
    for (const Index pattern : {0, 1, 2, 3, 4})
      for (const Index workers : {Index{1}, world.ranks(), world.ranks() + 2}) {
        const Sizes sizes{{"pattern", pattern}, {"order", (pattern + workers) % 4}, {"workers", workers}};
        expect_twins(world, pair, sizes, sizes, 2);
      }
  });
}

TEST_P(ProgramTwins, IndexedRowsOfEveryDtype) {
  if (ranks() > 4) return;
  run_worlds([](World& world) {
    for (const Dtype dtype :
         {Dtype::boolean, Dtype::u8, Dtype::i8, Dtype::u16, Dtype::i16, Dtype::u32, Dtype::i32, Dtype::u64, Dtype::i64,
          Dtype::f8e4m3, Dtype::f8e5m2, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::complex64, Dtype::complex128}) {
      const Sizes sizes{{"order", static_cast<Index>(dtype) % 4}, {"canary", dtype == Dtype::boolean ? 1 : 48}};
      expect_twins(world, indexed_pair("epoch", name_of(dtype)), sizes, sizes, 2);
    }
  });
}

}  // namespace
}  // namespace reshard::multi
