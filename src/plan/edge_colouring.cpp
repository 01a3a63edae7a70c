// König's theorem by alternating paths: links get a colour one after another. `a` is free at the sender and `b` at the
// receiver; if neither is free at both, then along the path of links coloured a, b, a, .. that starts at the receiver
// the two colours change places, and then `a` is free at both. The path cannot come back to the sender: it would arrive
// there by a link coloured a.
#include "plan/edge_colouring.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace reshard {
namespace {

constexpr Index kNoEdge = -1;

Index count_of(std::span<const Link> links, Index Link::*end) {
  Index count = 0;
  for (const Link& link : links) count = std::max(count, link.*end + 1);
  return count;
}

Index greatest_degree(std::span<const Link> links, Index Link::*end) {
  std::vector<Index> degree(static_cast<std::size_t>(count_of(links, end)));
  for (const Link& link : links) ++degree[link.*end];
  return degree.empty() ? 0 : *std::ranges::max_element(degree);
}

// For each place on one side of the graph: which link has each colour. A table would need places times colours, and one
// place with many links makes many colours.
class ColouredSide {
 public:
  ColouredSide(std::size_t links, Index places, Index colours)
      : colours_(colours), free_(static_cast<std::size_t>(places), 0) {
    link_.reserve(links);
  }

  Index link(Index place, Index colour) const {
    const auto found = link_.find(place * colours_ + colour);
    return found == link_.end() ? kNoEdge : found->second;
  }
  bool is_free(Index place, Index colour) const { return link(place, colour) == kNoEdge; }
  // There is one: a place has no more links than there are colours, and one of them has no colour yet.
  Index least_free(Index place) {
    while (!is_free(place, free_[place])) ++free_[place];
    return free_[place];
  }
  void set(Index place, Index colour, Index link) { link_[place * colours_ + colour] = link; }
  void clear(Index place, Index colour) {
    link_.erase(place * colours_ + colour);
    free_[place] = std::min(free_[place], colour);
  }

 private:
  Index colours_;
  std::unordered_map<Index, Index> link_;
  std::vector<Index> free_;  // no colour below is free
};

class Colouring {
 public:
  Colouring(std::span<const Link> links, Index colours)
      : links_(links),
        senders_(links.size(), count_of(links, &Link::sender), colours),
        receivers_(links.size(), count_of(links, &Link::receiver), colours),
        colour_(links.size(), kNoEdge) {}

  void add(Index link) {
    const auto [sender, receiver] = links_[link];
    const Index a = senders_.least_free(sender), b = receivers_.least_free(receiver);
    if (!receivers_.is_free(receiver, a)) {
      if (senders_.is_free(sender, b)) return set(link, b);
      exchange_from(receiver, a, b);
    }
    set(link, a);
  }
  std::vector<Index> colours() && { return std::move(colour_); }

 private:
  void exchange_from(Index receiver, Index a, Index b) {
    path_.clear();
    Index place = receiver, colour = a;
    for (bool at_receiver = true;; at_receiver = !at_receiver) {
      const Index link = (at_receiver ? receivers_ : senders_).link(place, colour);
      if (link == kNoEdge) break;
      path_.push_back(link);
      place = at_receiver ? links_[link].sender : links_[link].receiver;
      colour = colour == a ? b : a;
    }
    for (const Index link : path_) {
      senders_.clear(links_[link].sender, colour_[link]);
      receivers_.clear(links_[link].receiver, colour_[link]);
    }
    for (const Index link : path_) set(link, colour_[link] == a ? b : a);
  }
  void set(Index link, Index colour) {
    colour_[link] = colour;
    senders_.set(links_[link].sender, colour, link);
    receivers_.set(links_[link].receiver, colour, link);
  }

  std::span<const Link> links_;
  ColouredSide senders_;
  ColouredSide receivers_;
  std::vector<Index> colour_;  // of each link
  std::vector<Index> path_;
};

}  // namespace

LinkColours colour_links(std::span<const Link> links) {
  const Index count = std::max(greatest_degree(links, &Link::sender), greatest_degree(links, &Link::receiver));
  Colouring colouring(links, count);
  for (std::size_t link = 0; link < links.size(); ++link) colouring.add(static_cast<Index>(link));
  return {std::move(colouring).colours(), count};
}

}  // namespace reshard
