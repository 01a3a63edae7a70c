// An expression over one loop variable and elements of memory, made ready to be evaluated many times: no names are
// looked up and nothing is allocated.
#pragma once

#include <optional>
#include <vector>

#include "program/symbolic/placed.h"

namespace reshard {

class RowExpression {
 public:
  // Nothing where the expression is of another kind. Names other than `variable` stand for what `scope` says.
  static std::optional<RowExpression> of(const Expression& expression, const PlacedProgram& program, RankId me,
                                         const Scope& scope, std::string_view variable);

  // Nothing where evaluate() would throw.
  std::optional<Index> value(Index variable, MemoryReader& memory) const;

 private:
  static constexpr std::size_t kDeepest = 16;
  struct ElementPlace {
    int window = 0;
    Index offset = 0;
    Dtype dtype = Dtype::i32;
    std::vector<Index> shape = {};
  };
  // In the order of evaluation; operands are on the stack.
  struct Step {
    Expression::Kind kind = Expression::Kind::constant;
    Index value = 0;  // constant; number of the element's place
  };
  bool add(const Expression& expression, const PlacedProgram& program, RankId me, std::string_view variable,
           std::size_t depth);
  std::optional<Index> element(const ElementPlace& place, const Index* indices, MemoryReader& memory) const;

  std::vector<Step> steps_;
  std::vector<ElementPlace> places_;
};

}  // namespace reshard
