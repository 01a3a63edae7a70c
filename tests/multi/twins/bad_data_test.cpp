// Counts and indices that are wrong on one rank: all ranks are refused alike, nothing has moved, and the next call is
// right.
#include <algorithm>
#include <set>

#include "reshard/check.h"
#include "twins/expect_twins.h"
#include "twins/simulated.h"

namespace reshard::multi {
namespace {

struct BadDatum {
  std::string composite;
  Index in_index = 0;
  Index bad = 0;
  std::string text;  // what follows "from rank 1 to rank 0"
};

// m = 2 rows for each destination, 3 rows to choose from.
const std::vector<BadDatum>& bad_data() {
  static const std::vector<BadDatum> all{
      {"all_to_all_v", 0, -1, "is negative"},
      {"all_to_all_v", 0, 3, "exceeds capacity M = 2"},
      {"all_to_all_v", 0, Index{1} << 40, "exceeds capacity M = 2"},
      {"indexed_all_to_all_v", 0, -1, "is negative"},
      {"indexed_all_to_all_v", 0, 3, "exceeds capacity C = 2"},
      {"indexed_all_to_all_v", 1, 3, "is not below the 3 rows of input"},
      {"indexed_all_to_all_v", 1, -1, "is negative"},
      {"indexed_all_to_all_v", 1, 2147483647, "is not below the 3 rows of input"},
  };
  return all;
}

SymbolicProgram program_of(const BadDatum& datum) { return twin_program("bad_data." + datum.composite + ".rp"); }

// From rank `faulty` to the one after it.
Sizes sizes_for(const BadDatum& datum, Index ranks, Index faulty) {
  Sizes sizes{{"faulty", faulty}, {"to", (faulty + 1) % ranks}, {"bad", datum.bad}};
  if (datum.composite == "indexed_all_to_all_v") sizes["in_index"] = datum.in_index;
  return sizes;
}

std::string refusal(const BadDatum& datum, const Sizes& sizes) {
  return std::string("program bad_data: ") + (datum.in_index ? "index " : "count ") + std::to_string(datum.bad) +
         " from rank " + std::to_string(sizes.at("faulty")) + " to rank " + std::to_string(sizes.at("to")) + " " +
         datum.text;
}

class BadData : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(BadData, {2, 3, 4, 7});

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// The first call is good, the second bad; after it calls are counted anew.
void expect_refusals(World& world, const BadDatum& datum, const Sizes& sizes) {
  ProgramRun run(world, program_of(datum), sizes);
  for (int round = 0; round < 2; ++round) {
    expect_calls(run, 1);
    run.fill_inputs();
    world.barrier();  // nobody begins before all have looked
    const auto target = copy_of(run.bytes("target")), received = copy_of(run.bytes("received"));
    world.barrier();
    try {
      run.call();
      report(world.endpoint(), datum.composite + " was not refused");
    } catch (const Error& error) {
      if (error.what() != refusal(datum, sizes)) report(world.endpoint(), std::string("refused by: ") + error.what());
    }
    if (!std::ranges::equal(target, run.bytes("target"))) report(world.endpoint(), "target was written");
    if (!std::ranges::equal(received, run.bytes("received"))) report(world.endpoint(), "recv_counts were written");
  }
  expect_calls(run, 1);
}

TEST_P(BadData, AllRanksAreRefusedAlikeAndCallAgain) {
  run_worlds([](World& world) {
    for (Index faulty = 0; const BadDatum& datum : bad_data()) {
      expect_refusals(world, datum, sizes_for(datum, world.ranks(), faulty));
      faulty = (faulty + 1) % world.ranks();
    }
  });
}

class BadDataSimulated : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Ranks, BadDataSimulated, ::testing::Values(2, 3, 4, 7));

using Held = std::map<std::pair<Index, std::string>, std::vector<std::byte>>;

// The target is as the first call left it, and of the counts of this call there are none.
void expect_untouched(const Held& before, const std::pair<Index, std::string>& buffer,
                      std::span<const std::byte> bytes) {
  const auto is_poison = [&](std::byte b) { return b == bytes[0]; };
  const bool untouched =
      buffer.second == "target" ? std::ranges::equal(before.at(buffer), bytes) : std::ranges::all_of(bytes, is_poison);
  EXPECT_TRUE(untouched) << buffer.second << " of rank " << buffer.first;
}

void expect_refusals_simulated(const BadDatum& datum, SimulateOptions options) {
  const SymbolicProgram program = program_of(datum);
  const auto window_of = [&](std::string_view name) {
    return static_cast<int>(std::ranges::find(program.buffers, name, &BufferDeclaration::name) -
                            program.buffers.begin());
  };
  Held held;
  options.observe = [&](Index call, RankId rank, int window, std::span<const std::byte> bytes) {
    for (const std::string name : {"target", "received"}) {
      if (window != window_of(name)) continue;
      if (call == 1) held[{rank.value(), name}] = copy_of(bytes);
      if (call == 2) expect_untouched(held, {rank.value(), name}, bytes);
    }
  };
  const SimulateReport report = simulate(program, options);
  EXPECT_TRUE(report.finished) << report.message;
  EXPECT_EQ(report.wrong_elements, 0) << report.message;
  std::set<std::string> texts;
  for (const SimulatedRefusal& refused : report.refusals) {
    EXPECT_EQ(refused.call, 2);
    texts.insert(refused.text);
  }
  EXPECT_EQ(report.refusals.size(), options.devices.size());
  EXPECT_EQ(texts, std::set<std::string>{refusal(datum, options.sizes)});
}

TEST_P(BadDataSimulated, AllRanksAreRefusedAlike) {
  for (const BadDatum& datum : bad_data())
    for (std::uint64_t seed = 0; seed < (GetParam() > 4 ? 2u : 4u); ++seed) {
      SCOPED_TRACE(testing::Message() << datum.composite << " " << datum.bad << " " << datum.text << ", seed " << seed);
      const Index ranks = GetParam(), faulty = static_cast<Index>(seed / 2) % ranks;
      expect_refusals_simulated(datum, schedule_of(ranks, seed, sizes_for(datum, ranks, faulty)));
    }
}

// Under every interleaving.
TEST(BadDataChecked, RefusedAlikeIsNoFault) {
  for (const BadDatum& datum : bad_data())
    for (const Index ranks : {2, 3}) {
      Sizes sizes = sizes_for(datum, ranks, 1);
      sizes["n"] = 1;
      const CheckReport report = check(program_of(datum), {.ranks = ranks, .calls = 3, .sizes = sizes});
      EXPECT_TRUE(report.passed && !report.bounded) << datum.composite << " " << datum.bad << ": " << report.text();
    }
}

}  // namespace
}  // namespace reshard::multi
