// Halos on worlds, each cell against the oracle. Bodies report by throwing.
#pragma once

#include "multi/halo/halo_oracle.h"
#include "reshard/world.h"

namespace reshard::multi {

// An endpoint whose ranks are on as many hosts as it is told, `per_host` to each: what crosses is then put.
std::unique_ptr<Endpoint> on_hosts(Endpoint& inner, Index per_host);

// Own cells of an epoch; the rest of the buffer is poison.
void fill_own(World& world, Tensor& x, const halo_oracle::Shard* shard, Index epoch);
// Of a widened tensor: own cells, ghosts are poison.
void fill_wide(World& world, Tensor& wide, const halo_oracle::Shard* shard, Index epoch);
void expect_wide(World& world, const Tensor& wide, const halo_oracle::Shard* shard, Index epoch, const char* how);

// The exchange by both schemes, into another tensor, in place, and in two halves; and the reduce: cell by cell.
void expect_halo(World& world, const Layout& in, const Halo& halo, Index epochs = 2);

}  // namespace reshard::multi
