// What happens to each counter in the calls that are followed.
#pragma once

#include <functional>

#include "program/verify/verify_run.h"

namespace reshard {

struct CellNotice {
  Index call = 1;
  RankId by = {};
  std::size_t statement = 0;
  NotifyOp op = NotifyOp::set;
  Index value = 0;
};

struct CellWait {
  Index call = 1;
  std::size_t statement = 0;
  WaitCompare compare = WaitCompare::greater_equal;
  Index value = 0;
};

struct VerifyCell {
  RankId rank = {};
  int signal = 0;
  Index slot = 0;
  Index start = 0;
  std::vector<CellNotice> notices = {};  // call by call, rank by rank
  std::vector<CellWait> waits = {};

  bool only(NotifyOp op) const;
  // The statement that comes first in the text.
  std::size_t first_notify() const;
  // Of all additions in one call.
  Index net(Index call) const;
  // What additions of calls before leave, when all of them have come.
  Index before(Index call) const;
  // No more than this is ever seen in a call by waits.
  Index most(Index call) const;
};

// Of signals whose every use is known; none where the run did not come to its end.
std::vector<VerifyCell> cells_of(const VerifyRun& run);
// "ready[0, 1] of rank 2".
std::string cell_text(const VerifyRun& run, const VerifyCell& cell);
void each_cell(std::span<const VerifyRun> runs, const std::function<void(const VerifyRun&, const VerifyCell&)>& visit);

}  // namespace reshard
