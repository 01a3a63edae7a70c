// Which parts of a slice are to be had.
#pragma once

#include <map>
#include <optional>

#include "reshard/index.h"

namespace reshard::fabric {

class PiecesOfSlice {
 public:
  // Offset of a piece of so many bytes, no longer to be had: of the smallest that has room, so that large ones last.
  std::optional<Index> take(Index bytes);
  void give_back(Index offset, Index bytes);
  Index bytes() const { return bytes_; }
  // All of them, as (offset, bytes); none is to be had afterwards.
  std::map<Index, Index> take_all();

 private:
  std::map<Index, Index> pieces_;  // offset -> bytes; never two that touch
  Index bytes_ = 0;
};

}  // namespace reshard::fabric
