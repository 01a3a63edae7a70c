#include "program/composite/operand.h"

#include <algorithm>

#include "program/composite/simplify.h"
#include "reshard/program_text.h"

namespace reshard {

CompositeOperand::CompositeOperand(std::string argument, BufferSlice slice, Dtype dtype,
                                   std::vector<Expression> extents)
    : argument_(std::move(argument)), slice_(std::move(slice)), dtype_(dtype), extents_(std::move(extents)) {
  slice_.selections.resize(extents_.size());
}

std::vector<Expression> CompositeOperand::shape() const {
  std::vector<Expression> shape;
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    const Selection& selection = slice_.selections[d];
    if (selection.kind == Selection::Kind::all) shape.push_back(extents_[d]);
    if (selection.kind == Selection::Kind::range) shape.push_back(less(selection.to, selection.from));
  }
  return shape;
}

Selection& CompositeOperand::first_kept() {
  return *std::ranges::find_if(slice_.selections, [](const Selection& s) { return s.kind != Selection::Kind::at; });
}

CompositeOperand CompositeOperand::row(const Expression& index) const {
  CompositeOperand result = *this;
  Selection& first = result.first_kept();
  first = {Selection::Kind::at, plus(first.from, index), 0};
  return result;
}

CompositeOperand CompositeOperand::rows(const Expression& from, const Expression& to) const {
  CompositeOperand result = *this;
  Selection& first = result.first_kept();
  first = {Selection::Kind::range, plus(first.from, from), plus(first.from, to)};
  return result;
}

// Whole dimensions at the end go without saying.
CompositeOperand::operator SliceRef() const {
  BufferSlice slice = slice_;
  while (!slice.selections.empty() && slice.selections.back().kind == Selection::Kind::all) slice.selections.pop_back();
  return SliceRef(slice);
}

SliceRef CompositeOperand::on(const Expression& peer) const { return SliceRef(*this).on(peer); }

std::string CompositeOperand::text() const { return text_of(SliceRef(*this).slice()); }

bool CompositeOperand::is_whole() const {
  return std::ranges::all_of(slice_.selections, [](const Selection& s) { return s.kind == Selection::Kind::all; });
}

Expression CompositeOperand::element(const std::vector<Expression>& indices) const {
  CompositeOperand one = *this;
  for (const Expression& index : indices) one = one.row(index);
  return SliceRef(one).value();
}

}  // namespace reshard
