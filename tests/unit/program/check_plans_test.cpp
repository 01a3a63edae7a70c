// Programs of plans under any interleaving: redistributions, multicasts and batches, three runs one after the other.
#include <gmock/gmock.h>

#include "property/batch_contents.h"
#include "property/random_batch.h"
#include "reshard/batch_program.h"
#include "reshard/check.h"
#include "reshard/multicast_program.h"

namespace reshard {
namespace {

constexpr Index kCalls = 3;

// Windows that callers fill before each run and read after it, and nobody else's.
void make_caller_owned(Program& program, std::size_t source, std::size_t target) {
  program.windows[source].role = BufferRole::input;
  program.windows[target].role = BufferRole::output;
}

Program program_of(const Plan& plan, Index ranks, const RankHosts& hosts = {}) {
  Program program = redistribute_program(plan, ranks, hosts);
  make_caller_owned(program, 0, 1);
  return program;
}

// Unknown, all on one host, each on a host of its own, two hosts side by side, two hosts in turns.
std::vector<std::pair<std::string, RankHosts>> all_hosts(Index ranks) {
  std::vector<Index> one, own, halves, turns;
  for (Index r = 0; r < ranks; ++r) {
    one.push_back(0);
    own.push_back(r);
    halves.push_back(2 * r / ranks);
    turns.push_back(r % 2);
  }
  return {{"nothing is known", RankHosts()},
          {"one host", RankHosts(one)},
          {"own hosts", RankHosts(own)},
          {"two hosts", RankHosts(halves)},
          {"two hosts in turns", RankHosts(turns)}};
}

// Each element of the target holds the one of the source that has its index; every index has one holder.
std::vector<Expectation> moved(const Layout& source, const Layout& target, Index ranks) {
  Contents contents;
  std::map<Index, std::pair<Index, Index>> holders;
  for (Index r = 0; r < ranks; ++r) {
    const std::vector<Index>& held = contents.of(source, r);
    for (std::size_t i = 0; i < held.size(); ++i)
      if (held[i] != oracle::hole) holders[held[i]] = {r, static_cast<Index>(i) * bytes_of(source.dtype())};
  }
  std::vector<Expectation> expect;
  for (Index r = 0; r < ranks; ++r) {
    const std::vector<Index>& held = contents.of(target, r);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] == oracle::hole) continue;
      const auto& [rank, offset] = holders.at(held[i]);
      expect.push_back({.rank = RankId(r),
                        .window = 1,
                        .offset = static_cast<Index>(i) * bytes_of(target.dtype()),
                        .dtype = target.dtype(),
                        .value = {.kind = Term::Kind::input, .rank = RankId(rank), .window = 0, .offset = offset}});
    }
  }
  return expect;
}

CheckInput runs_of(const Program& program, const std::vector<Expectation>& expect = {}) {
  CheckInput input;
  input.calls.assign(kCalls, program);
  if (!expect.empty()) input.expect.assign(kCalls, expect);
  return input;
}

TEST(CheckPlans, RedistributionsMoveEveryElement) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"f32[8,8] on (r=2) {0: r}", "f32[8,8] on (r=2) {1: r}"},
      {"f32[8,8] on (r=4) {0: r}", "f32[8,8] on (y=2, x=2) {0: y, 1: x}"},
      {"f32[7,5] on (x=3) {0: x}", "f32[7,5] on (x=3)@2 {1: x} order(1,0)"},
      {"u8[16] on (x=2)@[5,2] {0: x}", "u8[16] on (x=5) {0: x:cyclic(3)}"},
      {"i64[5] on (a=2, b=2) {0: a b}", "i64[5] on (a=2, b=2) {}"},
  };
  for (const auto& [source, target] : pairs) {
    const Layout from = layout(source), to = layout(target);
    const Index ranks = std::max(from.mesh().end_rank().value(), to.mesh().end_rank().value());
    for (const auto& [name, hosts] : all_hosts(ranks)) {
      const CheckReport report = check(runs_of(program_of(plan(from, to), ranks, hosts), moved(from, to, ranks)));
      EXPECT_TRUE(report.passed && !report.bounded) << source << " to " << target << ", " << name << "\n"
                                                    << report.text();
    }
  }
}

// What crosses hosts is put: without the fence before "done", or the wait for "ready", that is found.
TEST(CheckPlans, APutThatIsNotFencedOrNotExpectedIsFound) {
  const Layout from = layout("f32[8,8] on (r=4) {0: r}"), to = layout("f32[8,8] on (y=2, x=2) {0: y, 1: x}");
  const Program program = program_of(plan(from, to), 4, RankHosts({0, 1, 2, 3}));
  const std::vector<Expectation> expect = moved(from, to, 4);
  for (const OpCode missing : {OpCode::fence, OpCode::wait}) {
    Program broken = program;
    const auto found = std::ranges::find(broken.operations[1], missing, &Operation::code);
    ASSERT_NE(found, broken.operations[1].end());
    broken.operations[1].erase(found);
    EXPECT_FALSE(check(runs_of(broken, expect)).passed);
  }
}

TEST(CheckPlans, AWrongElementAndAMissingWaitAreFound) {
  const Layout from = layout("f32[8,8] on (r=4) {0: r}"), to = layout("f32[8,8] on (y=2, x=2) {0: y, 1: x}");
  const Program program = program_of(plan(from, to), 4);
  const std::vector<Expectation> expect = moved(from, to, 4);
  Program shifted = program;
  shifted.operations[0][1].blocks[0].source_offset += 4;
  EXPECT_EQ(check(runs_of(shifted, expect)).fault, CheckFault::wrong_value);
  Program early = program;
  std::erase_if(early.operations[2], [](const Operation& op) { return op.code == OpCode::wait && op.signal == 0; });
  const CheckReport report = check(runs_of(early, expect));
  EXPECT_EQ(report.fault, CheckFault::race);
  // Operations of plans have no text of their own.
  EXPECT_THAT(report.message, testing::HasSubstr("`get target["));
}

TEST(CheckPlans, Multicasts) {
  const Topology topology({.ranks = 5, .levels = {{.name = "rank", .link = {1e-6, 1e9}}}});
  const Plan moved_plan = plan(layout("u8[8] on (r=2) {0: r}"), layout("u8[8] on (r=4)@1 {}"));
  for (const Scheme scheme : all_schemes())
    for (const auto& [where, hosts] : all_hosts(5)) {
      Program program = multicast_program(multicast(moved_plan, topology, scheme, {.chunks = 3}), 5, hosts);
      make_caller_owned(program, 0, 1);
      std::vector<Expectation> expect;
      for (Index r = 1; r < 5; ++r)
        for (Index i = 0; i < 8; ++i)
          expect.push_back({.rank = RankId(r),
                            .window = 1,
                            .offset = i,
                            .dtype = Dtype::u8,
                            .value = {.kind = Term::Kind::input, .rank = RankId(i / 4), .window = 0, .offset = i % 4}});
      const CheckReport report = check(runs_of(program, expect));
      EXPECT_TRUE(report.passed && !report.bounded) << name_of(scheme) << ", " << where << "\n" << report.text();
    }
}

TEST(CheckPlans, RandomBatches) {
  Random random(seed_from_environment());
  Index checked = 0;
  while (checked < 20) {
    const Batch batch = random_batch(random, 4);
    const Index ranks = world_of(batch);
    if (ranks < 2 || ranks > 6) continue;
    ++checked;
    BatchOptions options;
    options.pack_below = random.one_in(2) ? 1 << 20 : 64;
    const BatchPlan plan(batch, options);
    for (const auto& [where, hosts] : all_hosts(ranks)) {
      Program program = batch_program(plan, RankId(0), ranks, hosts);
      for (Index r = 1; r < ranks; ++r)
        program.operations[static_cast<std::size_t>(r)] =
            batch_program(plan, RankId(r), ranks, hosts).operations[static_cast<std::size_t>(r)];
      for (std::size_t k = 0; k < plan.tensors().size(); ++k) make_caller_owned(program, 2 * k, 2 * k + 1);
      const CheckReport report = check(runs_of(program));
      EXPECT_TRUE(report.passed && !report.bounded) << "batch " << checked << ", " << where << "\n" << report.text();
    }
  }
}

}  // namespace
}  // namespace reshard
