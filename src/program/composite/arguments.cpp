#include "program/composite/arguments.h"

#include <algorithm>

#include "base/reducible.h"
#include "program/composite/shapes.h"
#include "program/composite/simplify.h"

namespace reshard {
namespace {

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string names_text(std::span<const std::string_view> required, std::span<const std::string_view> optional) {
  std::string text;
  for (const std::string_view name : required) text += (text.empty() ? "" : ", ") + std::string(name);
  for (const std::string_view name : optional) text += fmt::format(", [{}]", name);
  return text;
}

std::vector<Expression> bounds_in(const BufferSlice& slice) {
  std::vector<Expression> bounds;
  for (const Selection& selection : slice.selections) {
    bounds.push_back(selection.from);
    bounds.push_back(selection.to);
  }
  return bounds;
}

}  // namespace

const Argument* CompositeArguments::find(std::string_view argument) const {
  const auto at = std::ranges::find(composite_.arguments, argument, &Argument::name);
  return at == composite_.arguments.end() ? nullptr : &*at;
}

const Argument& CompositeArguments::get(std::string_view argument) const {
  const Argument* found = find(argument);
  if (found == nullptr) refuse("argument {} is missing", argument);
  return *found;
}

void CompositeArguments::require_names(std::span<const std::string_view> required,
                                       std::span<const std::string_view> optional) const {
  for (const std::string_view name : required)
    if (!has(name)) refuse("argument {} is missing; {} takes {}", name, this->name(), names_text(required, optional));
  for (auto at = composite_.arguments.begin(); at != composite_.arguments.end(); ++at) {
    if (!is_among(required, at->name) && !is_among(optional, at->name))
      refuse("it has no argument {}; {} takes {}", at->name, name(), names_text(required, optional));
    if (find(at->name) != &*at) refuse("argument {} is given twice", at->name);
  }
}

CompositeOperand CompositeArguments::operand(std::string_view argument, OperandUse use) {
  const Argument& given = get(argument);
  const auto* slice = std::get_if<BufferSlice>(&given.value);
  if (slice == nullptr) refuse("argument {} must be a buffer or a part of one, and no buffer has that name", argument);
  const BufferDeclaration* buffer = program_.buffer(slice->buffer);
  if (buffer == nullptr) refuse("argument {}: the program declares no buffer {}", argument, slice->buffer);
  if (slice->selections.size() > buffer->shape.size())
    refuse("argument {}: {} has {} dimensions, but {} are selected", argument, slice->buffer, buffer->shape.size(),
           slice->selections.size());
  if (slice->peer) refuse("argument {} names a peer; each rank gives its own {}", argument, slice->buffer);
  CompositeOperand result(std::string(argument), *slice, buffer->dtype, buffer->shape);
  require_static(result, *slice, use);
  require_use(result, *buffer, use);
  require_apart(result);
  return result;
}

// Peers find the same part under the same name, so it cannot depend on whose name it is, nor on memory.
void CompositeArguments::require_static(const CompositeOperand& operand, const BufferSlice& slice,
                                        OperandUse use) const {
  std::vector<Expression> fixed = operand.shape();
  const std::vector<Expression> bounds = bounds_in(slice);
  for (const Expression& bound : bounds)
    if (reads_memory(bound))
      refuse("argument {}: `{}` is known only once memory is read", operand.argument(), bound.text());
  if (use == OperandUse::reached_by_peers) fixed.insert(fixed.end(), bounds.begin(), bounds.end());
  for (const Expression& expression : fixed)
    if (depends_on(expression, "me") && name() != "redistribute")
      refuse("argument {}: `{}` differs from rank to rank; it must be the same on all", operand.argument(),
             expression.text());
}

void CompositeArguments::require_use(const CompositeOperand& operand, const BufferDeclaration& buffer,
                                     OperandUse use) const {
  if (use == OperandUse::reached_by_peers && buffer.role != BufferRole::window)
    refuse("argument {}: peers reach windows only, and {} is {} {}", operand.argument(), buffer.name,
           buffer.role == BufferRole::input || buffer.role == BufferRole::output ? "an" : "a", name_of(buffer.role));
  if (use == OperandUse::write && buffer.role == BufferRole::input)
    refuse("argument {} is written, and {} is an input", operand.argument(), buffer.name);
}

void CompositeArguments::require_apart(const CompositeOperand& operand) {
  for (const CompositeOperand& other : operands_) {
    if (other.buffer() == operand.buffer())
      refuse("{} and {} are the same buffer {}; give each its own", other.argument(), operand.argument(),
             operand.buffer());
    const std::string allocation = allocation_of(program_, operand.buffer());
    if (allocation_of(program_, other.buffer()) == allocation)
      refuse("{} ({}) and {} ({}) share the allocation {}; give each its own", other.argument(), other.buffer(),
             operand.argument(), operand.buffer(), allocation);
  }
  operands_.push_back(operand);
}

Expression CompositeArguments::number(std::string_view argument) const {
  const auto* value = std::get_if<Expression>(&get(argument).value);
  if (value == nullptr) refuse("argument {} must be a number", argument);
  if (reads_memory(*value)) refuse("argument {} is known only once memory is read", argument);
  return *value;
}

// The upper bound depends on the number of ranks: unrolling checks it.
Expression CompositeArguments::rank(std::string_view argument) const {
  const Expression rank = number(argument);
  if (depends_on(rank, "me")) refuse("argument {}: `{}` differs from rank to rank", argument, rank.text());
  if (rank.is_constant() && rank.value() < 0) refuse("argument {}: {} is no rank", argument, rank.value());
  return rank;
}

std::string CompositeArguments::word(std::string_view argument) const {
  const auto* value = std::get_if<std::string>(&get(argument).value);
  if (value == nullptr) refuse("argument {} must be a word", argument);
  return *value;
}

ReduceOp CompositeArguments::op(const CompositeOperand& terms) const {
  const auto op = has("op") ? reduce_op_named(word("op")) : ReduceOp::sum;
  if (!op) refuse("op {} is none of sum, avg, min, max, product", word("op"));
  if (!is_reducible(terms.dtype(), *op))
    refuse("{} of {} is not defined, and {} is one", name_of(*op), name_of(terms.dtype()), terms.argument());
  return *op;
}

const SignalDeclaration& CompositeArguments::signal() const {
  const auto* name = std::get_if<std::string>(&get("signal").value);
  const SignalDeclaration* signal = name == nullptr ? nullptr : program_.signal(*name);
  if (signal == nullptr) refuse("argument signal must be the name of a signal of the program");
  return *signal;
}

Protocol CompositeArguments::protocol() const {
  const SignalDeclaration& declared = signal();
  if (!has("protocol")) return declared.protocol.value_or(Protocol::epoch);
  for (const Protocol protocol : {Protocol::epoch, Protocol::credits_2, Protocol::credits_1, Protocol::parity}) {
    if (word("protocol") != name_of(protocol)) continue;
    if (declared.protocol && *declared.protocol != protocol)
      refuse("protocol {} differs from that of signal {}, {}", name_of(protocol), declared.name,
             name_of(*declared.protocol));
    return protocol;
  }
  refuse("protocol {} is none of epoch, credits-2, credits-1, parity", word("protocol"));
}

void CompositeArguments::require_shape(const CompositeOperand& operand, const std::vector<Expression>& wanted,
                                       std::string_view meaning) const {
  if (!may_agree(program_, operand.shape(), wanted))
    refuse("argument {}: {} has shape {}, but {} needs {}", operand.argument(), operand.text(),
           shape_text(operand.shape()), meaning, shape_text(wanted));
}

void CompositeArguments::require_rows(const CompositeOperand& operand, const Expression& rows,
                                      std::string_view meaning) const {
  const std::vector<Expression> shape = operand.shape();
  if (shape.empty() || !may_agree(program_, {shape.front()}, {rows}))
    refuse("argument {}: {} has shape {}, but {} needs [{}, ..]", operand.argument(), operand.text(), shape_text(shape),
           meaning, rows.text());
}

void CompositeArguments::require_signal_shape(const std::vector<Expression>& wanted) const {
  const SignalDeclaration& declared = signal();
  if (!may_agree(program_, declared.shape, wanted))
    refuse("signal {} has shape {}; {} needs {}", declared.name, shape_text(declared.shape), name(),
           shape_text(wanted));
}

void CompositeArguments::require_signal_of(Index slots) const {
  const SignalDeclaration& declared = signal();
  if (declared.shape.size() != 1 || !always_agree(program_, declared.shape, {slots}))
    refuse("signal {} has shape {}; it needs [{}]", declared.name, shape_text(declared.shape), slots);
}

void CompositeArguments::require_signal_per_rank() const {
  const Expression ranks = Expression::variable("P");
  require_signal_shape(signal().shape.size() == 2 ? std::vector<Expression>{ranks, 1} : std::vector<Expression>{ranks});
}

void CompositeArguments::require_same_dtype(const CompositeOperand& a, const CompositeOperand& b) const {
  if (a.dtype() != b.dtype())
    refuse("{} is {}, {} is {}; composites do not convert", a.argument(), name_of(a.dtype()), b.argument(),
           name_of(b.dtype()));
}

void CompositeArguments::require_integers(const CompositeOperand& operand) const {
  if (operand.dtype() != Dtype::i32 && operand.dtype() != Dtype::i64)
    refuse("argument {}: {} is {}; it must be i32 or i64", operand.argument(), operand.buffer(),
           name_of(operand.dtype()));
}

}  // namespace reshard
