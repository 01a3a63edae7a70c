// Endpoints around endpoints: what a rank asks of its fabric is counted, drawn, delayed, or goes wrong on purpose.
//
//   CallCounts counts(e.ranks());
//   const std::unique_ptr<Endpoint> counting = counted(e, counts);
//   World world(*counting);
//
// They go around any fabric, and around each other: the outermost sees what the caller does, an inner one what the
// outer made of it. Capabilities, hosts, memory and errors are those of the endpoint inside, which must outlive the
// wrapper. Thread rule: confined to the rank, as the endpoint; counts and logs too.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/fabric.h"

namespace reshard {

enum class CallKind { get, put, accumulate, notify, wait, fence, barrier, collective };
inline constexpr std::size_t kCallKinds = 8;
std::string_view name_of(CallKind kind);

// ---- count

struct CallCount {
  Index calls = 0;
  Index bytes = 0;
  friend bool operator==(const CallCount&, const CallCount&) = default;
};

// Calls of one rank that returned, by kind and peer. Those that have no peer (wait, fence, barrier, the creation and
// destruction of windows and signals) stand under the rank itself.
class CallCounts {
 public:
  explicit CallCounts(Index ranks);
  CallCount of(CallKind kind, RankId peer) const { return counts_[index(kind, peer)]; }
  CallCount of(CallKind kind) const;
  void add(CallKind kind, RankId peer, Index bytes);
  void clear();

 private:
  std::size_t index(CallKind kind, RankId peer) const;
  Index ranks_;
  std::vector<CallCount> counts_;
};

// Adds two numbers per call, and allocates nothing.
std::unique_ptr<Endpoint> counted(Endpoint& inner, CallCounts& counts);

// ---- trace

// The last calls of one rank. What does not fit pushes out the oldest.
class TraceLog {
 public:
  struct Call {
    CallKind kind = CallKind::get;
    bool is_comparison_or_add = false;  // of wait: >= (not ==), of notify: add (not set)
    int peer = -1;
    int object = -1;  // number of the name of its window or signal, in the order of creation
    Index slot = 0;
    Index bytes = 0;
    std::uint64_t value = 0;
    std::chrono::nanoseconds begin{}, end{};  // of the clock of the host, which its processes share
  };
  explicit TraceLog(RankId rank, std::size_t calls = std::size_t{1} << 16);
  RankId rank() const { return rank_; }
  void add(const Call& call);
  int name(std::string_view object);
  // In the order of their ends.
  std::vector<Call> calls() const;
  Index dropped() const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  RankId rank_;
  std::vector<Call> ring_;
  std::size_t added_ = 0;
  std::vector<std::string> names_;
};

// Reads the clock twice per call; allocates only where windows and signals are created.
std::unique_ptr<Endpoint> traced(Endpoint& inner, TraceLog& log);

// What one rank has to say, in a form that its process can hand to another; and the whole as a file for
// chrome://tracing or Perfetto: one row per rank, a slice per call with its window or signal, peer and bytes, and an
// arrow from the notification that let a wait go on to that wait. Ranks of several hosts are on clocks of their own:
// their rows are right, each by itself. chrome_trace throws Error(corrupt) for a part that is none.
std::string trace_part(const TraceLog& log);
std::string chrome_trace(const std::vector<std::string>& parts);

// ---- delay

struct DelayOptions {
  std::uint64_t seed = 1;
  // One call in so many is held up before it begins, and one in so many after its end; 0: none.
  Index one_in = 3;
  std::chrono::microseconds longest{300};
  // Puts are begun when their fence must end, or at random before, in a random order. Until then they read the memory
  // that they were given.
  bool holds_puts = true;
};

// Every order of events that it brings about is one that fabrics may show: a program that is wrong with it is wrong.
// The same seed holds up the same calls of a rank, for the same time.
std::unique_ptr<Endpoint> delayed(Endpoint& inner, const DelayOptions& options);

// ---- fault

struct InjectedFault {
  enum class What {
    drop,       // the call does nothing
    duplicate,  // it is done twice
    reorder,    // it is done after the next call but fences that moves or notifies
    fail,       // it throws Error(io)
    kill,       // the process is killed in its place
    stop,       // the process is stopped in its place, until somebody continues it
    slow,       // it and all later ones take `pause` longer
  };
  What what = What::drop;
  RankId rank{};  // where it happens
  // At the call of this number, from 0, of those of the kind; without a kind, of all but collective ones.
  Index at = 0;
  std::optional<CallKind> kind{};
  std::chrono::milliseconds pause{20};
};
std::string_view name_of(InjectedFault::What what);

// "rank 2: kill at call 17"
std::string to_string(const InjectedFault& fault);
// A fault at a random rank and one of its first `calls` calls: the same for the same seed.
InjectedFault random_fault(InjectedFault::What what, std::uint64_t seed, Index ranks, Index calls);

// On all ranks but the fault's: the endpoint as it is. Only puts, accumulates and notifies can be dropped, doubled or
// put out of order: with those faults, other calls are not counted.
std::unique_ptr<Endpoint> faulty(Endpoint& inner, const InjectedFault& fault);

}  // namespace reshard
