#include "program/composite/table.h"

namespace reshard {

void write_barrier(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  w.round("meet");
  w.finish();
}

}  // namespace reshard
