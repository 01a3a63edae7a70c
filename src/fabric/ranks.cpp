#include "reshard/ranks.h"

#include <functional>

namespace reshard {
namespace {

std::optional<RankId> lowest(const std::vector<RankOutcome>& outcomes,
                             const std::function<bool(const RankOutcome&)>& is_it) {
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    if (is_it(outcomes[r])) return RankId(static_cast<Index>(r));
  }
  return std::nullopt;
}

}  // namespace

std::optional<RankId> first_failure(const std::vector<RankOutcome>& outcomes) {
  using End = RankOutcome::End;
  if (auto died = lowest(outcomes, [](auto& o) { return o.end == End::killed || o.end == End::exited; })) return died;
  if (auto threw = lowest(outcomes, [](auto& o) { return o.end == End::threw && o.code != Code::peer_lost; })) {
    return threw;
  }
  return lowest(outcomes, [](auto& o) { return o.end != End::returned; });
}

}  // namespace reshard
