// Where terms wait to be reduced, and how much memory that takes.
#pragma once

#include "plan/lift.h"

namespace reshard {

// Bytes that `rank` sets aside: a term of every element it wants from every rank but itself, or what `limit` leaves.
// The same answer on every rank.
Index staging_bytes(const Fold& fold, const Layout& target, RankId rank, Index limit);

// Throws Error(invalid_argument) when `limit` holds not one element of every term, so that all ranks refuse alike.
void check_staging(const Fold& fold, const Layout& source, Index limit);

}  // namespace reshard
