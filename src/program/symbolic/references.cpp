// What the builder hands out: parts of buffers and signals.
#include "base/fail.h"
#include "reshard/builder.h"
#include "reshard/program_text.h"

namespace reshard {

SliceRef SliceRef::on(const Expression& peer) const {
  SliceRef result = *this;
  result.slice_.peer = peer;
  return result;
}

SliceRef SliceRef::row(const Expression& index) const { return at(index); }

SliceRef SliceRef::rows(const Expression& from, const Expression& to) const { return at(Range{from, to}); }

Expression SliceRef::value() const {
  std::vector<Expression> operands;
  if (slice_.peer) operands.push_back(*slice_.peer);
  for (const Selection& selection : slice_.selections) {
    if (selection.kind != Selection::Kind::at)
      fail(Code::invalid_argument, "`{}` is not one element; give one index for each dimension", text_of(slice_));
    operands.push_back(selection.from);
  }
  const auto kind = slice_.peer ? Expression::Kind::element_on : Expression::Kind::element;
  return Expression::make(kind, std::move(operands), slice_.buffer);
}

SlotRef SlotRef::on(const Expression& peer) const {
  SlotRef result = *this;
  result.slot_.peer = peer;
  return result;
}

SlotRef SlotRef::operator[](const Expression& index) const {
  SlotRef result = *this;
  result.slot_.indices.push_back(index);
  return result;
}

}  // namespace reshard
