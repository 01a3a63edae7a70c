// König's theorem by alternating paths: links get a colour one after another. If no colour is free at both ends, `a` is
// free at the sender and `b` at the receiver; along the path of links coloured a, b, a, .. that starts at the receiver
// the two colours change places, and then `a` is free at both. The path cannot come back to the sender: it would arrive
// there by a link coloured a.
#include "plan/edge_colouring.h"

#include <algorithm>
#include <utility>

namespace reshard {
namespace {

constexpr Index kNone = -1;

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

// For each place on one side of the graph: which link has each colour.
class Side {
 public:
  Side(Index places, Index colours)
      : colours_(colours), link_(static_cast<std::size_t>(places * colours), kNone), free_(places, 0) {}

  Index& link(Index place, Index colour) { return link_[place * colours_ + colour]; }
  // There is one: a place has no more links than there are colours, and one of them has no colour yet.
  Index least_free(Index place) {
    while (link(place, free_[place]) != kNone) ++free_[place];
    return free_[place];
  }
  void clear(Index place, Index colour) {
    link(place, colour) = kNone;
    free_[place] = std::min(free_[place], colour);
  }

 private:
  Index colours_;
  std::vector<Index> link_;
  std::vector<Index> free_;  // no colour below is free
};

class Colouring {
 public:
  Colouring(std::span<const Link> links, Index colours)
      : links_(links),
        senders_(count_of(links, &Link::sender), colours),
        receivers_(count_of(links, &Link::receiver), colours),
        colour_(links.size(), kNone) {}

  void add(Index link) {
    const Link& ends = links_[link];
    const Index a = senders_.least_free(ends.sender);
    if (receivers_.link(ends.receiver, a) != kNone)
      exchange_from(ends.receiver, a, receivers_.least_free(ends.receiver));
    set(link, a);
  }
  std::vector<Index> colours() && { return std::move(colour_); }

 private:
  void exchange_from(Index receiver, Index a, Index b) {
    path_.clear();
    Index place = receiver, colour = a;
    for (bool at_receiver = true;; at_receiver = !at_receiver) {
      const Index link = (at_receiver ? receivers_ : senders_).link(place, colour);
      if (link == kNone) break;
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
    senders_.link(links_[link].sender, colour) = link;
    receivers_.link(links_[link].receiver, colour) = link;
  }

  std::span<const Link> links_;
  Side senders_;
  Side receivers_;
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
