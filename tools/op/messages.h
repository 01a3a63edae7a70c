// What travels when an operator runs: read from the program that runs.
#pragma once

#include <string>
#include <vector>

#include "reshard/layout.h"
#include "reshard/op.h"

namespace reshard::cli {

// In indices of one rank's memory: per dimension [begin, end).
struct MemoryBox {
  std::vector<Index> begin, end;
};

struct Message {
  Index round = 1;
  RankId from, to;  // equal: a copy
  Index hops = 0;   // steps along the axes of the mesh, the short way round; 0 where the ends are on different meshes
  Index bytes = 0;
  std::vector<MemoryBox> sent;      // at the sender
  std::vector<MemoryBox> received;  // at the receiver; empty for terms that wait to be folded
};

struct Direction {
  LinearOp op;                    // forward, or the adjoint
  std::vector<Message> messages;  // by round, receiver, sender
  Index bytes = 0;                // that travel
  Index copied = 0;
  Index folded = 0;  // bytes of results
};

// On as many ranks as the meshes need.
Direction direction_of(const LinearOp& op);

}  // namespace reshard::cli
