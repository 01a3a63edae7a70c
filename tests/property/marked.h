// Compares an m2m map with what marking and recapturing finds.
#pragma once

#include <gtest/gtest.h>

#include "oracle/mark_and_recapture.h"
#include "reshard/m2m.h"

namespace reshard {

inline oracle::MarkedMap as_marked(const M2MMap& map) {
  oracle::MarkedMap marked{map.middle(), map.source_num_slicers(), map.target_num_slicers(), {}};
  for (const auto& [rank, cells] : map.dict())
    for (const auto& [index, targets] : cells) {
      auto& list = marked.routes[rank.value()][index];
      for (const CellAt& target : targets) list.push_back({target.rank.value(), target.index});
    }
  return marked;
}

// Routes in order, of which find() finds each.
inline void expect_in_order(const M2MMap& map) {
  for (std::size_t k = 0; k < map.routes().size(); ++k) {
    const Route& route = map.routes()[k];
    EXPECT_TRUE(k == 0 || map.routes()[k - 1].source < route.source);
    EXPECT_EQ(map.find(route.source.rank, map.source_index(route.source.cell)), &route);
  }
}

inline void expect_as_marked(const M2MMap& map, const oracle::MarkedMap& marked) {
  const std::string pair = map.source().text() + "  ->  " + map.target().text();
  const oracle::MarkedMap found = as_marked(map);
  EXPECT_EQ(found.middle, marked.middle) << pair;
  EXPECT_EQ(found.source_num_slicers, marked.source_num_slicers) << pair;
  EXPECT_EQ(found.target_num_slicers, marked.target_num_slicers) << pair;
  EXPECT_TRUE(found.routes == marked.routes) << pair << "\n" << map.text();
  expect_in_order(map);
}

inline void expect_as_marked(const Layout& source, const Layout& target) {
  expect_as_marked(m2m_map(source, target), oracle::mark_and_recapture(source, target));
}

}  // namespace reshard
