// Memory of every rank after a move of arange data, worked out element by element from the plan.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "golden/show.h"
#include "property/plan_oracle.h"

namespace reshard {

using Values = std::vector<Index>;

class Moved {
 public:
  // Plans the move, verifies the plan, and runs it on a tensor whose elements are their own linear index.
  Moved(std::string_view source, std::string_view target) : plan_(plan(layout(source), layout(target))) {
    const oracle::Side from = oracle::side_of(plan_.source());
    const oracle::Side to = oracle::side_of(plan_.target());
    for (const Fault& fault : verify(plan_)) ADD_FAILURE() << fault.message;
    for (const std::string& fault : oracle::plan_faults(plan_, from, to)) ADD_FAILURE() << fault;
    before_ = oracle::stamped(from, 0);
    after_ = oracle::poisoned(to);
    oracle::apply(plan_, from, to, before_, after_);
  }
  const Plan& made() const { return plan_; }
  Values before(Index rank) const { return elements(before_.at(rank)); }
  Values after(Index rank) const { return elements(after_.at(rank)); }

 private:
  // Stamps are seven times the element; what nobody wrote stays as it was.
  static Values elements(const Values& memory) {
    Values values;
    for (const Index stamp : memory) values.push_back(stamp == oracle::poison ? oracle::poison : stamp / 7);
    return values;
  }
  Plan plan_;
  oracle::Buffers before_;
  oracle::Buffers after_;
};

inline Values from_to(Index first, Index end) {
  Values values;
  for (Index v = first; v < end; ++v) values.push_back(v);
  return values;
}

}  // namespace reshard
