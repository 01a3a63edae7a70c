#include "fabric/message/neighbours.h"

#include "reshard/error.h"

namespace reshard::fabric {

Neighbours::Neighbours(JoinedHost& host, std::vector<RankId> ranks, RankId here, Index world,
                       Clock::time_point deadline)
    : host_(host),
      ranks_(std::move(ranks)),
      local_(static_cast<std::size_t>(world), -1),
      here_(here),
      met_(host.endpoint().create_signal("meetings of the host", 1, deadline)) {
  Index number = 0;
  for (RankId rank : ranks_) local_[static_cast<std::size_t>(rank.value())] = number++;
}

void Neighbours::arrive() {
  ++meetings_;
  for (RankId rank : ranks_)
    if (rank != here_) endpoint().notify(local(rank), met_, 0, 1, Endpoint::Update::add);
}

// A rank may be one meeting ahead, and its next notification counted for that of another: but it has gone ahead only
// because that other had arrived.
bool Neighbours::all_are_here() const { return endpoint().peek(met_, 0) >= meetings_ * (ranks_.size() - 1); }

std::string Neighbours::lost() const {
  try {
    endpoint().check_peers();
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::string_view told = ": lost ";  // "rank 1: lost rank 3 (killed by signal 9)"
    const std::size_t at = text.find(told);
    return at == text.npos ? text : text.substr(at + told.size());
  }
  return {};
}

}  // namespace reshard::fabric
