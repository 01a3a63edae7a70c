#include "program/composite/all_reduce.h"
#include "program/composite/parts.h"
#include "program/composite/simplify.h"

namespace reshard {
namespace {

// Steps around a ring. Slot 0 counts how far the left neighbour is, slot 1 whether the right one is done. A rank may
// begin step k once its left neighbour has done k steps; all around the ring that also orders each write of a part
// behind the read of what it replaces.
class Ring {
 public:
  explicit Ring(CompositeWriter& w)
      : w_(w),
        right_((w.me() + 1) % w.ranks()),
        left_((w.me() - 1) % w.ranks()),
        steps_(2 * (w.ranks() - 1)),
        ready_(SignalRef(w.arguments.signal().name)[0]),
        done_(SignalRef(w.arguments.signal().name)[1]) {
    w.rounds.count_one();
  }

  const Expression& left() const { return left_; }

  void step(const Expression& number) {
    w_.kernel.notify(ready_.on(right_), Add, 1);
    w_.kernel.wait(ready_, Ge, w_.rounds.reached(ready_, steps_, number + 1));
  }

  void end() {
    w_.phase("the right neighbour has read");
    w_.kernel.notify(done_.on(left_), Add, 1);
    w_.kernel.wait(done_, Ge, w_.rounds.reached(done_, 1, 1));
    if (only_grows(w_.rounds.protocol())) return;
    w_.phase("take the credits back");
    w_.kernel.notify(ready_.on(w_.me()), Add, -steps_);
    w_.kernel.notify(done_.on(w_.me()), Add, -1);
  }

 private:
  CompositeWriter& w_;
  Expression right_, left_, steps_;
  SlotRef ready_, done_;
};

}  // namespace

void write_all_reduce_ring(CompositeWriter& w) {
  w.arguments.require_signal_of(2);
  const CompositeOperand target = w.arguments.operand("target", OperandUse::reached_by_peers);
  const ReduceOp op = w.arguments.op(target);
  if (op == ReduceOp::avg) w.arguments.refuse("mode ring cannot divide at the end; use mesh or two_phase for avg");
  const RankParts parts(w, target);
  const BufferRef term = w.scratch("term", target.dtype(), {parts.greatest()});
  const Expression turns = w.ranks() - 1;
  Ring ring(w);
  const auto each_step = [&](const Expression& before, const Expression& part_of_me, const auto& move) {
    w.kernel.each(
        0, turns,
        [&](const Expression& step) {
          ring.step(plus(before, step));
          const Expression part = w.let("part", (part_of_me - step) % w.ranks());
          move(parts.elements().rows(parts.first(part), parts.past(part)), parts.past(part) - parts.first(part));
        },
        "step");
  };
  w.phase("reduce, a part a step");
  each_step(0, w.me() - 1, [&](const CompositeOperand& part, const Expression& length) {
    w.kernel.get(term.rows(0, length), part.on(ring.left()));
    w.kernel.reduce(part, op, {term.rows(0, length), part});
  });
  w.phase("gather, a part a step");
  each_step(turns, w.me(),
            [&](const CompositeOperand& part, const Expression&) { w.kernel.get(part, part.on(ring.left())); });
  ring.end();
}

}  // namespace reshard
