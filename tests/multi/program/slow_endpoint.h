// An endpoint of a rank that lets all others run before each of its operations.
#pragma once

#include <sched.h>

#include "fabric/wrap/forward_endpoint.h"

namespace reshard::multi {

class SlowEndpoint final : public fabric::ForwardEndpoint {
 public:
  explicit SlowEndpoint(Endpoint& inner, int yields = 300) : ForwardEndpoint(inner), yields_(yields) {}
  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override {
    pause();
    ForwardEndpoint::put(peer, window, copy, source);
  }
  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override {
    pause();
    ForwardEndpoint::get(peer, window, copy, target);
  }
  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override {
    pause();
    ForwardEndpoint::notify(peer, signal, slot, value, update);
  }

 private:
  void pause() const {
    for (int i = 0; i < yields_; ++i) sched_yield();
  }
  int yields_;
};

}  // namespace reshard::multi
