#include <signal.h>

#include <functional>
#include <thread>
#include <utility>

#include "base/fail.h"
#include "fabric/wrap/held_put.h"
#include "fabric/wrap/observed_endpoint.h"
#include "reshard/wrap.h"

namespace reshard {
namespace {

bool is_disorder(InjectedFault::What what) {
  return what == InjectedFault::What::drop || what == InjectedFault::What::duplicate ||
         what == InjectedFault::What::reorder;
}

class FaultEndpoint final : public fabric::ObservedEndpoint<FaultEndpoint> {
 public:
  FaultEndpoint(Endpoint& inner, const InjectedFault& fault) : ObservedEndpoint(inner), fault_(fault) {}

  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override {
    if (!is_disorder(fault_.what)) return ObservedEndpoint::put(peer, window, copy, source);
    disorder(
        CallKind::put, [&] { inner().put(peer, window, copy, source); },
        [&] { return [this, held = fabric::HeldPut(peer, window, copy, source)] { held.put_to(inner()); }; });
  }
  void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                  CopyKernel combine, Clock::time_point deadline) override {
    if (!is_disorder(fault_.what)) return ObservedEndpoint::accumulate(peer, window, copy, source, combine, deadline);
    const auto later = [&] {
      return [=, this, loops = std::vector<Stride>(copy.loops.begin(), copy.loops.end())] {
        StridedCopy held = copy;
        held.loops = loops;
        inner().accumulate(peer, window, held, source, combine, deadline);
      };
    };
    disorder(
        CallKind::accumulate, [&] { inner().accumulate(peer, window, copy, source, combine, deadline); }, later);
  }
  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override {
    if (!is_disorder(fault_.what)) return ObservedEndpoint::notify(peer, signal, slot, value, update);
    const auto act = [=, this] { inner().notify(peer, signal, slot, value, update); };
    disorder(CallKind::notify, act, [&] { return act; });
  }

  template <class Act>
  decltype(auto) observe(const fabric::Observed& call, const Act& act) {
    if (!is_disorder(fault_.what) && is_counted(call.kind)) happen(count_++);
    return act();
  }

 private:
  bool is_counted(CallKind kind) const { return fault_.kind ? kind == *fault_.kind : kind != CallKind::collective; }

  void happen(Index number) {
    if (number < fault_.at) return;
    if (fault_.what == InjectedFault::What::slow) std::this_thread::sleep_for(fault_.pause);
    if (number > fault_.at) return;
    if (fault_.what == InjectedFault::What::kill) ::raise(SIGKILL);
    if (fault_.what == InjectedFault::What::stop) ::raise(SIGSTOP);
    if (fault_.what == InjectedFault::What::fail) fail(Code::io, "{}", to_string(fault_));
  }

  // `later()` makes what does the same once the call is over.
  template <class Act, class Later>
  void disorder(CallKind kind, const Act& act, const Later& later) {
    const bool is_it = is_counted(kind) && count_++ == fault_.at;
    if (is_it && fault_.what == InjectedFault::What::drop) return;
    if (is_it && fault_.what == InjectedFault::What::reorder) {
      postponed_ = later();
      return;
    }
    act();
    if (is_it) act();
    if (const auto postponed = std::exchange(postponed_, nullptr)) postponed();
  }

  InjectedFault fault_;
  Index count_ = 0;
  std::function<void()> postponed_;
};

// The same numbers everywhere, unlike those of std::uniform_int_distribution.
std::uint64_t scrambled(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
  return seed ^ seed >> 31;
}

}  // namespace

std::string_view name_of(InjectedFault::What what) {
  switch (what) {
    case InjectedFault::What::drop: return "drop";
    case InjectedFault::What::duplicate: return "duplicate";
    case InjectedFault::What::reorder: return "reorder";
    case InjectedFault::What::fail: return "fail";
    case InjectedFault::What::kill: return "kill";
    case InjectedFault::What::stop: return "stop";
    case InjectedFault::What::slow: return "slow";
  }
  return "unknown";
}

std::string to_string(const InjectedFault& fault) {
  return fmt::format("rank {}: {} at {} {}", fault.rank.value(), name_of(fault.what),
                     fault.kind ? name_of(*fault.kind) : "call", fault.at);
}

InjectedFault random_fault(InjectedFault::What what, std::uint64_t seed, Index ranks, Index calls) {
  if (ranks < 1 || calls < 1) fail(Code::invalid_argument, "a fault among {} ranks and {} calls", ranks, calls);
  const std::uint64_t first = scrambled(seed), second = scrambled(first);
  return {.what = what,
          .rank = RankId(static_cast<Index>(first % static_cast<std::uint64_t>(ranks))),
          .at = static_cast<Index>(second % static_cast<std::uint64_t>(calls))};
}

std::unique_ptr<Endpoint> faulty(Endpoint& inner, const InjectedFault& fault) {
  if (inner.rank() != fault.rank) return std::make_unique<fabric::ForwardEndpoint>(inner);
  return std::make_unique<FaultEndpoint>(inner, fault);
}

}  // namespace reshard
