// The programs of all algorithms: proven under any interleaving for few ranks, simulated with late puts for more.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <numeric>

#include "collective/jobs.h"
#include "collective/schedule.h"
#include "reshard/check.h"
#include "reshard/simulate.h"

namespace reshard {
namespace {

using collective::Flow;
using collective::Job;
using collective::Schedule;

constexpr Algorithm kAll[] = {Algorithm::eager, Algorithm::direct, Algorithm::two_level};

struct Case {
  std::string name;
  Job job;
  Algorithm algorithm;
};

// What stands at `offset` of the input of `rank` as the call begins.
Term input_of(RankId rank, Index offset, Dtype dtype) {
  return {.kind = Term::Kind::input, .rank = rank, .window = collective::kInput, .offset = offset, .dtype = dtype};
}

void expect_flow(RankId from, RankId to, const Flow& flow, std::vector<Expectation>& expect) {
  for (Index i = 0; i < flow.bytes; ++i)
    expect.push_back({.rank = to,
                      .window = collective::kOutput,
                      .offset = flow.target_offset + i,
                      .dtype = Dtype::u8,
                      .value = input_of(from, flow.source_offset + i, Dtype::u8)});
}

void expect_folded(const Job& job, RankId rank, std::vector<Expectation>& expect) {
  const Index element = bytes_of(job.folding->dtype);
  const Index begin = job.folding->everywhere ? 0 : job.part_begin(rank);
  const Index count = job.output_bytes[static_cast<std::size_t>(rank.value())] / element;
  for (Index i = 0; i < count; ++i) {
    Term sum{.kind = Term::Kind::fold, .dtype = job.folding->dtype, .op = job.folding->op};
    for (RankId from(0); from < RankId(job.ranks); ++from)
      sum.terms.push_back(input_of(from, (begin + i) * element, job.folding->dtype));
    expect.push_back({.rank = rank,
                      .window = collective::kOutput,
                      .offset = i * element,
                      .dtype = job.folding->dtype,
                      .value = sum});
  }
}

std::vector<Expectation> expected_of(const Job& job) {
  std::vector<Expectation> expect;
  for (RankId to(0); to < RankId(job.ranks); ++to) {
    if (job.folding) expect_folded(job, to, expect);
    for (RankId from(0); job.flow && from < RankId(job.ranks); ++from)
      expect_flow(from, to, job.flow(from, to), expect);
  }
  return expect;
}

// Callers fill the input before each run, and read the output after it.
std::vector<Program> owned_by_callers(std::vector<Program> programs) {
  for (Program& program : programs) {
    program.windows[collective::kInput].role = BufferRole::input;
    program.windows[collective::kOutput].role = BufferRole::output;
  }
  return programs;
}

// `hosts` of as equal a number of ranks as can be; 0: one whose ranks do not read each other's memory.
std::vector<Case> cases_of(Index ranks, Index hosts) {
  std::vector<Index> lengths, parts, rows;
  for (Index i = 0; i < ranks * ranks; ++i) lengths.push_back(i * 7 % 3);  // some 0
  for (Index i = 0; i < ranks; ++i) parts.push_back((i + 1) % 3), rows.push_back(i % 2 == 0 ? 2 : i % 3);
  const std::pair<const char*, Job> jobs[] = {
      {"all_to_all", collective::all_to_all_job(ranks, 2)},
      {"all_to_all_v", collective::all_to_all_v_job(ranks, lengths)},
      {"all_gather", collective::all_gather_job(rows)},
      {"broadcast", collective::broadcast_job(ranks, 3, RankId(ranks - 1))},
      {"reduce_scatter", collective::reduce_scatter_job(ranks, parts, Dtype::i32, ReduceOp::sum)},
      {"all_reduce", collective::all_reduce_job(ranks, 16 * (ranks - 1) + 1, Dtype::i32, ReduceOp::max)},
      {"nothing", collective::all_reduce_job(ranks, 0, Dtype::i32, ReduceOp::max)},
  };
  std::vector<Case> cases;
  for (auto [name, job] : jobs) {
    job.pulls = hosts > 0;
    for (Index rank = 0; rank < ranks; ++rank)
      job.host_of[static_cast<std::size_t>(rank)] = hosts > 0 ? rank * hosts / ranks : 0;
    for (const Algorithm algorithm : kAll)
      if (can_do(job, algorithm))
        cases.push_back(
            {fmt::format("{} {}, {} ranks, {} hosts", name, name_of(algorithm), ranks, hosts), job, algorithm});
  }
  return cases;
}

TEST(CollectiveProof, NoInterleavingOfFewRanksGoesWrong) {
  for (const auto& [ranks, hosts] : {std::pair<Index, Index>{1, 1}, {2, 1}, {2, 2}, {2, 0}, {3, 1}, {3, 2}, {3, 3}}) {
    for (const Case& c : cases_of(ranks, hosts)) {
      const std::vector<Program> programs = owned_by_callers(schedule_of(c.job, c.algorithm).programs);
      CheckInput input;
      for (std::size_t call = 0; call < 3; ++call) input.calls.push_back(programs[call % programs.size()]);
      input.expect.assign(input.calls.size(), expected_of(c.job));
      const CheckReport report = check(input, {.max_states = 200'000});
      EXPECT_TRUE(report.passed) << c.name << "\n" << report.text();
      EXPECT_FALSE(ranks < 3 && report.bounded) << c.name << ": " << report.states << " states";
    }
  }
}

TEST(CollectiveProof, NoScheduleOfManyRanksGoesWrong) {
  for (const auto& [ranks, hosts] : {std::pair<Index, Index>{4, 1}, {4, 2}, {6, 3}, {7, 2}, {8, 1}, {8, 3}, {5, 0}}) {
    for (const Case& c : cases_of(ranks, hosts)) {
      SimulateInput input{.programs = owned_by_callers(schedule_of(c.job, c.algorithm).programs)};
      input.expect.assign(input.programs.size(), expected_of(c.job));
      SimulateOptions options{.devices = std::vector<Index>(static_cast<std::size_t>(ranks)), .calls = 4};
      std::iota(options.devices.begin(), options.devices.end(), 0);
      for (options.seed = 0; options.seed < 6; ++options.seed) {
        options.slow =
            options.seed % 2 == 0 ? std::optional(RankId(static_cast<Index>(options.seed) % ranks)) : std::nullopt;
        const SimulateReport report = simulate(input, options);
        EXPECT_TRUE(report.correct) << c.name << ", seed " << options.seed << ": " << report.message;
      }
    }
  }
}

// The proofs can fail: a mailbox of one half is written while it is read, and a round left out reads what is not there.
TEST(CollectiveProof, FindsWhatIsWrong) {
  const Job job = collective::all_to_all_job(2, 2);
  const std::vector<Program> eager = owned_by_callers(schedule_of(job, Algorithm::eager).programs);
  const std::vector<Expectation> expect = expected_of(job);
  EXPECT_EQ(check(CheckInput{{eager[0], eager[0], eager[0]}, {expect, expect, expect}}).fault, CheckFault::race);
  std::vector<Program> direct = owned_by_callers(schedule_of(job, Algorithm::direct).programs);
  std::erase_if(direct[0].operations[1], [](const Operation& op) { return op.code == OpCode::wait && op.value == 2; });
  EXPECT_EQ(check(CheckInput{{direct[0], direct[0]}, {expect, expect}}).fault, CheckFault::race);
}

}  // namespace
}  // namespace reshard
