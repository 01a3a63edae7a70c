// The ways to reduce on all ranks; docs/design/composites.md compares what they cost.
#pragma once

#include "program/composite/writer.h"

namespace reshard {

void write_all_reduce_mesh(CompositeWriter&);
void write_all_reduce_two_phase(CompositeWriter&);
void write_all_reduce_ring(CompositeWriter&);

}  // namespace reshard
