// The table of all moves between placements of a 64x64 tensor on eight meshes, against the figures of an independent
// simulation of the same rules, to the precision in which those were written down.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reshard/compare.h"

namespace reshard {
namespace {

struct Row {
  std::vector<Index> mesh;
  Index pairs;
  const char* above;    // greedy, graph: share of pairs over the lower bound
  const char* sum;      // greedy, graph
  const char* worst;    // greedy, graph
  const char* peak;     // greedy
  const char* permute;  // sum, worst; empty: was not computed
};

const std::vector<Row> kRows = {
    {{4}, 6, "0 0", "1.00 1.00", "1.0 1.0", "1.0", ""},
    {{8}, 6, "0 0", "1.00 1.00", "1.0 1.0", "1.0", ""},
    {{2, 2}, 72, "44 39", "1.51 1.37", "4.0 4.0", "2.0", "1.07 2.0"},
    {{2, 4}, 72, "44 39", "1.85 1.37", "8.0 4.6", "4.0", "1.15 2.7"},
    {{4, 2}, 72, "44 39", "1.55 1.32", "8.0 5.0", "2.4", ""},
    {{4, 4}, 72, "44 39", "1.96 1.42", "16.0 8.0", "4.0", "1.04 2.4"},
    {{2, 2, 2}, 702, "72 66", "2.26 1.82", "10.0 10.0", "4.0", "1.07 2.3"},
    {{2, 2, 4}, 702, "72 66", "2.91 1.73", "22.0 12.0", "8.0", ""},
};

double share(Index part, Index all) { return 100 * static_cast<double>(part) / static_cast<double>(all); }

TEST(CompareTable, IsThePublishedOneAndPlansAreAtTheBound) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::PrintToString(row.mesh));
    const PlacementTable table = compare_placements(row.mesh);
    const auto &greedy = table.dtensor_greedy, &graph = table.dtensor_graph;
    EXPECT_EQ(table.pairs, row.pairs);
    EXPECT_EQ(fmt::format("{:.0f} {:.0f}", share(greedy.above, table.pairs), share(graph.above, table.pairs)),
              row.above);
    EXPECT_EQ(fmt::format("{:.2f} {:.2f}", greedy.sum, graph.sum), row.sum);
    EXPECT_EQ(fmt::format("{:.1f} {:.1f}", greedy.worst, graph.worst), row.worst);
    EXPECT_EQ(fmt::format("{:.1f}", greedy.peak), row.peak);
    ASSERT_TRUE(table.permute_family);
    const std::string permute = fmt::format("{:.2f} {:.1f}", table.permute_family->sum, table.permute_family->worst);
    if (*row.permute != '\0') {
      EXPECT_EQ(permute, row.permute);
    }
    EXPECT_EQ(table.direct.above, 0);
    EXPECT_EQ(table.direct.sum, 1);
    EXPECT_EQ(table.direct.worst, 1);
    EXPECT_EQ(table.direct.peak, 1);
  }
}

// The ratios do not depend on the size while it divides: each pair moves the same share of the tensor.
TEST(CompareTable, IsTheSameForEveryShapeThatDivides) {
  const PlacementTable square = compare_placements(std::vector<Index>{2, 3}, 36, 36);
  const PlacementTable flat = compare_placements(std::vector<Index>{2, 3}, 6, 360);
  EXPECT_EQ(square.dtensor_greedy.sum, flat.dtensor_greedy.sum);
  EXPECT_EQ(square.dtensor_graph.worst, flat.dtensor_graph.worst);
  ASSERT_TRUE(square.permute_family && flat.permute_family);
  EXPECT_EQ(square.permute_family->sum, flat.permute_family->sum);
}

}  // namespace
}  // namespace reshard
