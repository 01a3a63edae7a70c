// The rounds of one composite on its signal: everybody tells every peer, then waits for every peer.
#pragma once

#include <optional>
#include <string>

#include "reshard/builder.h"

namespace reshard {

constexpr bool only_grows(Protocol protocol) { return protocol == Protocol::epoch || protocol == Protocol::parity; }

// Of a signal that only grows: how many rounds the whole program makes on it in a call, and how many come before this
// composite.
struct RoundNumbers {
  Expression in_call = 0;
  Expression before = 0;
};

class CompositeRounds {
 public:
  // One counter for each peer, or with `lanes` as many for each peer as that. Slots are signal[r], signal[r, 0] where
  // the signal has a second dimension, or signal[r, b].
  CompositeRounds(Kernel& kernel, const SignalDeclaration& signal, Protocol protocol, RoundNumbers numbers,
                  std::optional<Expression> lanes);

  void meet();
  // Takes back what peers have added in this composite. Other protocols leave it.
  void finish();
  // For composites with counters of their own instead of meet() and finish(): makes a round of whatever adds `each` to
  // a counter, and says what the counter is at after `step` of them.
  void count_one() { ++made_; }
  Expression reached(const SlotRef& slot, const Expression& each, const Expression& step) const;
  Protocol protocol() const { return protocol_; }
  Index made() const { return made_; }

 private:
  void each_slot(const Expression& rank, const std::function<void(SlotRef)>& write);
  Kernel& kernel_;
  SignalDeclaration signal_;
  Protocol protocol_;
  RoundNumbers numbers_;
  std::optional<Expression> lanes_;
  Index made_ = 0;
};

}  // namespace reshard
