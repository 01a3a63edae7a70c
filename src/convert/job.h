// Everything that is decided before a byte moves: what is read, what is written, and in which units.
#pragma once

#include <vector>

#include "convert/local_box.h"
#include "reshard/checkpoint.h"
#include "reshard/checkpoint_output.h"
#include "reshard/convert.h"

namespace reshard::convert_detail {

// A piece of one stored tensor of one rank, written by one process.
struct Unit {
  int file = 0;    // place in output.files()
  int stored = 0;  // place in to.stored()
  RankId rank;
  LocalBox box;
  Index file_offset = 0;
  Index bytes = 0;
};

// Per file of the output, by ascending offset.
using Units = std::vector<std::vector<Unit>>;

struct Job {
  Checkpoint checkpoint;
  ModelLayout from;
  ModelLayout to;
  CheckpointOutput output;
  Units units;
  std::vector<int> source_tensor;  // place in from.tensors() of every tensor of `to`
  PlanOptions plan;
};

// Opens and checks the source, resolves both layouts. Throws as convert() does.
Job make_job(const ConvertRequest& request);
// The units of the files that are not finished.
Units unfinished(Units units, const std::vector<bool>& finished);
Index count(const Units& units);
Index bytes_of(const Units& units);
// Fills in what the plans of all tensors say about bytes between ranks.
void account(const Job& job, ConvertReport& report);

Index element_bytes(const ModelLayout& model, const StoredTensor& stored);

}  // namespace reshard::convert_detail
