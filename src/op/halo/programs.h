// The operations of exchanges and reduces.
#pragma once

#include <optional>
#include <vector>

#include "op/halo/links.h"
#include "reshard/program.h"

namespace reshard::halo {

// Of one rank, in two halves: a caller may compute between them.
struct Halves {
  std::vector<Operation> begin;
  std::vector<Operation> end;
};

// What windows there are, and what is asked for.
struct Job {
  const Domain& domain;
  const Links& links;
  HaloScheme scheme = HaloScheme::direct;
  HaloForm form = HaloForm::apart;
  const RankHosts& hosts;

  Index rounds() const;
  int target() const { return form == HaloForm::in_place ? 0 : 1; }
  int scratch() const { return target() + 1; }
};

// Of every rank, or of one: the other entries are empty.
std::vector<Halves> exchange_halves(const Job& job, Index ranks, std::optional<RankId> only);
std::vector<std::vector<Operation>> reduce_steps(const Job& job, Index ranks, std::optional<RankId> only);

// Bytes of scratch of every rank; all 0 where none is needed.
std::vector<Index> exchange_scratch(const Job& job, Index ranks);
std::vector<Index> reduce_scratch(const Job& job, Index ranks);

}  // namespace reshard::halo
