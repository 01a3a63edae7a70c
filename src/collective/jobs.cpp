#include "collective/jobs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "base/reducible.h"

namespace reshard::collective {
namespace {

constexpr const char* kBytes = "bytes of a collective operation";
constexpr Index kLine = 64;

void check_length(Index length, const char* of) {
  if (length < 0) fail(Code::invalid_argument, "{} {} are less than none", length, of);
}

std::vector<Index> on_each_rank(Index ranks, Index value) {
  return std::vector<Index>(static_cast<std::size_t>(ranks), value);
}

Job job_of(CollectiveKind kind, Index ranks) {
  Job job;
  job.kind = kind;
  job.ranks = ranks;
  job.host_of = on_each_rank(ranks, 0);
  return job;
}

Folding folding_of(Dtype dtype, ReduceOp op, std::vector<Index> parts, bool everywhere) {
  if (!is_reducible(dtype, op))
    fail(Code::invalid_argument, "{} cannot be reduced by {}", reshard::name_of(dtype), reshard::name_of(op));
  return {.dtype = dtype, .op = op, .parts = std::move(parts), .everywhere = everywhere};
}

std::vector<Index> parts_in_lines(Index elements, Index ranks, Index element_bytes) {
  const Index line = kLine / element_bytes;
  const Index most = ceil_div(ceil_div(elements, ranks), line) * line;
  std::vector<Index> parts;
  for (Index rank = 0; rank < ranks; ++rank) {
    parts.push_back(std::min(most, elements));
    elements -= parts.back();
  }
  return parts;
}

// Rows of any length, one after the other at both ends.
struct Rows {
  Index ranks;
  std::vector<Index> lengths, sources, targets = {};  // [from, to]: bytes, and where they begin at both ends

  std::size_t at(Index from, Index to) const { return static_cast<std::size_t>(from * ranks + to); }
  Flow flow(RankId from, RankId to) const {
    const std::size_t i = at(from.value(), to.value());
    return {sources[i], targets[i], lengths[i]};
  }
};

}  // namespace

std::vector<Index> offsets_of(std::span<const Index> lengths) {
  std::vector<Index> offsets{0};
  for (const Index length : lengths) offsets.push_back(checked_add(offsets.back(), length, kBytes));
  return offsets;
}

Job all_to_all_job(Index ranks, Index n) {
  check_length(n, "bytes");
  Job job = job_of(CollectiveKind::all_to_all, ranks);
  job.input_bytes = job.output_bytes = on_each_rank(ranks, checked_mul(n, ranks, kBytes));
  job.flow = [n](RankId from, RankId to) { return Flow{to.value() * n, from.value() * n, n}; };
  return job;
}

Job all_to_all_v_job(Index ranks, std::vector<Index> lengths) {
  for (const Index length : lengths) check_length(length, "bytes");
  const auto rows = std::make_shared<Rows>(Rows{ranks, lengths, lengths});
  rows->targets = lengths;
  Job job = job_of(CollectiveKind::all_to_all, ranks);
  for (Index rank = 0; rank < ranks; ++rank) {
    Index sent = 0, received = 0;
    for (Index peer = 0; peer < ranks; ++peer) {
      const std::size_t out = rows->at(rank, peer), in = rows->at(peer, rank);
      rows->sources[out] = std::exchange(sent, checked_add(sent, lengths[out], kBytes));
      rows->targets[in] = std::exchange(received, checked_add(received, lengths[in], kBytes));
    }
    job.input_bytes.push_back(sent);
    job.output_bytes.push_back(received);
  }
  job.flow = [rows](RankId from, RankId to) { return rows->flow(from, to); };
  return job;
}

Job all_gather_job(std::span<const Index> lengths) {
  for (const Index length : lengths) check_length(length, "bytes");
  const auto ranks = static_cast<Index>(lengths.size());
  const auto offsets = std::make_shared<const std::vector<Index>>(offsets_of(lengths));
  Job job = job_of(CollectiveKind::all_gather, ranks);
  job.input_bytes.assign(lengths.begin(), lengths.end());
  job.output_bytes = on_each_rank(ranks, offsets->back());
  job.flow = [offsets](RankId from, RankId) {
    const auto row = static_cast<std::size_t>(from.value());
    return Flow{0, (*offsets)[row], (*offsets)[row + 1] - (*offsets)[row]};
  };
  return job;
}

Job broadcast_job(Index ranks, Index n, RankId root) {
  check_length(n, "bytes");
  if (root < RankId(0) || root >= RankId(ranks))
    fail(Code::invalid_argument, "root {} is none of {} ranks", root.value(), ranks);
  Job job = job_of(CollectiveKind::broadcast, ranks);
  job.input_bytes = job.output_bytes = on_each_rank(ranks, n);
  job.flow = [n, root](RankId from, RankId) { return from == root ? Flow{0, 0, n} : Flow{}; };
  return job;
}

Job reduce_scatter_job(Index ranks, std::vector<Index> parts, Dtype dtype, ReduceOp op) {
  for (const Index part : parts) check_length(part, "elements");
  if (static_cast<Index>(parts.size()) != ranks)
    fail(Code::invalid_argument, "{} parts for {} ranks; give one to each", parts.size(), ranks);
  Job job = job_of(CollectiveKind::reduce_scatter, ranks);
  for (const Index part : parts) job.output_bytes.push_back(checked_mul(part, bytes_of(dtype), kBytes));
  job.input_bytes = on_each_rank(ranks, offsets_of(job.output_bytes).back());
  job.folding = folding_of(dtype, op, std::move(parts), false);
  return job;
}

Job all_reduce_job(Index ranks, Index elements, Dtype dtype, ReduceOp op) {
  check_length(elements, "elements");
  Job job = job_of(CollectiveKind::all_reduce, ranks);
  job.input_bytes = job.output_bytes = on_each_rank(ranks, checked_mul(elements, bytes_of(dtype), kBytes));
  job.folding = folding_of(dtype, op, parts_in_lines(elements, ranks, bytes_of(dtype)), true);
  return job;
}

}  // namespace reshard::collective
