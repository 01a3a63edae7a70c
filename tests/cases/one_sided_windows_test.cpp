// Class G: order and reuse of signals and windows. Delays are schedules: see program_cases.h.
#include <gtest/gtest.h>

#include "cases/program_cases.h"

namespace reshard {
namespace {

// Tiles go from rank 0 to rank 1, each with a step of one counter. STEP and SUM are what a tile adds, and all tiles of
// a call.
constexpr std::string_view kTiles = R"(
program tiles
size tiles = 5
input x : i64[tiles, 2]
output y : i64[tiles, 2]
window data : i64[tiles, 2]
signal full[1]
signal read[1]
init x[t, j] = call * 1000000 + me * 100000 + t * 1000 + j
expect y[t, j] = x@0[t, j] if me == 1

if me == 0 {
  wait read[0] >= call - 1
  for t in 0..tiles {
    put data@1[t] <- x[t]
    fence
    notify full@1[0] += STEP
  }
} else {
  for t in 0..tiles {
    wait full[0] >= (call - 1) * SUM + t + 1
    copy y[t] <- data[t]
  }
  notify read@0[0] += 1
}
)";

std::string tiles(std::string_view step, std::string_view sum) {
  return with(with(std::string(kTiles), "STEP", step), "SUM", sum);
}

// At tile k the counter already holds k (k + 1) / 2: 0, 1, 3, and from there on more than the k + 1 that is asked for.
TEST(CaseG, G1_GrowingAddPlusGrowingThresholdStopsBlockingAtTheThirdTile) {
  const std::string growing = tiles("t + 1", "tiles * (tiles + 1) / 2");
  EXPECT_EQ(fault_of(growing, 2, 1, {{"tiles", 2}}), std::nullopt);
  EXPECT_EQ(fault_of(growing, 2, 1, {{"tiles", 3}}), CheckFault::race);
  EXPECT_EQ(fault_of(growing, 2, 1), CheckFault::race);
  EXPECT_GT(wrong_schedules(growing, 2, RankId(0)), 0);
}

TEST(CaseG, G1_OneForEachTileBlocksUntilItIsThere) {
  const std::string by_one = tiles("1", "tiles");
  EXPECT_EQ(fault_of(by_one, 2, 2), std::nullopt);
  EXPECT_EQ(wrong_schedules(by_one, 2, RankId(0)), 0);
  expect_right(by_one, 2);
}

constexpr std::string_view kTwice = R"(
program twice
size n = 2
size m = 3
input x : i64[P * m, n]
input counts : i64[P]
output first : i64[P * m, n]
output second : i64[P * m, n]
output received : i64[P]
local later : i64[P * m, n]
window data : i64[P * m, n]
window send_counts : i64[P]
signal met[P] : epoch
init x[r, j] = call * 10000 + me * 100 + r * 10 + j
init counts[d] = (me + d + call) % (m + 1)
expect first[r, j] = x@(r / m)[me * m + r % m, j] if r % m < counts@(r / m)[me]
expect second[r, j] = x@(r / m)[me * m + r % m, j] + 1000 if r % m < counts@(r / m)[me]
expect received[s] = counts@s[me]

copy send_counts <- counts
all_to_all_v(input = x, target = data, send_counts = send_counts, recv_counts = received, signal = met)
for s in 0..P {
  copy first[s * m..s * m + received[s]] <- data[s * m..s * m + received[s]]
}
fill later <- 1000
reduce later <- sum(later, x)
all_to_all_v(input = later, target = data, send_counts = send_counts, recv_counts = received, signal = met)
for s in 0..P {
  copy second[s * m..s * m + received[s]] <- data[s * m..s * m + received[s]]
}
)";

TEST(CaseG, G2_TheSecondCallOnOneSignalWaitsForItsOwnData) {
  for (const std::string_view protocol : {": epoch", ": credits-2"}) {
    const std::string twice = with(std::string(kTwice), ": epoch", protocol);
    EXPECT_EQ(fault_of(twice, 2, 1, {{"n", 1}, {"m", 1}}), std::nullopt);
    EXPECT_EQ(wrong_schedules(twice, 2, RankId(1)), 0);
    for (const Index ranks : {1, 2, 3}) expect_right(twice, ranks);
  }
}

// Chunks in flight arrive in any order. FENCE and SLOT: what stands between them, and who counts.
constexpr std::string_view kChunks = R"(
program chunks
input x : i64[2, 3]
output y : i64[2, 3]
window data : i64[2, 3]
signal arrived[2]
signal read[1]
init x[c, j] = call * 1000000 + me * 100000 + c * 1000 + j
expect y[c, j] = x@0[c, j] if me == 1

if me == 0 {
  wait read[0] >= call - 1
  for c in 0..2 {
    put data@1[c] <- x[c]
    FENCE
    notify arrived@1[SLOT] += 1
  }
  fence
} else {
  for c in 0..2 {
    wait arrived[SLOT] >= NEEDED
    copy y[c] <- data[c]
  }
  notify read@0[0] += 1
}
)";

std::string chunks(std::string_view fence, std::string_view slot, std::string_view needed) {
  return with(with(with(std::string(kChunks), "FENCE", fence), "SLOT", slot), "NEEDED", needed);
}

TEST(CaseG, G3_OneCounterForChunksThatOvertakeEachOther) {
  const std::string one_counter = chunks("", "0", "(call - 1) * 2 + c + 1");
  EXPECT_EQ(fault_of(one_counter, 2, 1), CheckFault::race);
  EXPECT_GT(wrong_schedules(one_counter, 2, std::nullopt), 0);
}

TEST(CaseG, G3_ASlotForEachChunkBehindItsFence) {
  const std::string slots = chunks("fence", "c", "call");
  EXPECT_EQ(fault_of(slots, 2, 2), std::nullopt);
  EXPECT_EQ(wrong_schedules(slots, 2, std::nullopt), 0);
  expect_right(slots, 2);
}

// FIRST is what comes between the local fill and the rows of peers.
constexpr std::string_view kFilled = R"(
program filled
size n = 10
input x : i64[P, n]
output y : i64[P, n]
window data : i64[P, n]
signal ready[P]
signal done[P]
init x[d, j] = call * 1000000 + me * 10000 + d * 100 + j
expect y[s, j] = x@s[me, j]

fill data <- -1
FIRST
for d in 0..P { put data@d[me] <- x[d] }
fence
for p in peers { notify done@p[me] += 1 }
for s in peers { wait done[s] >= call }
copy y <- data
)";

TEST(CaseG, G6_ALateFillWipesOutWhatHasCome) {
  const std::string hasty = with(with(std::string(kFilled), "signal ready[P]\n", ""), "FIRST\n", "");
  EXPECT_EQ(fault_of(hasty, 2, 1, {{"n", 1}}), CheckFault::race);
  EXPECT_GT(wrong_schedules(hasty, 2, RankId(1)), 0);
}

TEST(CaseG, G6_TheEntryRoundOrdersTheFill) {
  const std::string patient = with(std::string(kFilled), "FIRST",
                                   "for p in peers { notify ready@p[me] += 1 }\n"
                                   "for s in peers { wait ready[s] >= call }");
  const std::string builtin = R"(
program filled
size n = 10
input x : i64[P, n]
output y : i64[P, n]
window data : i64[P, n]
signal met[P]
init x[d, j] = call * 1000000 + me * 10000 + d * 100 + j
expect y[s, j] = x@s[me, j]

fill data <- -1
all_to_all(input = x, target = data, signal = met)
copy y <- data
)";
  for (const std::string& text : {patient, builtin}) {
    EXPECT_EQ(fault_of(text, 2, 2, {{"n", 1}}), std::nullopt);
    for (const Index ranks : {2, 3}) expect_right(text, ranks);
  }
}

}  // namespace
}  // namespace reshard
