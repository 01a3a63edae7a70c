// Reads an output back and compares it with the source.
//
// Derived from what the two layouts say each rank holds, element by element: nothing of plans, transfers or blocks.
#pragma once

#include <map>
#include <vector>

#include "convert/job.h"
#include "convert/partial_folder.h"
#include "convert/source_pages.h"

namespace reshard::convert_detail {

// Confined.
class Comparer {
 public:
  Comparer(const Job& job, const PartialFolder& folder, Index resident_bytes);

  // Throws OutputDiffers that names tensor, rank and the first element that differs, or that has no source;
  // Error(corrupt) if the source has changed.
  void compare(const Unit& unit);

 private:
  struct Holder {
    RankId rank;
    Region region;
  };
  // One rank of every set of ranks that hold the same.
  const std::vector<Holder>& holders(int layout);
  [[noreturn]] void differs(const std::string& message) const;
  void compare_part(const Unit& unit, const StoredTensor& stored, int part, const LocalBox& box);

  const Job& job_;
  const PartialFolder& folder_;
  SourcePages source_;
  SourcePages output_;
  std::map<int, std::vector<Holder>> holders_;  // per layout of job_.from
};

}  // namespace reshard::convert_detail
