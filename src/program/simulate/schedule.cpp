#include "program/simulate/schedule.h"

#include <algorithm>
#include <utility>

namespace reshard::simulation {

ReadyRanks::ReadyRanks(Index ranks, std::optional<RankId> slow)
    : place_(static_cast<std::size_t>(ranks)), slow_(slow) {}

void ReadyRanks::set(RankId rank, bool can_go) {
  if (rank == slow_) {
    slow_can_go_ = can_go;
    return;
  }
  std::optional<std::size_t>& place = place_[static_cast<std::size_t>(rank.value())];
  if (place.has_value() == can_go) return;
  if (can_go) {
    place = quick_.size();
    quick_.push_back(rank);
    return;
  }
  quick_[*place] = quick_.back();
  place_[static_cast<std::size_t>(quick_.back().value())] = place;
  quick_.pop_back();
  place.reset();
}

std::optional<Choice> RandomSchedule::choose(const ReadyRanks& ready, std::size_t in_flight) {
  const std::size_t choices = ready.quick().size() + in_flight;
  if (choices == 0) return ready.slow_can_go() ? std::optional(Choice{ready.slow()}) : std::nullopt;
  const auto number = static_cast<std::size_t>(random_() % choices);
  if (number < ready.quick().size()) return Choice{ready.quick()[number]};
  return Choice{{}, number - ready.quick().size()};
}

std::optional<Choice> choose_in_step(const ReadyRanks& ready, const std::vector<double>& round) {
  const auto place = [&](RankId rank) { return std::pair(round[static_cast<std::size_t>(rank.value())], rank); };
  const auto first = std::ranges::min_element(ready.quick(), {}, place);
  return first == ready.quick().end() ? std::nullopt : std::optional(Choice{*first});
}

}  // namespace reshard::simulation
