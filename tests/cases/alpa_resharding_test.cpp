// The moves between two meshes that Alpa measured cross-mesh resharding with: nine from mesh to mesh, and one rank to
// many. Bytes, messages and rounds of each, worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reshard/plan.h"
#include "reshard/rounds.h"

namespace reshard {
namespace {

struct Case {
  const char* name;
  const char* source;
  const char* target;
  Index copies_sent = 0;  // bytes sent / bytes of the tensor
  Index messages = 0;
  std::size_t rounds = 0;
};

// Tiles along y are held by the 4 ranks along x: 4 receivers of a tile are served by its 4 holders, one each.
const Case cases[] = {
    {"same tiles", "f32[1024,1024,512] on (y=2, x=4) {0: y}", "f32[1024,1024,512] on (y=2, x=4)@8 {0: y}", 4, 8, 1},
    {"whole to halves", "f32[1024,1024,512] on (y=2, x=4)", "f32[1024,1024,512] on (y=2, x=4)@8 {0: y}", 4, 8, 1},
    {"columns to rows", "f32[1024,1024,512] on (y=2, x=4) {1: y}", "f32[1024,1024,512] on (y=2, x=4)@8 {0: y}", 4, 16,
     2},
    {"columns to rows of all ranks", "f32[1024,1024,512] on (y=2, x=4) {1: (y x)}",
     "f32[1024,1024,512] on (y=2, x=4)@8 {0: (y x)}", 1, 64, 8},
    {"quarters to halves", "f32[1024,1024,512] on (y=2, x=4) {0: x}", "f32[1024,1024,512] on (y=2, x=4)@8 {0: y}", 4,
     16, 2},
    // A half serves 4 ranks with two thirds of it and 4 with one third. Dealt end to end, the last holder gets three of
    // the small ones.
    {"halves to thirds", "f32[3072,1024,170] on (y=2, x=4) {0: y}", "f32[3072,1024,170] on (y=3, x=4)@8 {0: y}", 4, 16,
     3},
    // Listed twice in Alpa's suite.
    {"quarters to whole", "f32[1024,1024,512] on (x=4) {0: x}", "f32[1024,1024,512] on (y=2, x=4)@4", 8, 32, 8},
    {"second to third dimension", "f32[1024,1024,512] on (y=2, x=4) {1: y}",
     "f32[1024,1024,512] on (y=2, x=4)@8 {2: y}", 4, 16, 2},
};

void expect_costs(const Case& c) {
  const Plan p = plan(layout(c.source), layout(c.target));
  SCOPED_TRACE(c.name);
  EXPECT_TRUE(verify(p).empty());
  const Certificate certificate = p.certificate();
  EXPECT_EQ(certificate.sent, c.copies_sent * p.source().bytes());
  EXPECT_EQ(certificate.needed, certificate.sent);
  EXPECT_EQ(certificate.messages, c.messages);
  EXPECT_EQ(rank_rounds(messages_of(p)).rounds.size(), c.rounds);
}

TEST(AlpaResharding, MeshToMesh) {
  for (const Case& c : cases) expect_costs(c);
}

// One rank has every byte, so it sends all and nothing can be shorter.
TEST(AlpaResharding, OneRankToReplicas) {
  const std::pair<Index, Index> nodes_and_ranks[] = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 2}, {3, 2}, {4, 2}};
  for (const auto& [nodes, ranks] : nodes_and_ranks) {
    const std::string target = fmt::format("f32[268435456] on (node={}, rank={})@1", nodes, ranks);
    const Index receivers = nodes * ranks;
    expect_costs({target.c_str(), "f32[268435456] on ()", target.c_str(), receivers, receivers,
                  static_cast<std::size_t>(receivers)});
  }
}

// Every rank sends the same in all cases but the halves that serve thirds.
TEST(AlpaResharding, NoHolderSendsMoreThanAnother) {
  for (const Case& c : cases) {
    const Plan p = plan(layout(c.source), layout(c.target), {.policy = SenderPolicy::balanced});
    const bool uneven = std::string_view(c.name) == "halves to thirds";
    EXPECT_EQ(p.certificate().imbalance_out == 1, !uneven) << c.name;
    EXPECT_LE(p.certificate().imbalance_out, 4.0 / 3) << c.name;
  }
}

}  // namespace
}  // namespace reshard
