// What a HaloPlan knows.
#pragma once

#include <algorithm>

#include "op/halo/edge.h"
#include "op/halo/programs.h"

namespace reshard {

struct HaloPlan::State {
  State(halo::Domain d, HaloScheme s, std::optional<Layout> from = {}, std::optional<Layout> to = {})
      : domain(std::move(d)), scheme(s), in(std::move(from)), out(std::move(to)), links(domain) {}
  State(const State&) = delete;  // `links` looks at `domain`

  halo::Job job(HaloForm form, const RankHosts& hosts) const;
  // Windows and signals, without scratch and operations.
  Program program(std::string name, Index ranks, HaloForm form, bool is_reduce) const;
  void add_scratch(Program& program, std::vector<Index> bytes) const;

  halo::Domain domain;
  HaloScheme scheme;
  std::optional<Layout> in, out;  // none of boxes
  halo::Links links;
};

}  // namespace reshard
