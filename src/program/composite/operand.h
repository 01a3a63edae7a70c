// A data argument of a composite: part of a buffer, under the same name on every rank.
#pragma once

#include <string>
#include <vector>

#include "reshard/builder.h"

namespace reshard {

class CompositeOperand {
 public:
  CompositeOperand(std::string argument, BufferSlice slice, Dtype dtype, std::vector<Expression> extents);

  // The name of the argument.
  const std::string& argument() const { return argument_; }
  Dtype dtype() const { return dtype_; }
  // Of the slice, once dimensions of one index are dropped.
  std::vector<Expression> shape() const;
  // Parts along the first dimension that is left.
  CompositeOperand row(const Expression& index) const;
  CompositeOperand rows(const Expression& from, const Expression& to) const;
  SliceRef on(const Expression& peer) const;
  operator SliceRef() const;  // NOLINT(google-explicit-constructor)
  const std::string& buffer() const { return slice_.buffer; }
  // As in the text form.
  std::string text() const;
  // Whether nothing of the buffer is left out.
  bool is_whole() const;
  // The value of an element, where one index is given for each dimension that is left.
  Expression element(const std::vector<Expression>& indices) const;

 private:
  Selection& first_kept();
  std::string argument_;
  BufferSlice slice_;  // one selection for each dimension
  Dtype dtype_;
  std::vector<Expression> extents_;  // of the buffer
};

}  // namespace reshard
