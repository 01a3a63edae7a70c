// Which bytes of one buffer have been written, as intervals.
#pragma once

#include <map>
#include <span>

#include "reshard/program.h"

namespace reshard {

class WrittenBytes {
 public:
  void clear() { extents_.clear(); }
  // Takes what the blocks write, each from its first byte to its last; false where some of it was written before.
  bool add(std::span<const Block> blocks);

 private:
  bool add(Index begin, Index end);
  std::map<Index, Index> extents_;  // from begin to end; neighbours are one
};

}  // namespace reshard
