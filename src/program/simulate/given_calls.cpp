#include "base/fail.h"
#include "program/simulate/calls.h"

namespace reshard::simulation {
namespace {

class GivenCalls final : public Calls {
 public:
  GivenCalls(const SimulateInput& input, Index ranks) : initial_(input.initial) {
    for (const Program& program : input.programs) programs_.push_back(std::make_shared<const Program>(program));
    for (std::size_t number = 0; number < programs_.size(); ++number) {
      std::vector<Expectation> expect = input.expect.empty() ? std::vector<Expectation>{} : input.expect.at(number);
      expected_.push_back(std::make_shared<const ExpectationsOfRank>(by_rank(std::move(expect), ranks)));
    }
  }

  CallProgram program(Index call) override { return {programs_[number(call)], static_cast<std::uint64_t>(call - 1)}; }
  std::shared_ptr<const ExpectationsOfRank> expect(Index call) override { return expected_[number(call)]; }
  bool fill(Index call, RankId rank, int window, std::span<std::byte> bytes) override {
    return initial_ && initial_(call, rank, window, bytes);
  }
  void retire(Index) override {}

 private:
  std::size_t number(Index call) const { return static_cast<std::size_t>(call - 1) % programs_.size(); }
  std::function<bool(Index, RankId, int, std::span<std::byte>)> initial_;
  std::vector<std::shared_ptr<const Program>> programs_;
  std::vector<std::shared_ptr<const ExpectationsOfRank>> expected_;
};

void check_given(const SimulateInput& input, Index ranks) {
  if (input.programs.empty()) fail(Code::invalid_argument, "there is no program to simulate");
  if (!input.expect.empty() && input.expect.size() != input.programs.size())
    fail(Code::invalid_argument, "{} programs, but expectations of {}; give one list for each program, or none",
         input.programs.size(), input.expect.size());
  const Program& first = input.programs.front();
  for (const Program& program : input.programs) {
    if (program.ranks != ranks || static_cast<Index>(program.operations.size()) != ranks)
      fail(Code::invalid_argument, "program {} is for {} ranks, but {} devices are listed; list one for each rank",
           program.name, program.ranks, ranks);
    if (program.windows != first.windows || program.signals != first.signals)
      fail(Code::invalid_argument, "the calls of program {} differ in windows or signals; these outlive calls",
           program.name);
  }
}

}  // namespace

ExpectationsOfRank by_rank(std::vector<Expectation> expectations, Index ranks) {
  ExpectationsOfRank sorted(static_cast<std::size_t>(ranks));
  for (Expectation& expectation : expectations)
    sorted.at(static_cast<std::size_t>(expectation.rank.value())).push_back(std::move(expectation));
  return sorted;
}

std::unique_ptr<Calls> calls_of(const SimulateInput& input, Index ranks) {
  check_given(input, ranks);
  return std::make_unique<GivenCalls>(input, ranks);
}

}  // namespace reshard::simulation
