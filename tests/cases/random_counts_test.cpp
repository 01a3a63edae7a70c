// H8: all_to_all_v with random counts, round after round. RESHARD_ROUNDS and RESHARD_SEED set how long and which.
#include <gtest/gtest.h>

#include "cases/program_cases.h"
#include "property/random.h"
#include "reshard/error.h"

namespace reshard {
namespace {

constexpr Index kMost = 64;

constexpr std::string_view kSoak = R"(
program soak
size m = 64
input x : i64[P * m, 1]
input counts : i64[P]
output received : i64[P]
window target : i64[P * m, 1]
window send_counts : i64[P]
signal met[P] : PROTOCOL

copy send_counts <- counts
all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, signal = met)
)";

// One round as every rank knows it, without having been told.
struct SoakRound {
  unsigned seed;
  Index number;
  Index count(Index source, Index target) const {
    Random random(seed + static_cast<unsigned>(number * 1000 + source * 31 + target));
    return random.one_in(4) ? 0 : random.between(0, kMost);
  }
  Index value(Index source, Index target, Index row) const {
    return number * 1'000'000 + source * 100'000 + target * 10'000 + row;
  }
};

std::string place(const SoakRound& round, Index rank) {
  return "RESHARD_SEED=" + std::to_string(round.seed) + ", round " + std::to_string(round.number) + ", rank " +
         std::to_string(rank) + ": ";
}

void give(ProgramRun& run, const SoakRound& round, Index me, Index ranks) {
  const auto x = run.span<Index>("x"), counts = run.span<Index>("counts");
  for (Index d = 0; d < ranks; ++d) {
    const Index count = counts[static_cast<std::size_t>(d)] = round.count(me, d);
    for (Index k = 0; k < count; ++k) x[static_cast<std::size_t>(d * kMost + k)] = round.value(me, d, k);
  }
}

void expect_come(ProgramRun& run, const SoakRound& round, Index me, Index ranks) {
  const auto target = run.span<Index>("target"), received = run.span<Index>("received");
  for (Index s = 0; s < ranks; ++s) {
    const Index count = round.count(s, me);
    if (received[static_cast<std::size_t>(s)] != count)
      throw std::logic_error(place(round, me) + "wrong count from rank " + std::to_string(s));
    for (Index k = 0; k < count; ++k)
      if (target[static_cast<std::size_t>(s * kMost + k)] != round.value(s, me, k))
        throw std::logic_error(place(round, me) + "wrong row from rank " + std::to_string(s));
  }
}

void soak(World& world, const SymbolicProgram& program, unsigned seed, Index rounds) {
  ProgramRun run(world, program);
  const Index me = world.rank().value(), ranks = world.ranks();
  for (SoakRound round{seed, 1}; round.number <= rounds; ++round.number) {
    give(run, round, me, ranks);
    try {
      run.call();
    } catch (const Error& error) {
      throw Error(error.code(), place(round, me) + error.what());
    }
    expect_come(run, round, me, ranks);
  }
}

class RandomCounts : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(CaseH, RandomCounts, ::testing::Values("epoch", "credits-2"),
                         [](const auto& test) { return test.param == "epoch" ? "epoch" : "credits"; });

TEST_P(RandomCounts, H8_NoHangAndNoWrongRow) {
  const SymbolicProgram program = parse_program(with(std::string(kSoak), "PROTOCOL", GetParam()));
  const unsigned seed = seed_from_environment();
  const Index rounds = rounds_or(4000);
  for (const Index ranks : {4, 7}) {
    const WorldOptions options{.timeout = std::chrono::seconds(60)};
    thread_ranks(
        ranks, [&](World& world) { soak(world, program, seed, rounds); }, options);
    process_ranks(
        ranks, [&](World& world) { soak(world, program, seed, rounds / 4); }, options);
  }
}

// Under schedules, with fewer and smaller rows.
TEST_P(RandomCounts, H8_NoHangAndNoWrongRowUnderSchedules) {
  std::string text = with(std::string(kSoak), "PROTOCOL", GetParam());
  text = with(text, "output received", "output y : i64[P * m, 1]\noutput received");
  text = with(text, "\ncopy send_counts",
              "init counts[d] = (me * 7919 + d * 104729 + call * call * 31) % (m + 1)\n"
              "init x[r, j] = call * 1000000 + me * 10000 + r\n"
              "expect y[r, j] = x@(r / m)[me * m + r % m, j] if r % m < counts@(r / m)[me]\n"
              "expect received[s] = counts@s[me]\n\ncopy send_counts");
  text += "for s in 0..P {\n  copy y[s * m..s * m + received[s]] <- target[s * m..s * m + received[s]]\n}\n";
  const unsigned seed = seed_from_environment();
  for (const Index ranks : {4, 7}) {
    SimulateOptions options{.sizes = {{"m", 5}}, .calls = rounds_or(200), .seed = seed};
    options.devices.clear();
    for (Index r = 0; r < ranks; ++r) options.devices.push_back(r);
    const SimulateReport report = simulate(parse_program(text), options);
    EXPECT_TRUE(report.correct) << ranks << " ranks: " << report.message;
  }
}

}  // namespace
}  // namespace reshard
