// Places numbered from 0, in ascending order.
#pragma once

#include <algorithm>
#include <vector>

#include "reshard/index.h"

namespace reshard {

template <class Place>
class Numbering {
 public:
  void add(Place place) { places_.push_back(place); }
  // After the last.
  void close() {
    std::ranges::sort(places_);
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  }
  std::size_t size() const { return places_.size(); }
  Index number(Place place) const { return std::ranges::lower_bound(places_, place) - places_.begin(); }
  Place place(Index number) const { return places_[static_cast<std::size_t>(number)]; }

 private:
  std::vector<Place> places_;
};

}  // namespace reshard
