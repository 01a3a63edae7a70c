// Where the bytes of a piece of an output tensor come from.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "convert/job.h"
#include "reshard/program.h"

namespace reshard::convert_detail {

// Blocks from one tensor of a source file into a buffer that holds exactly the piece; offsets count from the beginning
// of the file's mapping and of the buffer.
struct Feed {
  int file = 0;  // place in checkpoint.files()
  std::vector<Block> blocks;
};

// Confined. Plans each pair of layouts once per rank.
class Router {
 public:
  explicit Router(const Job& job) : job_(job) {}

  // `box` lies in stored tensor `stored` of `rank`.
  std::vector<Feed> feeds(int stored, RankId rank, const LocalBox& box);

 private:
  const std::vector<Transfer>& receives(int from_layout, int to_layout, RankId rank);

  const Job& job_;
  std::map<std::tuple<int, int, RankId>, std::vector<Transfer>> planned_;
};

}  // namespace reshard::convert_detail
