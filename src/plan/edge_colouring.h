// Colours the links of a bipartite multigraph so that links that meet differ, with as few colours as there can be.
#pragma once

#include <span>
#include <vector>

#include "reshard/index.h"

namespace reshard {

// Senders and receivers are numbered apart, each from 0.
struct Link {
  Index sender = 0;
  Index receiver = 0;
};

struct LinkColours {
  std::vector<Index> of_link;  // 0 <= colour < count
  Index count = 0;             // the greatest number of links at one end
};

// Depends on the order of the links and nothing else.
LinkColours colour_links(std::span<const Link> links);

}  // namespace reshard
