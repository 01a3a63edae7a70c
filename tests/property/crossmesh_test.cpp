// Every pair of small layouts between meshes of any size, on the same ranks, on half the same and on none: planned,
// proved, at the lower bound, and the same for each rank that plans alone (plan.crossmesh). A seeded one in a hundred
// is carried out on threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "oracle/index_sets.h"
#include "property/all_layouts.h"
#include "property/random.h"
#include "reshard/plan.h"
#include "reshard/world.h"

namespace reshard {
namespace {

constexpr int parts = 8;

// Even, uneven, and smaller than the mesh.
std::vector<std::vector<Index>> shapes_for(const SmallLayout& a, const SmallLayout& b, int dims) {
  const Index even = std::lcm(a.ranks(), b.ranks()), few = std::max<Index>(1, std::max(a.ranks(), b.ranks()) - 1);
  std::vector<std::vector<Index>> shapes = {{even, 2 * even, even}, {13, 11, 7}, {few, 2, 3}};
  for (std::vector<Index>& shape : shapes) shape.resize(static_cast<std::size_t>(dims));
  return shapes;
}

// This part's share of all ordered pairs: visit(source, target, shape, first rank of the target's mesh).
template <class Visit>
void each_pair(int part, int dims, Visit visit) {
  const std::vector<SmallLayout> all = all_small_layouts(dims);
  std::size_t number = 0;
  for (const SmallLayout& a : all)
    for (const SmallLayout& b : all) {
      if (number++ % parts != static_cast<std::size_t>(part)) continue;
      for (const std::vector<Index>& shape : shapes_for(a, b, dims))
        for (const Index base : {Index{0}, (a.ranks() + 1) / 2, a.ranks()}) visit(a, b, shape, RankId(base));
    }
}

struct Prepared {
  Layout layout;
  oracle::Holdings holdings;
};

// Each layout made once, with what the oracle says of it.
class Shelf {
 public:
  const Prepared& get(const SmallLayout& small, const std::vector<Index>& shape, RankId base) {
    std::unique_ptr<Prepared>& entry = prepared_[{small.mesh, small.cuts, shape, base}];
    if (!entry) {
      Layout layout = layout_of(small, shape, base);
      oracle::Holdings holdings = oracle::holdings_of(layout);
      entry = std::make_unique<Prepared>(Prepared{std::move(layout), std::move(holdings)});
    }
    return *entry;
  }

 private:
  std::map<std::tuple<std::vector<Index>, AxisOrders, std::vector<Index>, RankId>, std::unique_ptr<Prepared>> prepared_;
};

std::string describe(const Plan& plan) { return plan.source().text() + "  ->  " + plan.target().text(); }

// Bytes received are those that the rank lacks, counted by the oracle and by the certificate.
void expect_least(const Plan& plan, const Prepared& source, const Prepared& target) {
  std::map<Index, Index> received;
  for (const Transfer& transfer : plan.transfers())
    if (!transfer.is_local()) received[transfer.target.value()] += transfer.elements();
  for (const RankBytes& rank : plan.certificate().ranks) {
    const auto held = source.holdings.find(rank.rank.value());
    const auto wanted = target.holdings.find(rank.rank.value());
    const Index lacking =
        wanted == target.holdings.end()
            ? 0
            : oracle::missing(held == source.holdings.end() ? nullptr : &held->second, wanted->second);
    const Index bytes = lacking * bytes_of(plan.source().dtype());
    ASSERT_EQ(received[rank.rank.value()], lacking) << describe(plan) << " rank " << rank.rank.value();
    ASSERT_EQ(std::tuple(rank.received, rank.needed), std::tuple(bytes, bytes))
        << describe(plan) << " certificate of rank " << rank.rank.value();
  }
}

void expect_equal(const Plan& plan, const std::vector<const Transfer*>& whole, const std::vector<Transfer>& own,
                  RankId rank, const char* side) {
  const auto same = [](const Transfer* a, const Transfer& b) { return *a == b; };
  ASSERT_TRUE(std::ranges::equal(whole, own, same)) << describe(plan) << " " << side << " of rank " << rank.value();
}

// What each rank works out alone is its part of the whole plan, in the same order: so both ends of every message agree.
void expect_own_ends(const Plan& plan) {
  const RankId end = std::max(plan.source().mesh().end_rank(), plan.target().mesh().end_rank());
  std::vector<std::vector<const Transfer*>> sends(static_cast<std::size_t>(end.value())), receives(sends.size());
  for (const Transfer& transfer : plan.transfers()) {
    sends[static_cast<std::size_t>(transfer.source.value())].push_back(&transfer);
    receives[static_cast<std::size_t>(transfer.target.value())].push_back(&transfer);
  }
  for (RankId rank(0); rank < end; ++rank) {
    const auto at = static_cast<std::size_t>(rank.value());
    expect_equal(plan, receives[at], plan_receives(plan.source(), plan.target(), rank), rank, "receives");
    expect_equal(plan, sends[at], plan_sends(plan.source(), plan.target(), rank), rank, "sends");
  }
}

void expect_right(const Prepared& source, const Prepared& target) {
  const Plan made = plan(source.layout, target.layout);
  for (const Fault& fault : verify(made)) ADD_FAILURE() << describe(made) << ": " << fault.message;
  expect_least(made, source, target);
  expect_own_ends(made);
}

class CrossMesh : public testing::TestWithParam<int> {
 protected:
  void check_all(int dims) {
    Shelf shelf;
    Index plans = 0;
    each_pair(GetParam(), dims,
              [&](const SmallLayout& a, const SmallLayout& b, const std::vector<Index>& shape, RankId base) {
                if (HasFailure()) return;
                expect_right(shelf.get(a, shape, RankId(0)), shelf.get(b, shape, base));
                ++plans;
              });
    RecordProperty("plans", std::to_string(plans));
    fmt::print("plans verified: {} ({}-D, part {} of {})\n", plans, dims, GetParam() + 1, parts);
  }
};

TEST_P(CrossMesh, EveryPairOfOneAndTwoDimensionalLayouts) {
  check_all(1);
  check_all(2);
}

TEST_P(CrossMesh, EveryPairOfThreeDimensionalLayouts) { check_all(3); }

TEST(CrossMeshCounts, AreThoseOfThePairs) {
  Index plans = 0;
  for (int part = 0; part < parts; ++part)
    for (int dims = 1; dims <= 3; ++dims) each_pair(part, dims, [&](auto&&...) { ++plans; });
  EXPECT_EQ(plans, (57 * 57 + 128 * 128 + 233 * 233) * 3 * 3);
}

struct Move {
  Layout source;
  Layout target;
  Index number = 0;  // from 1; part of every value
  Index ranks() const { return std::max(source.mesh().end_rank(), target.mesh().end_rank()).value(); }
};

constexpr Index nobodys = -1;

// Linear indices of what `rank` holds, in the order of its memory.
class Contents {
 public:
  Contents(const Layout& layout, RankId rank) : shape_(layout.shape()) {
    const auto coordinate = layout.mesh().coordinate_of(rank);
    if (!coordinate) return;
    lines_ = oracle::stored_lines(layout, *coordinate);
    add(0, 0);
  }
  const std::vector<Index>& elements() const { return elements_; }

 private:
  void add(std::size_t dim, Index linear) {
    if (dim == lines_.size()) return elements_.push_back(linear);
    for (const Index index : lines_[dim]) add(dim + 1, linear * shape_[dim] + index);
  }
  std::vector<Index> shape_;
  std::vector<oracle::Line> lines_;
  std::vector<Index> elements_;
};

std::span<Index> values(Tensor& tensor) {
  return {reinterpret_cast<Index*>(tensor.bytes().data()), tensor.bytes().size() / sizeof(Index)};
}

Index value_of(const Move& move, Index linear) { return (move.number << 32) + linear; }

// Runs on every rank at once: reports by throwing.
void carry_out(World& world, const Move& move) {
  Tensor source = world.allocate(move.source), target = world.allocate(move.target);
  const Contents held(move.source, world.rank()), wanted(move.target, world.rank());
  const auto check_size = [&](Tensor& tensor, const Contents& contents) {
    if (values(tensor).size() == contents.elements().size()) return;
    throw std::logic_error(fmt::format("rank {}: {} has {} elements of {}", world.rank().value(), tensor.layout_text(),
                                       values(tensor).size(), contents.elements().size()));
  };
  check_size(source, held);
  check_size(target, wanted);
  for (std::size_t k = 0; k < held.elements().size(); ++k) values(source)[k] = value_of(move, held.elements()[k]);
  std::ranges::fill(values(target), nobodys);
  redistribute(world, source, target);
  for (std::size_t k = 0; k < wanted.elements().size(); ++k)
    if (values(target)[k] != value_of(move, wanted.elements()[k]))
      throw std::logic_error(
          fmt::format("{}  ->  {} rank {}: address {} holds element {} of move {}, expected element {} of move {}",
                      move.source.text(), move.target.text(), world.rank().value(), k, values(target)[k] & 0xffffffff,
                      values(target)[k] >> 32, wanted.elements()[k], move.number));
}

// One in a hundred of this part's pairs, by the number of ranks that each needs: a team of threads carries out many.
TEST_P(CrossMesh, OneInAHundredOnThreads) {
  Random random(seed_from_environment() + static_cast<unsigned>(GetParam()));
  std::map<Index, std::vector<Move>> by_ranks;
  Index number = 0;
  for (int dims = 1; dims <= 3; ++dims)
    each_pair(GetParam(), dims,
              [&](const SmallLayout& a, const SmallLayout& b, const std::vector<Index>& shape, RankId base) {
                if (!random.one_in(100)) return;
                Move move{layout_of(a, shape, RankId(0)).with_dtype(Dtype::i64),
                          layout_of(b, shape, base).with_dtype(Dtype::i64), ++number};
                const Index ranks = move.ranks();
                by_ranks[ranks].push_back(std::move(move));
              });
  for (const auto& [ranks, moves] : by_ranks)
    ASSERT_NO_THROW(thread_ranks(ranks,
                                 [&](World& world) {
                                   for (const Move& move : moves) carry_out(world, move);
                                 },
                                 {.timeout = std::chrono::minutes(2)}));
  RecordProperty("moves", std::to_string(number));
  fmt::print("moves on threads: {} (part {} of {})\n", number, GetParam() + 1, parts);
}

INSTANTIATE_TEST_SUITE_P(Parts, CrossMesh, testing::Range(0, parts));

}  // namespace
}  // namespace reshard
