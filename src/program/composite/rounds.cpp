#include "program/composite/rounds.h"

#include "program/composite/simplify.h"

namespace reshard {

CompositeRounds::CompositeRounds(Kernel& kernel, const SignalDeclaration& signal, Protocol protocol,
                                 RoundNumbers numbers, std::optional<Expression> lanes)
    : kernel_(kernel), signal_(signal), protocol_(protocol), numbers_(std::move(numbers)), lanes_(std::move(lanes)) {}

void CompositeRounds::each_slot(const Expression& rank, const std::function<void(SlotRef)>& write) {
  const SlotRef slot = SignalRef(signal_.name)[rank];
  if (signal_.shape.size() == 1) return write(slot);
  if (!lanes_ || lanes_->is_constant(1)) return write(slot[0]);
  kernel_.each(
      0, *lanes_, [&](const Expression& lane) { write(slot[lane]); }, "b");
}

Expression CompositeRounds::reached(const SlotRef& slot, const Expression& each, const Expression& step) const {
  Expression start = signal_.starts;
  for (std::size_t d = 0; d < slot.slot().indices.size(); ++d)
    start = substitute(start, "i" + std::to_string(d), slot.slot().indices[d]);
  Expression counted = step;
  if (only_grows(protocol_)) {
    const Expression in_call = times(numbers_.in_call, each), so_far = plus(times(numbers_.before, each), step);
    const bool one = in_call.is_constant(1) && so_far.is_constant();
    counted = one ? plus(kernel_.call(), so_far - 1) : plus(times(kernel_.call() - 1, in_call), so_far);
  }
  return plus(counted, start);
}

void CompositeRounds::meet() {
  ++made_;
  kernel_.each_peer([&](const Expression& p) {
    each_slot(kernel_.me(), [&](const SlotRef& slot) { kernel_.notify(slot.on(p), Add, 1); });
  });
  kernel_.each_peer(
      [&](const Expression& s) {
        each_slot(s, [&](const SlotRef& slot) { kernel_.wait(slot, Ge, reached(slot, 1, made_)); });
      },
      "s");
}

void CompositeRounds::finish() {
  if (only_grows(protocol_)) return;
  kernel_.each_peer(
      [&](const Expression& s) {
        each_slot(s, [&](const SlotRef& slot) { kernel_.notify(slot.on(kernel_.me()), Add, -made_); });
      },
      "s");
}

}  // namespace reshard
