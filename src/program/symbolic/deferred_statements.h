// Statements whose operands lie in memory, kept until they are reached.
#pragma once

#include <memory>

#include "program/symbolic/placed.h"

namespace reshard {

// Statement number `at` of `body`, and with `rest` all after it. `body` is part of the program that `program` holds.
class DeferredStatements final : public Deferred {
 public:
  DeferredStatements(std::shared_ptr<const PlacedProgram> program, RankId me, const Body& body, std::size_t at,
                     bool rest, Scope scope);
  void expand(MemoryReader& memory, std::vector<Operation>& operations) const override;

 private:
  std::shared_ptr<const PlacedProgram> program_;
  RankId me_;
  const Body* body_;
  std::size_t at_;
  bool rest_;
  Scope scope_;
};

}  // namespace reshard
