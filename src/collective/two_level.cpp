#include "collective/two_level.h"

#include "collective/write.h"

namespace reshard::collective {
namespace {

bool is_integer(Dtype dtype) { return dtype < Dtype::f8e4m3; }

// Calls f with the part that does the job, for `rank`.
template <class F>
auto with_part(const Job& job, RankId rank, F f) {
  switch (job.kind) {
    case CollectiveKind::all_to_all: return f(RowsInBundles(job, rank));
    case CollectiveKind::reduce_scatter: return f(ReduceScatterByHost(job, rank));
    case CollectiveKind::all_reduce: return f(AllReduceByHost(job, rank));
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast: break;
  }
  return f(RowsForAll(job, rank));
}

}  // namespace

// Sums of integers would overflow between the hosts, where one fold of all terms does not.
bool TwoLevel::can_do(const Job& job) {
  return !job.folding || job.folding->op != ReduceOp::avg || !is_integer(job.folding->dtype);
}

Index TwoLevel::rounds(const Job& job) {
  return with_part(job, RankId(0), []<class Part>(const Part&) { return Part::kRounds; });
}

Index TwoLevel::mailbox(const Job& job, RankId rank) {
  return with_part(job, rank, [](const auto& part) { return part.mailbox(); });
}

Index TwoLevel::staging(const Job& job, RankId rank) {
  return with_part(job, rank, [](const auto& part) { return part.staging(); });
}

void TwoLevel::write(const Job& job, RankId me, Index, Draft& draft) {
  with_part(job, me, [&](const auto& part) { part.write(draft); });
}

}  // namespace reshard::collective
