// Collective calls: all ranks make the same call in the same order, or all get the same error.
#pragma once

#include <string_view>
#include <vector>

#include "fabric/host/world_state.h"

namespace reshard::fabric {

// What one rank asks for. `failure` non-empty: this rank cannot take part, and why.
struct CollectiveCall {
  Collective call = Collective::none;
  int id = -1;
  std::string_view name{};
  Index size = 0;
  std::uint64_t place = 0;
  bool is_private = false;
  std::string_view failure{};
};

// The collective calls of one rank, in order.
class Agreement {
 public:
  Agreement(WorldState& world, RankId rank, const Duties& duties) : world_(world), rank_(rank), duties_(duties) {}

  // Returns when all ranks have made the call, with what each brought; valid until the next call but one.
  // Throws, on every rank the same: Error(invalid_argument) if calls, names or ids differ, Error(io) if a rank failed;
  // and Error(timeout) or Error(peer_lost) if not all ranks come.
  std::vector<const Offer*> agree(const CollectiveCall& call, Clock::time_point deadline);
  void barrier(Clock::time_point deadline);

 private:
  void check(const std::vector<const Offer*>& offers) const;

  WorldState& world_;
  RankId rank_;
  Duties duties_;
  std::uint64_t barriers_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace reshard::fabric
