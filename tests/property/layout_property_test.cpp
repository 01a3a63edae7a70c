// Random layouts against the oracle, and their text form.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "oracle/layout_check.h"
#include "property/random_layout.h"
#include "reshard/error.h"

namespace reshard {
namespace {

Dtype random_dtype(Random& random) {
  return all_dtypes()[static_cast<std::size_t>(random.below(std::ssize(all_dtypes())))];
}

TEST(LayoutProperty, RegionsAndStorageEqualTheOracle) {
  Random random(seed_from_environment());
  std::set<std::pair<Pieces, Rule>> seen;
  for (int k = 0; k < 4000 && !HasFailure(); ++k) {
    const Layout l = random_layout(random, random_shape(random), random_dtype(random));
    for (const std::string& fault : oracle::layout_faults(l, oracle::side_of(l)))
      ADD_FAILURE() << "case " << k << ": " << fault;
    for (const std::vector<Cut>& cuts : l.spec().cuts)
      for (const Cut& cut : cuts) seen.insert({cut.pieces, cut.rule});
  }
  // Whole axes take every rule; strided and parts all but sizes and window; packed and strided-shard have their own.
  EXPECT_EQ(seen.size(), 8u + 2u * 6u + 2u);
}

TEST(LayoutProperty, TextRoundTripsAndFingerprintsFollowIt) {
  Random random(seed_from_environment() + 1);
  std::map<std::uint64_t, std::string> text_of;
  for (int k = 0; k < 4000 && !HasFailure(); ++k) {
    const Layout l = random_layout(random, random_shape(random), random_dtype(random));
    const Layout again = layout(l.text());
    EXPECT_EQ(again, l) << l.text();
    EXPECT_EQ(again.text(), l.text());
    EXPECT_EQ(again.fingerprint(), l.fingerprint()) << l.text();
    const auto [place, is_new] = text_of.try_emplace(l.fingerprint(), l.text());
    EXPECT_TRUE(is_new || place->second == l.text()) << place->second << " and " << l.text();
    EXPECT_TRUE(same_ownership(again, l)) << l.text();
  }
}

TEST(LayoutProperty, EqualLayoutsPrintEqually) {
  Random random(seed_from_environment() + 2);
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = random_shape(random);
    const Layout a = random_layout(random, shape, Dtype::f32);
    const Layout b = random_layout(random, shape, Dtype::f32);
    EXPECT_EQ(a == b, a.text() == b.text()) << a.text() << " and " << b.text();
    EXPECT_EQ(a == b, a.fingerprint() == b.fingerprint()) << a.text() << " and " << b.text();
  }
}

bool oracle_same(const Layout& a, const Layout& b) {
  return oracle::owner_bits(oracle::ownership_of(a)) == oracle::owner_bits(oracle::ownership_of(b));
}

TEST(LayoutProperty, SameOwnershipComparesWhatIsHeld) {
  Random random(seed_from_environment() + 3);
  int equal = 0;
  for (int k = 0; k < 3000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(0, 4)};
    const Layout a = random_layout(random, shape, Dtype::f32);
    const Layout b = random_layout(random, shape, Dtype::f32);
    EXPECT_EQ(same_ownership(a, b), oracle_same(a, b)) << a.text() << " and " << b.text();
    equal += oracle_same(a, b) ? 1 : 0;
  }
  EXPECT_GT(equal, 20);
}

TEST(LayoutProperty, TransposedIsTheSameMemory) {
  Random random(seed_from_environment() + 4);
  for (int k = 0; k < 1000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 5), random.between(1, 5), random.between(1, 3)};
    const Layout l = random_layout(random, shape, Dtype::f32);
    std::vector<int> order = {0, 1, 2};
    random.shuffle(order);
    const Layout t = l.transposed(order);
    for (int d = 0; d < 3; ++d)
      EXPECT_EQ(t.shape()[static_cast<std::size_t>(d)],
                shape[static_cast<std::size_t>(order[static_cast<std::size_t>(d)])]);
    for (const std::string& fault : oracle::layout_faults(t, oracle::side_of(t))) ADD_FAILURE() << fault;
    EXPECT_EQ(l.local_bytes(l.mesh().rank_at_ordinal(0)), t.local_bytes(l.mesh().rank_at_ordinal(0)));
  }
}

// The numbering of ranks, against the definition.
TEST(MeshProperty, CoordinatesAndRanksAreInverse) {
  Random random(seed_from_environment() + 5);
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    const Mesh m = random_mesh(random);
    std::set<RankId> ranks;
    for (Index ordinal = 0; ordinal < m.size(); ++ordinal) {
      const Coordinate coordinate = m.coordinate_at(ordinal);
      const RankId rank = m.rank_at(coordinate);
      ranks.insert(rank);
      EXPECT_EQ(m.coordinate_of(rank), coordinate) << m.text();
      EXPECT_LT(rank, m.end_rank());
    }
    EXPECT_EQ(static_cast<Index>(ranks.size()), m.size());
    for (RankId rank(0); rank <= m.end_rank(); ++rank) EXPECT_EQ(m.contains(rank), ranks.contains(rank)) << m.text();
    EXPECT_EQ(mesh(m.text()), m) << m.text();
  }
}

TEST(MeshProperty, StridesAndListsMeanWhatTheySay) {
  const std::vector<Axis> axes = {{"a", 2}, {"b", 3}};
  const Mesh strided = Mesh::strided("", axes, RankId(5), {1, 4});
  const Mesh listed = Mesh::listed("", axes, {RankId(9), RankId(0), RankId(4), RankId(2), RankId(7), RankId(1)});
  for (Index a = 0; a < 2; ++a)
    for (Index b = 0; b < 3; ++b) {
      EXPECT_EQ(strided.rank_at(Coordinate{a, b}), RankId(5 + a + 4 * b));
      EXPECT_EQ(listed.rank_at(Coordinate{a, b}),
                RankId((std::vector<Index>{9, 0, 4, 2, 7, 1})[static_cast<std::size_t>(3 * a + b)]));
    }
  // A list with a regular form is that form.
  EXPECT_EQ(Mesh::listed("", axes, {RankId(5), RankId(9), RankId(13), RankId(6), RankId(10), RankId(14)}), strided);
  EXPECT_THROW(Mesh::listed("", axes, {RankId(0), RankId(1), RankId(2), RankId(3), RankId(4), RankId(4)}), Error);
  EXPECT_THROW(Mesh::strided("", axes, RankId(0), {1, 1}), Error);
}

}  // namespace
}  // namespace reshard
