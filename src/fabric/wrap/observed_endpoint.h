// An endpoint that hands every call on through one function of its own: what count, trace, delay and fault have in
// common.
#pragma once

#include <exception>
#include <string_view>

#include "fabric/wrap/forward_endpoint.h"
#include "reshard/wrap.h"

namespace reshard::fabric {

struct Observed {
  CallKind kind = CallKind::get;
  RankId peer{};  // this rank where there is none
  Index bytes = 0;
  int window = -1, signal = -1;
  Index slot = 0;
  std::uint64_t value = 0;
  bool is_comparison_or_add = false;
  std::string_view name = {};  // of what is created
};

inline Index bytes_of(const StridedCopy& copy) {
  Index bytes = copy.row_bytes;
  for (const Stride& loop : copy.loops) bytes *= loop.count;
  return bytes;
}

// `Wrapper` has a member `observe(const Observed&, act)` that returns what act() returns.
template <class Wrapper>
class ObservedEndpoint : public ForwardEndpoint {
 public:
  using ForwardEndpoint::ForwardEndpoint;

  WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) override {
    return observe({.kind = CallKind::collective, .peer = rank(), .name = name},
                   [&] { return inner().create_window(name, bytes, deadline); });
  }
  SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) override {
    return observe({.kind = CallKind::collective, .peer = rank(), .name = name},
                   [&] { return inner().create_signal(name, slots, deadline); });
  }
  WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                         Clock::time_point deadline) override {
    return observe({.kind = CallKind::collective, .peer = rank(), .name = name},
                   [&] { return inner().expose_window(name, memory, how, deadline); });
  }
  void destroy_window(WindowId window, Clock::time_point deadline) override {
    observe({.kind = CallKind::collective, .peer = rank(), .window = window.value},
            [&] { inner().destroy_window(window, deadline); });
  }
  void destroy_signal(SignalId signal, Clock::time_point deadline) override {
    observe({.kind = CallKind::collective, .peer = rank(), .signal = signal.value},
            [&] { inner().destroy_signal(signal, deadline); });
  }
  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override {
    observe({.kind = CallKind::get, .peer = peer, .bytes = bytes_of(copy), .window = window.value},
            [&] { inner().get(peer, window, copy, target); });
  }
  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override {
    observe({.kind = CallKind::put, .peer = peer, .bytes = bytes_of(copy), .window = window.value},
            [&] { inner().put(peer, window, copy, source); });
  }
  void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                  CopyKernel combine, Clock::time_point deadline) override {
    observe({.kind = CallKind::accumulate, .peer = peer, .bytes = bytes_of(copy), .window = window.value},
            [&] { inner().accumulate(peer, window, copy, source, combine, deadline); });
  }
  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override {
    observe({.kind = CallKind::notify,
             .peer = peer,
             .signal = signal.value,
             .slot = slot,
             .value = value,
             .is_comparison_or_add = update == Update::add},
            [&] { inner().notify(peer, signal, slot, value, update); });
  }
  void wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) override {
    observe({.kind = CallKind::wait,
             .peer = rank(),
             .signal = signal.value,
             .slot = slot,
             .value = value,
             .is_comparison_or_add = until == Until::greater_equal},
            [&] { inner().wait(signal, slot, value, until, deadline); });
  }
  void fence() override {
    observe({.kind = CallKind::fence, .peer = rank()}, [&] { inner().fence(); });
  }
  void barrier(Clock::time_point deadline) override {
    observe({.kind = CallKind::barrier, .peer = rank()}, [&] { inner().barrier(deadline); });
  }

 private:
  template <class Act>
  decltype(auto) observe(const Observed& call, const Act& act) {
    return static_cast<Wrapper&>(*this).observe(call, act);
  }
};

}  // namespace reshard::fabric
