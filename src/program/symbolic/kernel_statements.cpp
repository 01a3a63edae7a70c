// The statements of the builder.
#include "reshard/builder.h"

namespace reshard {

void Kernel::statement(Statement statement) { body().push_back(std::move(statement)); }

void Kernel::loop(For form, const std::string& wanted, const Each& write) {
  form.variable = fresh(wanted);
  form.body = block([&] {
    variables_.push_back(form.variable);
    write(Expression::variable(form.variable));
  });
  statement({std::move(form)});
}

void Kernel::each_rank(const Each& write, const std::string& name) { each(0, ranks(), write, name); }

void Kernel::each_peer(const Each& write, const std::string& name) {
  loop({.variable = {}, .from = 0, .to = ranks(), .peers = true, .body = {}}, name, write);
}

void Kernel::each(const Expression& from, const Expression& to, const Each& write, const std::string& name) {
  loop({.variable = {}, .from = from, .to = to, .peers = false, .body = {}}, name, write);
}

void Kernel::when(const Expression& condition, const std::function<void()>& then,
                  const std::function<void()>& otherwise) {
  If form{condition, block(then), {}};
  if (otherwise) form.otherwise = block(otherwise);
  statement({std::move(form)});
}

Expression Kernel::let(const std::string& name, const Expression& value) {
  variables_.push_back(fresh(name));
  statement({Let{variables_.back(), value}});
  return Expression::variable(variables_.back());
}

void Kernel::put(const SliceRef& target, const SliceRef& source) {
  statement({DataMove{OpCode::put, target.slice(), source.slice()}});
}

void Kernel::get(const SliceRef& target, const SliceRef& source) {
  statement({DataMove{OpCode::get, target.slice(), source.slice()}});
}

void Kernel::copy(const SliceRef& target, const SliceRef& source) {
  statement({DataMove{OpCode::copy, target.slice(), source.slice()}});
}

void Kernel::accumulate(ReduceOp op, const SliceRef& target, const SliceRef& source) {
  statement({DataMove{OpCode::put, target.slice(), source.slice(), op}});
}

void Kernel::cast(const SliceRef& target, const SliceRef& source) {
  statement({DataMove{OpCode::copy, target.slice(), source.slice(), {}, true}});
}

void Kernel::reduce(const SliceRef& target, ReduceOp op, std::vector<SliceRef> terms) {
  Reduce form{target.slice(), op, {}};
  for (const SliceRef& term : terms) form.terms.push_back(term.slice());
  statement({std::move(form)});
}

void Kernel::fill(const SliceRef& target, const Expression& value) { statement({Fill{target.slice(), value, {}}}); }

void Kernel::fill_identity(const SliceRef& target, ReduceOp op) { statement({Fill{target.slice(), 0, op}}); }

void Kernel::notify(const SlotRef& slot, NotifyOp op, const Expression& value) {
  statement({Notify{slot.slot(), op, value}});
}

void Kernel::wait(const SlotRef& slot, WaitCompare compare, const Expression& value) {
  statement({Wait{slot.slot(), compare, value}});
}

void Kernel::fence() { statement({Fence{}}); }

void Kernel::require(const Expression& condition, const std::string& message) {
  statement({Require{condition, message}});
}

void Kernel::comment(const std::string& text) { statement({Comment{text}}); }

void Kernel::composite(const std::string& name, std::vector<Argument> arguments) {
  statement({Composite{name, std::move(arguments)}});
}

}  // namespace reshard
