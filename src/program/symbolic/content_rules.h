// The rules of `init` and `expect`, element by element.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "program/symbolic/placed.h"

namespace reshard {

// Calls `visit` for every element of the buffer of `rule` on `rank` for which its condition holds, with the names of
// the rule in scope. `reader` answers what rule and condition read.
void each_element(const PlacedProgram& program, const ContentRule& rule, RankId rank, ElementReader* reader,
                  const std::function<void(const Scope& scope, const PlacedBuffer& buffer, Index offset)>& visit);

// Whether the call begins with contents that a rule or a stamp gives; then `bytes` of allocation `window` hold them.
bool write_initial(const PlacedProgram& program, RankId rank, int window, std::span<std::byte> bytes);

// What inputs hold as the call begins, on any rank. Confined.
class InitialElements final : public ElementReader {
 public:
  InitialElements(const PlacedProgram& program, RankId me) : program_(program), me_(me) {}
  Index element(const std::string& buffer, std::span<const Index> indices) override;
  Index element_on(const std::string& buffer, Index rank, std::span<const Index> indices) override;
  // The place of an element; throws Error(invalid_argument) unless it is of an input.
  Term place(const std::string& buffer, Index rank, std::span<const Index> indices) const;

 private:
  const PlacedProgram& program_;
  RankId me_;
  std::map<std::pair<Index, int>, std::vector<std::byte>> contents_;  // by rank and allocation
};

}  // namespace reshard
