#include "program/composite/all_reduce.h"

#include "program/composite/table.h"

namespace reshard {

void write_all_reduce(CompositeWriter& w) {
  const std::string mode = w.arguments.has("mode") ? w.arguments.word("mode") : "mesh";
  if (mode == "mesh") return write_all_reduce_mesh(w);
  if (w.arguments.has("output")) w.arguments.refuse("only mode mesh has an output; the result is in target");
  if (!w.has_two_rounds())
    w.arguments.refuse("mode {} has the protocols epoch and credits-2, not {}", mode, name_of(w.rounds.protocol()));
  if (mode == "ring") return write_all_reduce_ring(w);
  if (mode == "two_phase") return write_all_reduce_two_phase(w);
  w.arguments.refuse("mode {} is none of mesh, ring, two_phase", mode);
}

}  // namespace reshard
