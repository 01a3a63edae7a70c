#include "program/composite/writer.h"

#include <algorithm>

#include "program/composite/shapes.h"
#include "program/composite/simplify.h"

namespace reshard {
namespace {

std::optional<Expression> lanes_of(const CompositeArguments& arguments) {
  if (!arguments.has("workers")) return std::nullopt;
  return arguments.number("workers");
}

// Of declarations: sizes, P and me.
bool is_fixed(const SymbolicProgram& program, const Expression& expression) {
  if (expression.kind() == Expression::Kind::variable)
    return expression.name() == "P" || expression.name() == "me" ||
           std::ranges::find(program.sizes, expression.name(), &SizeDeclaration::name) != program.sizes.end();
  return std::ranges::all_of(expression.operands(), [&](const Expression& e) { return is_fixed(program, e); });
}

}  // namespace

CompositeWriter::CompositeWriter(Kernel& to, CompositeArguments given, const RoundNumbers& numbers, FreshName fresh)
    : arguments(std::move(given)),
      kernel(to),
      rounds(to, arguments.signal(), arguments.protocol(), numbers, lanes_of(arguments)),
      fresh_(std::move(fresh)) {}

void CompositeWriter::phase(const std::string& title) { kernel.comment(arguments.name() + ": " + title); }

void CompositeWriter::round(const std::string& title) {
  phase(title);
  rounds.meet();
}

bool CompositeWriter::has_two_rounds() const {
  return rounds.protocol() == Protocol::epoch || rounds.protocol() == Protocol::credits_2;
}

void CompositeWriter::second_round(const std::string& title) {
  if (has_two_rounds()) round(title);
}

void CompositeWriter::finish() {
  if (only_grows(rounds.protocol())) return;
  phase("take the credits back");
  rounds.finish();
}

CompositeOperand CompositeWriter::turn(const CompositeOperand& operand) const {
  if (rounds.protocol() != Protocol::parity) return operand;
  const std::vector<Expression> shape = operand.shape();
  if (shape.empty() || !always_agree(arguments.program(), {shape.front()}, {2}))
    arguments.refuse("argument {}: {} has shape {}, but of the parity protocol it needs two halves, [2, ..]",
                     operand.argument(), operand.text(), shape_text(shape));
  return operand.row((kernel.call() + 1) % 2);
}

CompositeOperand CompositeWriter::result(const CompositeOperand& in_place) {
  if (!arguments.has("output")) return in_place;
  const CompositeOperand output = arguments.operand("output", OperandUse::write);
  arguments.require_same_dtype(in_place, output);
  arguments.require_shape(output, in_place.shape(), "the result");
  return output;
}

void CompositeWriter::require_fixed(const std::vector<Expression>& shape) const {
  for (const Expression& extent : shape)
    if (!is_fixed(arguments.program(), extent))
      arguments.refuse("it needs memory of its own, of shape {}, and `{}` changes as the program runs",
                       shape_text(shape), extent.text());
}

BufferRef CompositeWriter::scratch(const std::string& wanted, Dtype dtype, const std::vector<Expression>& shape) {
  require_fixed(shape);
  return kernel.local(fresh_(wanted), dtype, shape);
}

BufferRef CompositeWriter::scratch_window(const std::string& wanted, Dtype dtype,
                                          const std::vector<Expression>& shape) {
  require_fixed(shape);
  return kernel.window(fresh_(wanted), dtype, shape);
}

BufferRef CompositeWriter::flat_view(const std::string& wanted, const CompositeOperand& whole) {
  return kernel.view(fresh_(wanted), whole.dtype(), {elements_in(whole.shape())}, BufferRef(whole.buffer()));
}

Expression CompositeWriter::let(const std::string& wanted, const Expression& value) {
  return kernel.let(fresh_(wanted), value);
}

}  // namespace reshard
