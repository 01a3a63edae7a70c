#include "op/tensor_check.h"

#include "base/fail.h"
#include "op/kinds.h"

namespace reshard::op {
namespace {

void check(const LinearOp& op, std::string_view what, const Tensor& tensor, const Layout& expected, bool is_gradient) {
  if (tensor.layout() == expected) return;
  const std::string_view role = is_gradient ? "gradient of " : "";
  fail(Code::invalid_argument,
       "{}: the {}{} that was given is laid out otherwise than the operator says{}\n  given {}\n  taken {}", op.name(),
       role, what, kind_hint(expected, tensor.layout(), is_gradient, op.in(), op.out()), tensor.layout_text(),
       expected.text());
}

}  // namespace

void check_value(const LinearOp& op, std::string_view what, const Tensor& tensor, const Layout& expected) {
  check(op, what, tensor, expected, false);
}

void check_gradient(const LinearOp& op, std::string_view what, const Tensor& tensor, const Layout& expected) {
  check(op, what, tensor, expected, true);
}

}  // namespace reshard::op
