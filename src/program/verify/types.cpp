// Roles, dtypes and numbers of dimensions of operands.
#include <fmt/format.h>

#include "base/reducible.h"
#include "program/symbolic/operands.h"
#include "program/symbolic/quote.h"
#include "program/verify/verify_rules.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

bool is_composite(const NumberedStatement& at) { return std::holds_alternative<Composite>(at.statement->form); }

bool is_integer(Dtype dtype) { return dtype >= Dtype::u8 && dtype <= Dtype::i64; }

std::string a_role(const BufferDeclaration& buffer) {
  const bool vowel = buffer.role == BufferRole::input || buffer.role == BufferRole::output;
  return fmt::format("{} {}", vowel ? "an" : "a", name_of(buffer.role));
}

// Each buffer named by a slice of a primitive statement; null where it is none.
class OperandTypes {
 public:
  OperandTypes(const VerifyText& text, FaultList& faults) : text_(text), faults_(faults) {}

  void roles(const NumberedStatement& at) {
    const auto* move = std::get_if<DataMove>(&at.statement->form);
    for (const SliceUse& use : slices_of(*at.statement)) {
      const bool is_target = use.written, is_source = !use.written;
      const bool reached =
          move != nullptr && ((move->code == OpCode::put && is_target) || (move->code == OpCode::get && is_source));
      reached ? peers_reach(at, *use.slice, move->code) : stays_here(at, *use.slice);
    }
    if (const auto* wait = std::get_if<Wait>(&at.statement->form); wait != nullptr && wait->slot.peer)
      faults_.add("roles", at.number,
                  fmt::format("a rank waits for its own counters only; drop `@{}`", wait->slot.peer->text()));
  }

  void dtypes(const NumberedStatement& at) {
    if (const auto* move = std::get_if<DataMove>(&at.statement->form)) dtypes(at, *move);
    if (const auto* reduce = std::get_if<Reduce>(&at.statement->form)) {
      for (const BufferSlice& term : reduce->terms)
        same_dtype(at, reduce->target, term, "cast it to a local buffer first");
      reducible(at, reduce->target, reduce->op);
    }
    if (const auto* fill = std::get_if<Fill>(&at.statement->form); fill != nullptr && fill->identity)
      reducible(at, fill->target, *fill->identity);
    if (!is_composite(at)) each_element(at, [&](const Expression& element) { integer_element(at, element); });
  }

  void dimensions(const NumberedStatement& at) {
    if (is_composite(at)) return;
    for (const SliceUse& use : slices_of(*at.statement))
      if (const BufferDeclaration* buffer = declared(use.slice->buffer))
        if (use.slice->selections.size() > buffer->shape.size())
          add_dimensions(at, use.slice->buffer, buffer->shape.size(), use.slice->selections.size(), "selected");
    if (const Slot* slot = slot_of(*at.statement))
      if (const SignalDeclaration* signal = text_.program().signal(slot->signal))
        if (slot->indices.size() != signal->shape.size())
          add_dimensions(at, slot->signal, signal->shape.size(), slot->indices.size(), "given");
    each_element(at, [&](const Expression& element) {
      const BufferDeclaration* buffer = declared(element.name());
      if (buffer != nullptr && element.operands().size() != buffer->shape.size())
        add_dimensions(at, element.name(), buffer->shape.size(), element.operands().size(), "given");
    });
  }

 private:
  const BufferDeclaration* declared(const std::string& name) const { return text_.program().buffer(name); }

  void peers_reach(const NumberedStatement& at, const BufferSlice& slice, OpCode code) {
    const BufferDeclaration* buffer = text_.allocation(slice.buffer);
    if (buffer != nullptr && buffer->role != BufferRole::window)
      faults_.add(
          "roles", at.number,
          fmt::format("{} {}, and peers reach windows only: {} is {}; declare it as a window, or stage it in "
                      "one",
                      code == OpCode::put ? "put writes" : "get reads", text_of(slice), slice.buffer, a_role(*buffer)));
  }

  void stays_here(const NumberedStatement& at, const BufferSlice& slice) {
    if (slice.peer && !is_composite(at))
      faults_.add("roles", at.number,
                  fmt::format("{} is memory of a peer, and only targets of put and sources of get may be; use put or "
                              "get, or drop `@{}`",
                              text_of(slice), slice.peer->text()));
  }

  void dtypes(const NumberedStatement& at, const DataMove& move) {
    if (!move.cast) same_dtype(at, move.target, move.source, "say `cast` at the end to convert");
    if (move.accumulate == ReduceOp::avg)
      faults_.add("dtypes", at.number,
                  "an average of averages is none, so `accumulate avg` has no meaning; accumulate the sum, and divide "
                  "once");
    else if (move.accumulate)
      reducible(at, move.target, *move.accumulate);
  }

  void same_dtype(const NumberedStatement& at, const BufferSlice& a, const BufferSlice& b, std::string_view fix) {
    const BufferDeclaration *left = declared(a.buffer), *right = declared(b.buffer);
    if (left != nullptr && right != nullptr && left->dtype != right->dtype)
      faults_.add("dtypes", at.number,
                  fmt::format("{} is {}, {} is {}; {}", text_of(a), name_of(left->dtype), text_of(b),
                              name_of(right->dtype), fix));
  }

  void reducible(const NumberedStatement& at, const BufferSlice& slice, ReduceOp op) {
    const BufferDeclaration* buffer = declared(slice.buffer);
    if (buffer != nullptr && !is_reducible(buffer->dtype, op))
      faults_.add("dtypes", at.number,
                  fmt::format("{} is {}, which has no {}; use another dtype or operation", text_of(slice),
                              name_of(buffer->dtype), name_of(op)));
  }

  void each_element(const NumberedStatement& at, const auto& visit) {
    each_operand(*at.statement, [&](const Expression& operand) {
      each_part(operand, [&](const Expression& part) {
        if (part.kind() == Expression::Kind::element) visit(part);
      });
    });
  }

  void integer_element(const NumberedStatement& at, const Expression& element) {
    const BufferDeclaration* buffer = declared(element.name());
    if (buffer != nullptr && !is_integer(buffer->dtype))
      faults_.add("dtypes", at.number,
                  fmt::format("{} is {}, and counts and indices are integers; declare {} as i32 or i64", element.text(),
                              name_of(buffer->dtype), element.name()));
  }

  void add_dimensions(const NumberedStatement& at, const std::string& name, std::size_t has, std::size_t given,
                      std::string_view verb) {
    faults_.add(
        "dimensions", at.number,
        fmt::format("{} has {} dimension{}, and {} {} {}; name {}", name, has, has == 1 ? "" : "s", given,
                    given == 1 ? "is" : "are", verb, verb == "given" ? "one index for each" : "as many, or fewer"));
  }

  const VerifyText& text_;
  FaultList& faults_;
};

}  // namespace

void find_roles(const VerifyText& text, FaultList& faults) {
  OperandTypes types(text, faults);
  for (const NumberedStatement& at : text.statements()) types.roles(at);
}

void find_written_inputs(const VerifyText& text, FaultList& faults) {
  for (const NumberedStatement& at : text.statements()) {
    if (is_composite(at)) continue;
    for (const SliceUse& use : slices_of(*at.statement)) {
      const BufferDeclaration* buffer = text.allocation(use.slice->buffer);
      if (!use.written || buffer == nullptr || buffer->role != BufferRole::input) continue;
      const bool is_view = buffer->name != use.slice->buffer;
      faults.add("inputs", at.number,
                 fmt::format("{} is {}an input, which the caller gives and nobody writes; write to a local buffer",
                             text_of(*use.slice), is_view ? "a view of " + buffer->name + ", " : ""));
    }
  }
}

void find_dtypes(const VerifyText& text, FaultList& faults) {
  OperandTypes types(text, faults);
  for (const NumberedStatement& at : text.statements()) types.dtypes(at);
}

void find_dimensions(const VerifyText& text, FaultList& faults) {
  OperandTypes types(text, faults);
  for (const NumberedStatement& at : text.statements()) types.dimensions(at);
  for (const auto* rules : {&text.program().init, &text.program().expect})
    for (const ContentRule& rule : *rules) {
      const BufferDeclaration* buffer = text.program().buffer(rule.buffer);
      if (buffer != nullptr && rule.indices.size() != buffer->shape.size())
        faults.add("dimensions", 0,
                   fmt::format("{} has {} dimensions, and its rule names {}; name each once", rule.buffer,
                               buffer->shape.size(), rule.indices.size()));
    }
}

}  // namespace reshard
