#include "reshard/unroll.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <random>

#include "reshard/builder.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Program& program, Index rank) {
  std::vector<std::string> list;
  for (const Operation& operation : program.operations.at(static_cast<std::size_t>(rank)))
    list.push_back(operation.label);
  return list;
}

std::string error_of(const SymbolicProgram& symbolic, const UnrollOptions& options) {
  try {
    unroll(symbolic, options);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

SymbolicProgram all_to_all() {
  return program("all_to_all", [](Kernel& k) {
    auto n = k.size("n", 3);
    auto x = k.input("x", Dtype::f32, {k.ranks(), n}), y = k.output("y", Dtype::f32, {k.ranks(), n});
    auto data = k.window("data", Dtype::f32, {k.ranks(), n});
    auto signal = k.signal("ready", {k.ranks()});
    k.each_rank([&](auto d) { k.put(data.row(k.me()).on(d), x.row(d)); });
    k.fence();
    k.each_peer([&](auto p) { k.notify(signal[k.me()].on(p), Add, 1); });
    k.each_peer([&](auto s) { k.wait(signal[s], Ge, k.call()); });
    k.each_rank([&](auto s) { k.copy(y.row(s), data.row(s)); });
  });
}

TEST(Unroll, OperationsSayWhatTheirAuthorWroteWithNumbers) {
  const Program unrolled = unroll(all_to_all(), {.ranks = 3});
  EXPECT_THAT(labels(unrolled, 1), ElementsAre("put data@0[1] <- x[0]", "put data@1[1] <- x[1]",
                                               "put data@2[1] <- x[2]", "fence", "notify ready@0[1] += 1",
                                               "notify ready@2[1] += 1", "wait ready[0] >= 1", "wait ready[2] >= 1",
                                               "copy y[0] <- data[0]", "copy y[1] <- data[1]", "copy y[2] <- data[2]"));
  const Operation& put = unrolled.operations[1][2];
  EXPECT_EQ(put.peer, RankId(2));
  EXPECT_EQ(unrolled.windows[static_cast<std::size_t>(put.target_window)].name, "data");
  EXPECT_THAT(put.blocks, ElementsAre(Block{24, 12, 12}));
}

TEST(Unroll, SizesAndOneRankAlone) {
  const Program unrolled = unroll(all_to_all(), {.ranks = 2, .sizes = {{"n", 5}}, .only = RankId(1)});
  EXPECT_TRUE(unrolled.operations[0].empty());
  EXPECT_THAT(unrolled.windows[0].bytes, ElementsAre(40, 40));
  EXPECT_EQ(unrolled.windows[0].role, BufferRole::input);
  EXPECT_EQ(error_of(all_to_all(), {.ranks = 2, .sizes = {{"m", 5}}}),
            "program all_to_all has no size m; its sizes are n");
}

// What a block touches, byte by byte.
std::vector<std::pair<Index, Index>> bytes_of_block(const Block& block) {
  std::vector<std::pair<Index, Index>> bytes;
  const std::function<void(std::size_t, Index, Index)> walk = [&](std::size_t loop, Index source, Index target) {
    if (loop == block.loops.size()) {
      for (Index i = 0; i < block.row_bytes; ++i) bytes.emplace_back(source + i, target + i);
      return;
    }
    for (Index i = 0; i < block.loops[loop].count; ++i)
      walk(loop + 1, source + i * block.loops[loop].source_stride, target + i * block.loops[loop].target_stride);
  };
  walk(0, block.source_offset, block.target_offset);
  std::ranges::sort(bytes);
  return bytes;
}

// Random boxes of 3-d buffers of different shapes, against the definition of row-major order.
TEST(Unroll, SlicesAreTheBytesTheyName) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](Index n) { return std::uniform_int_distribution<Index>(0, n - 1)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Index> counts, source_shape, target_shape, source_from, target_from;
    for (int dim = 0; dim < 3; ++dim) {
      counts.push_back(1 + below(3));
      source_from.push_back(below(3));
      target_from.push_back(below(3));
      source_shape.push_back(counts.back() + source_from.back() + below(2));
      target_shape.push_back(counts.back() + target_from.back() + below(2));
    }
    const auto range = [&](const std::vector<Index>& from, std::size_t dim) {
      return Range{from[dim], from[dim] + counts[dim]};
    };
    const Program unrolled =
        unroll(program("boxes",
                       [&](Kernel& k) {
                         auto x = k.input("x", Dtype::i16, {source_shape[0], source_shape[1], source_shape[2]});
                         auto y = k.output("y", Dtype::i16, {target_shape[0], target_shape[1], target_shape[2]});
                         k.copy(y.at(range(target_from, 0), range(target_from, 1), range(target_from, 2)),
                                x.at(range(source_from, 0), range(source_from, 1), range(source_from, 2)));
                       }),
               {.ranks = 1});
    std::vector<std::pair<Index, Index>> expected;
    for (Index i = 0; i < counts[0]; ++i)
      for (Index j = 0; j < counts[1]; ++j)
        for (Index l = 0; l < counts[2]; ++l)
          for (Index byte = 0; byte < 2; ++byte) {
            const auto at = [&](const std::vector<Index>& from, const std::vector<Index>& shape) {
              return 2 * (((from[0] + i) * shape[1] + from[1] + j) * shape[2] + from[2] + l) + byte;
            };
            expected.emplace_back(at(source_from, source_shape), at(target_from, target_shape));
          }
    std::ranges::sort(expected);
    const Operation& copy = unrolled.operations[0].at(0);
    ASSERT_EQ(copy.blocks.size(), 1u);
    ASSERT_EQ(bytes_of_block(copy.blocks[0]), expected) << copy.label;
  }
}

TEST(Unroll, ViewsAreTheirAllocation) {
  const Program unrolled = unroll(program("views",
                                          [](Kernel& k) {
                                            auto whole = k.window("whole", Dtype::f32, {4, 2});
                                            auto half = k.view("half", Dtype::f32, {2, 2}, whole, 16);
                                            auto quarter = k.view("quarter", Dtype::i32, {2}, half, 8);
                                            auto y = k.output("y", Dtype::i32, {2});
                                            k.copy(y, quarter);
                                          }),
                                  {.ranks = 1});
  const Operation& copy = unrolled.operations[0].at(0);
  EXPECT_EQ(copy.source_window, 0);
  EXPECT_THAT(copy.blocks, ElementsAre(Block{24, 0, 8}));
  EXPECT_EQ(unrolled.windows.size(), 2u);
}

TEST(Unroll, ErrorsQuoteStatementRankAndValues) {
  const auto with = [](const std::function<void(Kernel&, BufferRef, BufferRef, SignalRef)>& write) {
    return program("faulty", [&](Kernel& k) {
      auto x = k.input("x", Dtype::f32, {k.ranks(), 3});
      auto data = k.window("data", Dtype::f32, {k.ranks(), 3});
      auto signal = k.signal("ready", {k.ranks()});
      write(k, x, data, signal);
    });
  };
  EXPECT_EQ(
      error_of(with([](Kernel& k, auto x, auto data, auto) { k.put(data.row(k.me() + 1).on(0), x.row(0)); }),
               {.ranks = 2}),
      "program faulty, rank 1, `put data@0[me + 1] <- x[0]`: 2 of dimension 0 of data is outside [0, 2) on rank 0");
  EXPECT_EQ(error_of(with([](Kernel& k, auto x, auto data, auto) { k.put(data.row(0).on(k.me() + 1), x.row(0)); }),
                     {.ranks = 2}),
            "program faulty, rank 1, `put data@(me + 1)[0] <- x[0]`: `me + 1` is rank 2, outside [0, 2)");
  EXPECT_EQ(error_of(with([](Kernel& k, auto x, auto data, auto) { k.put(data.row(0).on(0), x); }), {.ranks = 2}),
            "program faulty, rank 0, `put data@0[0] <- x`: data@0[0] has shape [3], x has [2, 3]; they must agree");
  EXPECT_EQ(
      error_of(with([](Kernel& k, auto, auto, auto signal) { k.notify(signal[k.ranks()].on(0), Add, 1); }),
               {.ranks = 2}),
      "program faulty, rank 0, `notify ready@0[P] += 1`: index 2 of dimension 0 of signal ready is outside [0, 2)");
  EXPECT_EQ(error_of(with([](Kernel& k, auto, auto, auto signal) { k.wait(signal[0], Ge, k.me() - 1); }), {.ranks = 2}),
            "program faulty, rank 0, `wait ready[0] >= me - 1`: counters are unsigned and cannot be awaited at -1");
}

TEST(Unroll, ThresholdsThatGrowWithTheCallServeAllCalls) {
  const std::vector<Program> programs = unroll_all_calls(all_to_all(), {.ranks = 3});
  ASSERT_EQ(programs.size(), 1u);
  const Operation& wait = programs[0].operations[0].at(6);
  EXPECT_EQ(wait.value, 1u);
  EXPECT_EQ(wait.per_run, 1u);
}

TEST(Unroll, WindowsInTurnServeAllCallsInTwoPrograms) {
  const SymbolicProgram symbolic = program("turns", [](Kernel& k) {
    auto data = k.window("data", Dtype::u8, {2, 4});
    auto signal = k.signal("ready", {2});
    k.fill(data.row(k.call() % 2), 7);
    k.notify(signal[k.call() % 2].on(0), Set, 3 * k.call() + 1);
  });
  const std::vector<Program> programs = unroll_all_calls(symbolic, {.ranks = 1});
  ASSERT_EQ(programs.size(), 2u);
  for (Index call = 1; call <= 6; ++call) {
    const Program once = unroll(symbolic, {.ranks = 1, .call = call});
    const Program& always = programs[static_cast<std::size_t>((call - 1) % 2)];
    ASSERT_EQ(always.operations[0][0].blocks, once.operations[0][0].blocks) << call;
    const Operation& notify = always.operations[0][1];
    EXPECT_EQ(notify.slot, once.operations[0][1].slot) << call;
    EXPECT_EQ(notify.value + static_cast<std::uint64_t>(call - 1) * notify.per_run, once.operations[0][1].value)
        << call;
  }
}

TEST(Unroll, OtherUsesOfTheCallAreUnrolledEachTime) {
  const auto with = [](const std::function<void(Kernel&, SignalRef)>& write) {
    return program("calls", [&](Kernel& k) { write(k, k.signal("ready", {4})); });
  };
  const auto served = [](const SymbolicProgram& symbolic) { return unroll_all_calls(symbolic, {.ranks = 1}).size(); };
  EXPECT_EQ(served(with([](Kernel& k, auto s) { k.notify(s[0].on(0), Add, k.call() * k.call()); })), 0u);
  EXPECT_EQ(served(with([](Kernel& k, auto s) { k.wait(s[min(k.call(), 3)], Ge, 1); })), 0u);
  EXPECT_EQ(served(with([](Kernel& k, auto s) { k.when(k.call() > 1, [&] { k.wait(s[0], Ge, 1); }); })), 0u);
  EXPECT_EQ(served(with([](Kernel& k, auto s) { k.notify(s[(k.call() - 1) % 3].on(0), Add, 2 * k.call() - 1); })), 3u);
}

// Memory of one window of 32-bit integers.
class Integers final : public MemoryReader {
 public:
  explicit Integers(std::map<int, std::vector<Index>> values) : values_(std::move(values)) {}
  Index integer(int window, Index offset, Dtype) override {
    return values_.at(window).at(static_cast<std::size_t>(offset / 4));
  }

 private:
  std::map<int, std::vector<Index>> values_;
};

TEST(Unroll, DivisorsOfTheCallThatAreNoSizesGiveNoPeriod) {
  const auto served = [](std::string_view slot) {
    const std::string text = fmt::format("program calls\nsignal ready[8]\n\nnotify ready@me[{}] += 1\n", slot);
    return unroll_all_calls(parse_program(text), {.ranks = 3}).size();
  };
  EXPECT_EQ(served("call % P"), 3u);
  EXPECT_EQ(served("call % (me + 1)"), 0u);    // 1, 2 or 3 calls, by rank
  EXPECT_EQ(served("call % (call + 1)"), 0u);  // what would be the period of the first call alone
}

TEST(Unroll, MessagesMayTellOfTheCallAndOfMemory) {
  const auto with = [](std::string_view require) {
    return parse_program(
        fmt::format("program told\ninput c : i32[1]\nsignal ready[1]\n\n{}\nnotify ready@me[0] += 1\n", require));
  };
  EXPECT_EQ(unroll_all_calls(with("require c[0] < 3, \"{c[0]} is too much\""), {.ranks = 1}).size(), 1u);
  EXPECT_EQ(unroll_all_calls(with("require c[0] < 3, \"call {call} has {c[0]}\""), {.ranks = 1}).size(), 0u);
  // A condition that is known, told with what is not.
  const Program unrolled = unroll(with("require me > 0, \"rank {me} has {c[0]}\""), {.ranks = 1});
  ASSERT_EQ(unrolled.operations[0].at(0).code, OpCode::deferred);
  Integers memory(std::map<int, std::vector<Index>>{{0, {7}}});
  std::vector<Operation> operations;
  try {
    unrolled.operations[0][0].deferred->expand(memory, operations);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "program told: rank 0 has 7");
  }
}

SymbolicProgram gather() {
  return program("gather", [](Kernel& k) {
    auto x = k.input("x", Dtype::f32, {8, 2});
    auto index = k.input("index", Dtype::i32, {2, 4});
    auto counts = k.input("counts", Dtype::i32, {2});
    auto target = k.window("target", Dtype::f32, {8, 2});
    k.each_rank(
        [&](auto d) {
          k.each(
              0, counts.row(d).value(),
              [&](auto j) { k.put(target.row(k.me() * 4 + j).on(d), x.row(index.at(d, j).value())); }, "j");
        },
        "d");
    k.require(counts.row(0).value() <= 4, "count {counts[0]} of rank {me} exceeds {2 + 2}");
  });
}

TEST(Unroll, WhatMemoryDecidesWaitsUntilItIsReachedAndRowsThatFollowAreOne) {
  const Program unrolled = unroll(gather(), {.ranks = 2});
  EXPECT_THAT(labels(unrolled, 1),
              ElementsAre("for j in 0..counts[0]", "for j in 0..counts[1]",
                          "require counts[0] <= 4, \"count {counts[0]} of rank {me} exceeds {2 + 2}\""));
  Integers memory({{1, {5, 6, 2, -1, 0, 0, -9, -9}}, {2, {3, 2}}});
  std::vector<Operation> operations;
  unrolled.operations[1][0].deferred->expand(memory, operations);
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0].peer, RankId(0));
  EXPECT_THAT(operations[0].blocks, ElementsAre(Block{40, 32, 16}, Block{16, 48, 8}));  // rows 5, 6 to 4, 5; row 2 to 6
  unrolled.operations[1][1].deferred->expand(memory, operations);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_THAT(operations[1].blocks, ElementsAre(Block{0, 32, 8}, Block{0, 40, 8}));  // row 0 twice
}

// What the first operation of the program, which follows from memory, becomes.
std::vector<Operation> expanded(const std::string& text, std::map<int, std::vector<Index>> values) {
  Integers memory(std::move(values));
  std::vector<Operation> operations;
  unroll(parse_program(text), {.ranks = 2}).operations[0].at(0).deferred->expand(memory, operations);
  return operations;
}

TEST(Unroll, RowsWhoseOrderMattersStayApart) {
  const std::string head = "program rows\ninput c : i32[1]\nwindow a : i32[8]\nwindow b : i32[8]\nlocal l : i32[8]\n";
  const auto count = [&](std::string_view move) {
    return expanded(head + fmt::format("\nfor k in 0..c[0] {{ {} }}\n", move), {{0, {3}}}).size();
  };
  EXPECT_EQ(count("put a@1[2 * k] <- l[k]"), 1u);
  EXPECT_EQ(count("put a@1[0] <- l[k]"), 3u);                // which comes last?
  EXPECT_EQ(count("put a@1[k..k + 2] <- l[k..k + 2]"), 3u);  // the same, in part
  EXPECT_EQ(count("put a@1[6 - 2 * k..8 - 2 * k] <- l[0..2]"), 1u);
  EXPECT_EQ(count("copy a[k + 1] <- a[k]"), 3u);  // each reads what the last one wrote
  EXPECT_EQ(count("put a@0[k + 1] <- a[k]"), 3u);
  EXPECT_EQ(count("put a@1[k + 1] <- a[k]"), 1u);  // another rank's
  EXPECT_EQ(count("copy b[k + 1] <- a[k]"), 1u);
}

TEST(Unroll, LoopsThatWriteWhatTheyReadThroughAViewReadItInTurn) {
  const std::string text =
      "program view\ninput c : i32[1]\nlocal index : i32[4]\nview same : i32[4] of index\nlocal x : i32[4]\n\n"
      "for k in 0..c[0] { copy same[k + 1] <- x[index[k]] }\n";
  const std::vector<Operation> operations = expanded(text, {{0, {3}}, {1, {0, 0, 0, 0}}});
  ASSERT_EQ(operations.size(), 3u);
  for (const Operation& operation : operations) EXPECT_EQ(operation.code, OpCode::deferred);
}

// Every row goes where its list says, in whatever blocks; a list of 40 random rows, against the definition.
TEST(Unroll, RowsOfALoopAreWhereTheirListSays) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const SymbolicProgram symbolic = program("rows", [](Kernel& k) {
    auto x = k.input("x", Dtype::i16, {9, 3, 2});
    auto index = k.input("index", Dtype::i32, {40});
    auto count = k.input("count", Dtype::i32, {1});
    auto y = k.window("y", Dtype::i16, {80, 2});
    k.each(0, count.row(0).value(),
           [&](auto j) { k.put(y.row(2 * j + k.me()).on(1), x.at(index.row(j).value(), j % 3)); });
  });
  std::vector<Index> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(std::uniform_int_distribution<Index>(0, 8)(random));
  Integers memory({{1, rows}, {2, {40}}});
  std::vector<Operation> operations;
  unroll(symbolic, {.ranks = 2}).operations[1][0].deferred->expand(memory, operations);
  std::vector<std::pair<Index, Index>> moved, expected;
  for (const Operation& operation : operations)
    for (const Block& block : operation.blocks) std::ranges::copy(bytes_of_block(block), std::back_inserter(moved));
  for (Index j = 0; j < 40; ++j)
    for (Index byte = 0; byte < 4; ++byte)
      expected.emplace_back((rows[static_cast<std::size_t>(j)] * 3 + j % 3) * 4 + byte, (2 * j + 1) * 4 + byte);
  std::ranges::sort(moved);
  std::ranges::sort(expected);
  EXPECT_EQ(moved, expected);
  EXPECT_EQ(operations.size(), 1u);

  rows[30] = 9;
  Integers wrong({{1, rows}, {2, {40}}});
  try {
    unroll(symbolic, {.ranks = 2}).operations[1][0].deferred->expand(wrong, operations);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "program rows, rank 1, `put y@1[2 * i + me] <- x[index[i], i % 3]`: 9 of dimension 0 of x "
                 "is outside [0, 9) on rank 1");
  }
}

TEST(Unroll, RequirementsSayWhatTheyFound) {
  const Program unrolled = unroll(gather(), {.ranks = 2});
  Integers memory({{2, {7, 0}}});
  std::vector<Operation> operations;
  try {
    unrolled.operations[1][2].deferred->expand(memory, operations);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "program gather: count 7 of rank 1 exceeds 4");
  }
}

TEST(Unroll, WhatComesAfterALetOfAnElementIsReadWhereItStands) {
  const Program unrolled = unroll(program("lets",
                                          [](Kernel& k) {
                                            auto counts = k.input("counts", Dtype::i32, {2});
                                            auto y = k.output("y", Dtype::i32, {4});
                                            auto n = k.let("n", counts.row(0).value());
                                            k.fill(y.row(n), n * 2);
                                            k.fill(y.row(0), 1);
                                          }),
                                  {.ranks = 1});
  ASSERT_THAT(labels(unrolled, 0), ElementsAre("let n = counts[0]"));
  Integers memory({{0, {3, 0}}});
  std::vector<Operation> operations;
  unrolled.operations[0][0].deferred->expand(memory, operations);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].label, "fill y[3] <- 6");
  EXPECT_EQ(operations[1].label, "fill y[0] <- 1");
}

TEST(Unroll, CastsAndAccumulatingGetsPassThroughABufferOfTheirOwn) {
  const Program unrolled =
      unroll(program("through",
                     [](Kernel& k) {
                       auto narrow = k.window("narrow", Dtype::bf16, {3});
                       auto wide = k.local("wide", Dtype::f32, {3});
                       k.statement({DataMove{OpCode::put, narrow.on(1).slice(), wide.slice(), {}, true}});
                       k.statement({DataMove{OpCode::get, wide.slice(), narrow.on(1).slice(), ReduceOp::sum, true}});
                     }),
             {.ranks = 2});
  std::vector<OpCode> codes;
  for (const Operation& operation : unrolled.operations[0]) codes.push_back(operation.code);
  EXPECT_THAT(codes, ElementsAre(OpCode::cast, OpCode::put, OpCode::get, OpCode::cast, OpCode::reduce));
  EXPECT_EQ(unrolled.windows.back().name, "scratch");
  EXPECT_EQ(unrolled.windows.back().bytes[0], 16 + 16 + 12);
}

// Rows of 300 bf16 in tiles of 256 KiB, which hold 436 of these 600 bytes; rows of 400,000 are cut themselves. Every
// element is fetched once and cast once, and one small buffer serves all tiles.
TEST(Unroll, GetsThatCastComeInTilesThatStayInTheCache) {
  for (const auto& [rows, row, tiles] :
       {std::tuple<Index, Index, Index>{436, 300, 1}, {437, 300, 2}, {3, 400'000, 12}}) {
    const Program unrolled =
        unroll(program("tiles",
                       [&](Kernel& k) {
                         auto narrow = k.window("narrow", Dtype::bf16, {rows, row});
                         auto wide = k.output("wide", Dtype::f32, {rows, row});
                         k.statement({DataMove{OpCode::get, wide.slice(), narrow.on(1).slice(), {}, true}});
                       }),
               {.ranks = 2});
    const std::vector<Operation>& operations = unrolled.operations[0];
    ASSERT_EQ(std::ssize(operations), 2 * tiles);
    Index bytes = 0, elements = 0;
    for (std::size_t k = 0; k < operations.size(); k += 2) {
      ASSERT_EQ(operations[k].code, OpCode::get);
      ASSERT_EQ(operations[k + 1].code, OpCode::cast);
      const Block& block = operations[k].blocks.at(0);
      const Reduction& cast = operations[k + 1].reductions.at(0);
      EXPECT_EQ(block.source_offset, bytes) << "tile " << k / 2;
      EXPECT_EQ(block.target_offset, 0);
      EXPECT_EQ(cast.terms.at(0).offset, 0);
      EXPECT_EQ(cast.result.offset, 2 * bytes);
      bytes += block.bytes();
      Index count = 1;
      for (const Index each : cast.counts) count *= each;
      elements += count;
    }
    EXPECT_EQ(bytes, rows * row * 2);
    EXPECT_EQ(elements, rows * row);
    EXPECT_LE(unrolled.windows.back().bytes[0], 256 << 10);
  }
}

TEST(Unroll, LoopsWithoutEndAreRefused) {
  const SymbolicProgram symbolic = parse_program("program p\nsize n = 1099511627776\nfor i in 0..n { let a = i }\n");
  EXPECT_EQ(error_of(symbolic, {.ranks = 1}),
            "program p, rank 0: more than 8388608 statements in one go; use slices instead of loops, or smaller sizes");
}

TEST(Contents, InitAndExpectSpeakOfTheSameElements) {
  const SymbolicProgram symbolic = program("contents", [](Kernel& k) {
    auto x = k.input("x", Dtype::i64, {k.ranks(), 2}), y = k.output("y", Dtype::i64, {k.ranks(), 2});
    k.init(x, [&](auto e, auto j) { return k.call() * 1000 + k.me() * 100 + e * 10 + j; });
    k.expect(y, [&](auto s, auto j) { return x.on(s).at(k.me(), j).value(); });
  });
  std::vector<std::byte> bytes(32);
  ASSERT_TRUE(fill_initial(symbolic, {.ranks = 2, .call = 3}, RankId(1), 0, bytes));
  std::vector<Index> values;
  for (int i = 0; i < 4; ++i) values.push_back(read_element(Dtype::i64, bytes.data() + 8 * i));
  EXPECT_THAT(values, ElementsAre(3100, 3101, 3110, 3111));
  EXPECT_FALSE(fill_initial(symbolic, {.ranks = 2, .call = 3}, RankId(1), 1, bytes));
  const std::vector<Expectation> expected = expectations(symbolic, {.ranks = 2, .call = 3, .only = RankId(1)});
  ASSERT_EQ(expected.size(), 4u);
  EXPECT_EQ(
      expected[1],
      (Expectation{RankId(1),
                   1,
                   8,
                   Dtype::i64,
                   {.kind = Term::Kind::input, .rank = RankId(0), .window = 0, .offset = 24, .dtype = Dtype::i64}}));
}

TEST(Contents, WhatIsExpectedOfAViewHasTheDtypeOfTheView) {
  const SymbolicProgram symbolic = program("views", [](Kernel& k) {
    auto x = k.input("x", Dtype::i64, {2}), y = k.output("y", Dtype::i32, {2});
    auto low = k.view("low", Dtype::i32, {2}, x, 8);
    k.expect(y, [&](auto j) { return low.row(j).value(); });
  });
  const std::vector<Expectation> expected = expectations(symbolic, {.ranks = 1});
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[1].value.offset, 12);
  EXPECT_EQ(expected[1].value.dtype, Dtype::i32);
}

TEST(Contents, FoldsAndConditionsThatReadInputs) {
  const SymbolicProgram symbolic = program("folds", [](Kernel& k) {
    auto x = k.input("x", Dtype::i32, {2}), counts = k.input("counts", Dtype::i32, {1}),
         y = k.output("y", Dtype::i32, {2});
    k.init(counts, [&](auto) { return k.me(); });
    k.expect_rule(
        {"y",
         {"j"},
         Expression::make(Expression::Kind::fold,
                          {0, k.ranks(), x.on(Expression::variable("s")).row(Expression::variable("j")).value()}, "s"),
         Expression::variable("j") < counts.row(0).value()});
  });
  EXPECT_EQ(expectations(symbolic, {.ranks = 2, .only = RankId(0)}).size(), 0u);
  const std::vector<Expectation> expected = expectations(symbolic, {.ranks = 2, .only = RankId(1)});
  ASSERT_EQ(expected.size(), 1u);
  EXPECT_EQ(expected[0].value.kind, Term::Kind::fold);
  EXPECT_EQ(expected[0].value.terms.size(), 2u);
}

TEST(Contents, ElementsOfEveryDtypeComeBack) {
  for (const Dtype dtype : all_dtypes()) {
    for (const Index value : {0, 1, 7, 14}) {
      std::byte at[16]{};
      write_element(dtype, value, at);
      const Index kept = dtype == Dtype::boolean ? value != 0 : value;
      EXPECT_EQ(read_element(dtype, at), kept) << name_of(dtype) << " " << value;
    }
  }
  std::byte at[8]{};
  write_element(Dtype::i64, std::numeric_limits<Index>::min(), at);
  EXPECT_EQ(read_element(Dtype::i64, at), std::numeric_limits<Index>::min());
}

}  // namespace
}  // namespace reshard
