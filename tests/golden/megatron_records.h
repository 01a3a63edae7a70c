// Megatron's records in few words, and plans of them in the notation of the golden tables.
#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reshard/megatron.h"

namespace reshard::megatron {

using Ranks = std::vector<Index>;
using Records = std::vector<Parameter>;

inline RankGroup group(const Ranks& ranks) {
  std::vector<RankId> list;
  for (const Index rank : ranks) list.push_back(RankId(rank));
  return RankGroup(std::move(list));
}

// A whole tensor on one rank.
inline Parameter whole(Index rank, std::vector<Index> shape, std::string name = "w") {
  Parameter parameter;
  parameter.name = parameter.resolved_name = std::move(name);
  parameter.owner = RankId(rank);
  parameter.shape = std::move(shape);
  return parameter;
}

struct TensorParallel {
  int dim = 0;
  Index stride = 1;
  std::vector<Index> sizes = {};
};

inline Parameter with_tp(Parameter parameter, const Ranks& ranks, TensorParallel how = {}) {
  parameter.is_tp = true;
  parameter.tp_group = group(ranks);
  parameter.partition_dim = how.dim;
  parameter.partition_stride = how.stride;
  parameter.partition_sizes = how.sizes;
  return parameter;
}

inline Parameter with_gtp(Parameter parameter, const Ranks& ranks, Index pad = 0) {
  parameter.is_gtp = true;
  parameter.gtp_group = group(ranks);
  parameter.gtp_pad = pad;
  return parameter;
}

inline Parameter with_dp(Parameter parameter, const Ranks& ranks) {
  parameter.dp_group = group(ranks);
  return parameter;
}

// One record per rank of a tensor parallel group.
inline Records tp_shards(const Ranks& ranks, const std::vector<Index>& stored, const TensorParallel& how = {}) {
  Records records;
  for (const Index rank : ranks) records.push_back(with_tp(whole(rank, stored), ranks, how));
  return records;
}

// TP groups [0,1], [2,3]; GTP groups [0,2], [1,3]: the seed's topology, from rank `first` on.
inline Records tp2_gtp2(const std::vector<Index>& stored, Index pad, const TensorParallel& how = {}, Index first = 0) {
  Records records;
  for (Index k = 0; k < 4; ++k) {
    const Index row = first + k / 2 * 2, column = first + k % 2;
    records.push_back(with_gtp(with_tp(whole(first + k, stored), {row, row + 1}, how), {column, column + 2}, pad));
  }
  return records;
}

inline Rosters rosters(Records sources, Records targets) {
  return {{std::move(sources), {}, {}}, {std::move(targets), {}, {}}};
}

// The plan of all ranks, proved right.
inline ShardPlan planned(const Rosters& rosters, const ShardOptions& options = {}) {
  ShardPlan plan = ShardPlanner(rosters, options).plan();
  for (const Fault& fault : verify(rosters, plan, options)) ADD_FAILURE() << fault.message;
  return plan;
}

// "[0:3,0:2]": what one end of a box is.
inline std::string slices_text(const std::vector<Span>& box, LocalIndex Span::*end) {
  std::vector<std::string> slices;
  for (const Span& span : box) {
    const Index begin = (span.*end).value();
    slices.push_back(fmt::format("{}:{}", begin, begin + span.length));
  }
  return fmt::format("[{}]", fmt::join(slices, ","));
}

inline std::string text(const ShardOperation& operation) {
  return fmt::format("({},{}->{})", operation.source.value(), slices_text(operation.box, &Span::source),
                     slices_text(operation.box, &Span::target));
}

// What a rank receives, in the order of the plan: "(0,[0:3,0:2]->[0:3,0:2]) ..".
inline std::string received(const ShardPlan& plan, Index rank) {
  std::vector<std::string> parts;
  for (const ShardOperation& operation : plan.operations)
    if (operation.target == RankId(rank)) parts.push_back(text(operation));
  return fmt::format("{}", fmt::join(parts, " "));
}

// Why planning is refused; empty if it is not.
inline std::string refusal(const Rosters& rosters, const ShardOptions& options = {}) {
  try {
    ShardPlanner(rosters, options).plan();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline Ranks ranks_from(Index first, Index count, Index step = 1) {
  Ranks ranks;
  for (Index k = 0; k < count; ++k) ranks.push_back(first + k * step);
  return ranks;
}

// Ranks first.. hold `copies` copies of a tensor in `parts` parts, TP fastest.
inline Records replicas(Index first, Index parts, Index copies, const std::string& name = "w") {
  Records records;
  for (Index k = 0; k < parts * copies; ++k)
    records.push_back(
        with_dp(with_tp(whole(first + k, {48 / parts}, name), ranks_from(first + k / parts * parts, parts)),
                ranks_from(first + k % parts, copies, parts)));
  return records;
}

}  // namespace reshard::megatron
