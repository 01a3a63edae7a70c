// One direction of an operator: the program that takes a tensor to another. What a kind of operator implements; every
// other thing an operator does (checks, tensors, caches, adjoints, tests) is done once, for all of them.
//
// A flow's program has the form of redistribute_program() (program.h):
//   windows  0 "source", 1 "target", as the layouts of the operator store them; a third (moves: further ones) is
//            scratch, in which nothing is kept between runs, and which no peer touches once the run has returned on its
//            rank
//   signals  0 "ready", 1 "done", one slot for each rank, slot r notified by rank r alone; they only grow: round j of
//            rounds(), from 1 on, uses value j, with rounds() as per_run
//   when it returns on a rank, the target there is complete and the source may be overwritten
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "reshard/layout.h"
#include "reshard/op.h"
#include "reshard/program.h"

namespace reshard {

class Flow {
 public:
  virtual ~Flow() = default;
  // All that the program depends on beside the number of ranks: what ranks compare, and a world caches by.
  virtual std::string text() const = 0;
  virtual Index rounds() const { return 1; }
  // With the operations of `only`, or of all ranks. Communicates nothing. Throws Error(invalid_argument) when a layout
  // names a rank that is not there.
  virtual Program program(Index ranks, std::optional<RankId> only, const RankHosts& hosts) const = 0;
  // Of a move between layouts: then a world carries it out by World::move, which knows about hosts.
  virtual const PlanOptions* move_options() const { return nullptr; }
};

// An operator of any kind. A tensor with ghosts has an ordinary layout of its own, that of the padded blocks laid end
// to end: rows [4,3,3] with one ghost at each side are "{0: x:sizes[6,5,5]}" of 16 rows.
struct OpParts {
  std::string name;
  Layout in, out;
  std::shared_ptr<const Flow> forward;  // from in to out
  std::shared_ptr<const Flow> adjoint;  // from dual(out) to dual(in)
};
LinearOp linear_op(OpParts parts);

// Throws as plan() does, of what is between these layouts.
std::shared_ptr<const Flow> move_flow(const Layout& source, const Layout& target, const PlanOptions& options);

}  // namespace reshard
