// What `reshard megatron` shows of a plan between two rosters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reshard/megatron.h"

namespace reshard::cli {

struct ShardReport {
  megatron::Rosters rosters;
  megatron::ShardPlan plan;
  std::optional<RankId> rank;  // the plan of one rank only
  bool layouts = false;
  bool verified = false;
  std::vector<std::string> faults = {};
};

// Bytes over all boxes of the plan.
struct ShardTotals {
  Index sent = 0, copied = 0, pairs = 0;
  std::map<RankId, Index> out, in;  // bytes to and from other ranks, every rank of a side
};
ShardTotals totals_of(const ShardReport& report);

std::string report_text(const ShardReport& report);
std::string report_json(const ShardReport& report);

}  // namespace reshard::cli
