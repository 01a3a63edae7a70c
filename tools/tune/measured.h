// The algorithms of collective operations, timed on ranks that this process starts.
#pragma once

#include <string>
#include <vector>

#include "reshard/collective_timing.h"

namespace reshard::cli {

struct TuneRequest {
  std::string fabric = "shm";
  std::vector<Index> ranks = {2, 4, 8};
  std::vector<Index> bytes = {};
  std::vector<CollectiveKind> kinds = {};
  Index rounds = 9;
};

// Of one operation on so many ranks, at sizes that ascend.
struct MeasuredCase {
  CollectiveKind kind = CollectiveKind::all_to_all;
  Index ranks = 0;
  std::vector<std::pair<Index, std::vector<AlgorithmTime>>> times;
};

std::vector<MeasuredCase> measure(const TuneRequest& request);
Tuning tuning_of(const std::vector<MeasuredCase>& cases);

// A line for each size, with the time of each algorithm and what the table takes.
std::string tune_text(const std::vector<MeasuredCase>& cases, const Tuning& tuning);
std::string tune_json(const std::string& fabric, const std::vector<MeasuredCase>& cases, const Tuning& tuning);

}  // namespace reshard::cli
