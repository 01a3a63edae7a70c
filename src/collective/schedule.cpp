#include "collective/schedule.h"

#include "collective/write.h"

namespace reshard::collective {
namespace {

// Calls f with the algorithm's type.
template <class F>
auto with_algorithm(Algorithm algorithm, F f) {
  switch (algorithm) {
    case Algorithm::eager: return f(Eager{});
    case Algorithm::two_level: return f(TwoLevel{});
    case Algorithm::direct: break;
  }
  return f(Direct{});
}

Program without_operations(const Job& job, Algorithm algorithm) {
  const Dtype dtype = job.folding ? job.folding->dtype : Dtype::u8;
  WindowSpec mailbox{.name = "mailbox", .bytes = {}, .dtype = dtype};
  WindowSpec staging{.name = "staging", .bytes = {}, .role = BufferRole::local, .dtype = dtype};
  for (RankId rank(0); rank < RankId(job.ranks); ++rank) {
    mailbox.bytes.push_back(mailbox_bytes(job, algorithm, rank));
    staging.bytes.push_back(staging_bytes(job, algorithm, rank));
  }
  return {.name = std::string(name_of(job.kind)) + " " + std::string(name_of(algorithm)),
          .ranks = job.ranks,
          .windows = {{.name = "input", .bytes = job.input_bytes, .dtype = dtype},
                      {.name = "output", .bytes = job.output_bytes, .dtype = dtype},
                      std::move(mailbox),
                      std::move(staging)},
          .signals = {{.name = "turns", .slots = job.ranks, .is_by_rank = true}},
          .operations = std::vector<std::vector<Operation>>(static_cast<std::size_t>(job.ranks))};
}

}  // namespace

bool can_do(const Job& job, Algorithm algorithm) { return algorithm != Algorithm::two_level || TwoLevel::can_do(job); }

Index rounds_of(const Job& job, Algorithm algorithm) {
  return with_algorithm(algorithm, [&]<class A>(A) { return A::rounds(job); });
}

Index mailbox_bytes(const Job& job, Algorithm algorithm, RankId rank) {
  return with_algorithm(algorithm, [&]<class A>(A) { return A::mailbox(job, rank); });
}

Index staging_bytes(const Job& job, Algorithm algorithm, RankId rank) {
  return with_algorithm(algorithm, [&]<class A>(A) { return A::staging(job, rank); });
}

Schedule schedule_of(const Job& job, Algorithm algorithm, std::optional<RankId> only) {
  Schedule schedule{.programs = {}, .rounds = rounds_of(job, algorithm)};
  const Program empty = without_operations(job, algorithm);
  for (Index half = 0; half < (algorithm == Algorithm::eager ? 2 : 1); ++half) {
    Program& program = schedule.programs.emplace_back(empty);
    for (RankId rank(0); rank < RankId(job.ranks); ++rank) {
      if (only && rank != *only) continue;
      Draft draft(program.operations[static_cast<std::size_t>(rank.value())], rank, schedule.rounds);
      with_algorithm(algorithm, [&]<class A>(A) { A::write(job, rank, half, draft); });
    }
  }
  return schedule;
}

}  // namespace reshard::collective
