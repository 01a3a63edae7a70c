#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "reshard/error.h"
#include "reshard/program.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Span span(Index source, Index target, Index length) { return {LocalIndex(source), LocalIndex(target), length}; }

Transfer transfer(std::vector<std::vector<Span>> dims) { return {RankId(0), RankId(1), std::move(dims)}; }

LocalStorage storage(std::vector<Index> strides, Index offset = 0) { return {{}, std::move(strides), offset, 0}; }

// Source byte of every target byte.
using ByteMap = std::map<Index, Index>;

void expand(const Block& b, std::size_t loop, Index source, Index target, ByteMap& map) {
  if (loop < b.loops.size()) {
    const Loop& l = b.loops[loop];
    for (Index i = 0; i < l.count; ++i) {
      expand(b, loop + 1, source + i * l.source_stride, target + i * l.target_stride, map);
    }
    return;
  }
  for (Index i = 0; i < b.row_bytes; ++i) {
    const bool fresh = map.emplace(target + i, source + i).second;
    ASSERT_TRUE(fresh) << "target byte " << target + i << " is written twice";
  }
}

ByteMap expand(const std::vector<Block>& blocks) {
  ByteMap map;
  for (const Block& b : blocks) expand(b, 0, b.source_offset, b.target_offset, map);
  return map;
}

// Element by element, straight from the definition of a transfer.
void oracle(const Transfer& t, Index bytes, const LocalStorage& s, const LocalStorage& d, std::size_t dim, Index source,
            Index target, ByteMap& map) {
  if (dim == t.dims.size()) {
    for (Index i = 0; i < bytes; ++i) map[target * bytes + i] = source * bytes + i;
    return;
  }
  for (const Span& sp : t.dims[dim]) {
    for (Index i = 0; i < sp.length; ++i) {
      oracle(t, bytes, s, d, dim + 1, source + (sp.source.value() + i) * s.strides[dim],
             target + (sp.target.value() + i) * d.strides[dim], map);
    }
  }
}

ByteMap oracle(const Transfer& t, Index bytes, const LocalStorage& s, const LocalStorage& d) {
  ByteMap map;
  oracle(t, bytes, s, d, 0, s.offset, d.offset, map);
  return map;
}

TEST(Block, WholeRowsOfBothSidesAreOneRow) {
  // Rows 2..3 of a 4x8 buffer to rows 0..1 of a 2x8 one, 4 bytes each.
  const auto blocks = blocks_of(transfer({{span(2, 0, 2)}, {span(0, 0, 8)}}), 4, storage({8, 1}), storage({8, 1}));
  EXPECT_THAT(blocks, ElementsAre(Block{64, 0, 64, {}}));
}

TEST(Block, PartOfARowIsALoopOverRows) {
  const auto blocks = blocks_of(transfer({{span(0, 2, 2)}, {span(4, 0, 4)}}), 4, storage({8, 1}), storage({4, 1}));
  EXPECT_THAT(blocks, ElementsAre(Block{16, 32, 16, {{2, 32, 16}}}));
}

TEST(Block, UniformSpansAreOneLoop) {
  // Every third row of the source becomes the target's rows, as with a cyclic cut.
  std::vector<Span> rows;
  for (Index i = 0; i < 250; ++i) rows.push_back(span(3 * i, i, 1));
  const auto blocks = blocks_of(transfer({rows, {span(0, 0, 64)}}), 4, storage({64, 1}), storage({64, 1}));
  EXPECT_THAT(blocks, ElementsAre(Block{0, 0, 256, {{250, 768, 256}}}));
}

TEST(Block, UnlikeSpansAreBlocksOfTheirOwn) {
  const auto blocks =
      blocks_of(transfer({{span(0, 0, 1), span(2, 1, 2), span(6, 3, 2)}}), 8, storage({1}), storage({1}));
  EXPECT_THAT(blocks, ElementsAre(Block{0, 0, 8, {}}, Block{16, 8, 16, {{2, 32, 16}}}));
}

TEST(Block, RowMajorToColumnMajorMovesElements) {
  const auto blocks = blocks_of(transfer({{span(0, 0, 2)}, {span(0, 0, 3)}}), 4, storage({3, 1}), storage({1, 2}));
  EXPECT_THAT(blocks, ElementsAre(Block{0, 0, 4, {{3, 4, 8}, {2, 12, 4}}}));
}

TEST(Block, ColumnMajorOnBothSidesKeepsItsRows) {
  const auto blocks = blocks_of(transfer({{span(0, 0, 5)}, {span(1, 0, 3)}}), 2, storage({1, 5}), storage({1, 5}));
  EXPECT_THAT(blocks, ElementsAre(Block{10, 0, 30, {}}));
}

TEST(Block, ScalarIsOneElement) {
  EXPECT_THAT(blocks_of(transfer({}), 16, storage({}, 3), storage({}, 1)), ElementsAre(Block{48, 16, 16, {}}));
}

TEST(Block, NothingToMoveIsNoBlock) {
  EXPECT_TRUE(blocks_of(transfer({{span(0, 0, 2)}, {}}), 4, storage({3, 1}), storage({3, 1})).empty());
}

TEST(Block, StorageOfOtherRankIsRefused) {
  try {
    blocks_of(transfer({{span(0, 0, 2)}}), 4, storage({3, 1}), storage({1}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("transfer 0 -> 1 has 1 dimensions but the source storage has 2 strides"));
  }
}

class RandomBlocks : public testing::TestWithParam<unsigned> {
 protected:
  Index pick(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random_); }

  // Uniform stretches and odd ones, with and without gaps on either side; sometimes a source order of its own.
  std::vector<Span> spans() {
    std::vector<Span> result;
    Index source = pick(0, 2), target = pick(0, 2);
    for (Index stretch = pick(1, 3); stretch > 0; --stretch) {
      const Index length = pick(1, 3), source_gap = pick(0, 2), target_gap = pick(0, 1);
      for (Index i = pick(1, 4); i > 0; --i) {
        result.push_back(span(source, target, length));
        source += length + source_gap;
        target += length + target_gap;
      }
    }
    if (pick(0, 3) == 0) {
      const Index end = source;
      for (Span& s : result) s.source = LocalIndex(end - s.source.value() - s.length);
    }
    return result;
  }

  // Dimensions in random order, rows possibly wider than needed.
  LocalStorage storage_for(const std::vector<Index>& extents) {
    std::vector<std::size_t> order(extents.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    if (pick(0, 1) == 0) std::shuffle(order.begin(), order.end(), random_);
    LocalStorage result{extents, std::vector<Index>(extents.size()), pick(0, 3), 0};
    Index stride = 1;
    for (std::size_t k = order.size(); k-- > 0;) {
      result.strides[order[k]] = stride;
      stride *= extents[order[k]] + (pick(0, 3) == 0 ? pick(1, 2) : 0);
    }
    return result;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(RandomBlocks, CarryTheBytesOfTheTransfer) {
  SCOPED_TRACE(testing::Message() << "seed " << GetParam());
  for (int round = 0; round < 200; ++round) {
    const auto dims = static_cast<std::size_t>(pick(0, 3));
    std::vector<std::vector<Span>> lists(dims);
    std::vector<Index> source_extents(dims), target_extents(dims);
    for (std::size_t d = 0; d < dims; ++d) {
      lists[d] = spans();
      for (const Span& s : lists[d]) {
        source_extents[d] = std::max(source_extents[d], s.source.value() + s.length);
        target_extents[d] = std::max(target_extents[d], s.target.value() + s.length);
      }
    }
    const Transfer t = transfer(lists);
    const LocalStorage s = storage_for(source_extents), d = storage_for(target_extents);
    const Index bytes = Index{1} << pick(0, 4);
    const auto blocks = blocks_of(t, bytes, s, d);
    EXPECT_EQ(expand(blocks), oracle(t, bytes, s, d)) << "round " << round;
    Index total = 0;
    for (const Block& b : blocks) {
      total += b.bytes();
      for (const Loop& l : b.loops) EXPECT_GT(l.count, 1);
    }
    Index elements = 1;
    for (const auto& list : lists) {
      Index length = 0;
      for (const Span& sp : list) length += sp.length;
      elements *= length;
    }
    EXPECT_EQ(total, elements * bytes);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBlocks, testing::Range(0u, 5u));

}  // namespace
}  // namespace reshard
