#include <algorithm>

#include "fabric/wrap/observed_endpoint.h"
#include "reshard/wrap.h"

namespace reshard {
namespace {

// Windows and signals have numbers of their own, in the order of creation: so they do in the endpoint inside.
class TraceEndpoint final : public fabric::ObservedEndpoint<TraceEndpoint> {
 public:
  TraceEndpoint(Endpoint& inner, TraceLog& log) : ObservedEndpoint(inner), log_(log) {}

  WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) override {
    return remember(windows_, name, ObservedEndpoint::create_window(name, bytes, deadline));
  }
  WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                         Clock::time_point deadline) override {
    return remember(windows_, name, ObservedEndpoint::expose_window(name, memory, how, deadline));
  }
  SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) override {
    return remember(signals_, name, ObservedEndpoint::create_signal(name, slots, deadline));
  }

  template <class Act>
  decltype(auto) observe(const fabric::Observed& call, const Act& act) {
    struct AtEnd {
      TraceLog& log;
      TraceLog::Call entry;
      ~AtEnd() {
        entry.end = now();
        log.add(entry);
      }
    } const at_end{log_, entry_of(call)};
    return act();
  }

 private:
  static std::chrono::nanoseconds now() { return Clock::now().time_since_epoch(); }

  template <class Id>
  Id remember(std::vector<int>& names, std::string_view name, Id id) {
    if (id.value >= std::ssize(names)) names.resize(static_cast<std::size_t>(id.value) + 1, -1);
    names[static_cast<std::size_t>(id.value)] = log_.name(name);
    return id;
  }
  static int name_in(const std::vector<int>& names, int id) {
    return id >= 0 && id < std::ssize(names) ? names[static_cast<std::size_t>(id)] : -1;
  }
  TraceLog::Call entry_of(const fabric::Observed& call) const {
    return {.kind = call.kind,
            .is_comparison_or_add = call.is_comparison_or_add,
            .peer = static_cast<int>(call.peer.value()),
            .object = call.window >= 0 ? name_in(windows_, call.window) : name_in(signals_, call.signal),
            .slot = call.slot,
            .bytes = call.bytes,
            .value = call.value,
            .begin = now()};
  }

  TraceLog& log_;
  std::vector<int> windows_, signals_;  // their names' numbers in the log
};

}  // namespace

TraceLog::TraceLog(RankId rank, std::size_t calls) : rank_(rank), ring_(std::max<std::size_t>(calls, 1)) {}

void TraceLog::add(const Call& call) { ring_[added_++ % ring_.size()] = call; }

int TraceLog::name(std::string_view object) {
  names_.emplace_back(object);
  return static_cast<int>(names_.size()) - 1;
}

std::vector<TraceLog::Call> TraceLog::calls() const {
  std::vector<Call> all;
  for (std::size_t i = static_cast<std::size_t>(dropped()); i < added_; ++i) all.push_back(ring_[i % ring_.size()]);
  return all;
}

Index TraceLog::dropped() const { return added_ > ring_.size() ? static_cast<Index>(added_ - ring_.size()) : 0; }

std::unique_ptr<Endpoint> traced(Endpoint& inner, TraceLog& log) { return std::make_unique<TraceEndpoint>(inner, log); }

}  // namespace reshard
