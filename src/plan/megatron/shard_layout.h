// Forms of shards as layouts.
#pragma once

#include "plan/megatron/shard_form.h"

namespace reshard::megatron {

// The cuts of a form on leaf axes `gtp` and `tp` of a mesh.
std::vector<std::vector<Cut>> cuts_of(const ShardForm& form, int gtp, int tp);

// The form on a mesh (gtp, tp) of its own, ranks numbered from 0: what every place holds, whoever is there.
Layout grid_layout(const ShardForm& form);
Coordinate grid_coordinate(const ShardForm& form, const ShardPlace& place);

}  // namespace reshard::megatron
