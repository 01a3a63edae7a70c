#include <algorithm>

#include "fabric/wrap/observed_endpoint.h"
#include "reshard/wrap.h"

namespace reshard {
namespace {

class CountEndpoint final : public fabric::ObservedEndpoint<CountEndpoint> {
 public:
  CountEndpoint(Endpoint& inner, CallCounts& counts) : ObservedEndpoint(inner), counts_(counts) {}

  template <class Act>
  decltype(auto) observe(const fabric::Observed& call, const Act& act) {
    struct AtReturn {
      CallCounts& counts;
      const fabric::Observed& call;
      int exceptions = std::uncaught_exceptions();
      ~AtReturn() {
        if (std::uncaught_exceptions() == exceptions) counts.add(call.kind, call.peer, call.bytes);
      }
    } const at_return{counts_, call};
    return act();
  }

 private:
  CallCounts& counts_;
};

}  // namespace

std::string_view name_of(CallKind kind) {
  switch (kind) {
    case CallKind::get: return "get";
    case CallKind::put: return "put";
    case CallKind::accumulate: return "accumulate";
    case CallKind::notify: return "notify";
    case CallKind::wait: return "wait";
    case CallKind::fence: return "fence";
    case CallKind::barrier: return "barrier";
    case CallKind::collective: return "collective";
  }
  return "unknown";
}

CallCounts::CallCounts(Index ranks) : ranks_(ranks), counts_(kCallKinds * static_cast<std::size_t>(ranks)) {}

std::size_t CallCounts::index(CallKind kind, RankId peer) const {
  return static_cast<std::size_t>(kind) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(peer.value());
}

CallCount CallCounts::of(CallKind kind) const {
  CallCount sum;
  for (Index r = 0; r < ranks_; ++r) {
    sum.calls += of(kind, RankId(r)).calls;
    sum.bytes += of(kind, RankId(r)).bytes;
  }
  return sum;
}

void CallCounts::add(CallKind kind, RankId peer, Index bytes) {
  CallCount& count = counts_[index(kind, peer)];
  ++count.calls;
  count.bytes += bytes;
}

void CallCounts::clear() { std::ranges::fill(counts_, CallCount{}); }

std::unique_ptr<Endpoint> counted(Endpoint& inner, CallCounts& counts) {
  return std::make_unique<CountEndpoint>(inner, counts);
}

}  // namespace reshard
