// One run of elements cut into P parts of ceil(n / P), of which later ones may be shorter or empty.
#pragma once

#include "program/composite/writer.h"

namespace reshard {

class RankParts {
 public:
  // Of the elements of `operand` in row-major order: of a buffer of other than one dimension by a view that is declared
  // for it. Throws Error(invalid_argument) for a part of such a buffer.
  RankParts(CompositeWriter& w, const CompositeOperand& operand);

  const Expression& greatest() const { return greatest_; }
  Expression first(const Expression& part) const;
  Expression past(const Expression& part) const;
  const CompositeOperand& elements() const { return flat_; }

 private:
  CompositeOperand flat_;
  Expression count_;
  Expression greatest_;
};

}  // namespace reshard
