// A folder as the only thing that ranks have in common.
#include "reshard/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "reshard/error.h"
#include "temporary_folder.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;

std::string said(Index rank, Index round) {
  if (rank == 2) return {};  // nothing is something that can be said
  std::string text = "rank " + std::to_string(rank) + "\n\0 in round " + std::to_string(round);
  return rank == 1 ? text + std::string(100'000, 'x') : text;
}

void swap_rounds(const std::string& folder, const std::string& job, Index ranks) {
  std::vector<std::jthread> threads;
  for (Index r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const Exchange exchange = through_folder(folder, job, RankId(r), ranks);
      for (Index round = 0; round < 20; ++round) {
        const auto all = exchange(said(r, round), Clock::now() + 60s);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
        for (Index from = 0; from < ranks; ++from) EXPECT_EQ(all[static_cast<std::size_t>(from)], said(from, round));
      }
    });
  }
}

TEST(ThroughFolder, EachHearsAllInEveryRound) {
  for (Index ranks : {1, 2, 3, 7}) {
    const TemporaryFolder folder;
    swap_rounds(folder.path() + "/made/on/the/way", "job", ranks);
  }
}

// One file a rank stays of a job, of its last round.
TEST(ThroughFolder, LeavesLittleAndCaresForNoOtherJob) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/old.round-1.rank-1") << "of a run that crashed";
  std::ofstream(folder.path() + "/.new.round-1.rank-1.99") << "half wri";
  swap_rounds(folder.path(), "new", 3);
  const auto files = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 2 + 3);
}

TEST(ThroughFolder, SaysWhoIsMissing) {
  const TemporaryFolder folder;
  try {
    through_folder(folder.path(), "job", RankId(0), 1 + 1)("here", Clock::now() + 20ms);
    FAIL() << "rank 1 never came";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::timeout);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 0: deadline passed in round 1 of job \"job\""));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 1 of 2 has not come"));
  }
}

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

TEST(ThroughFolder, RefusesWhatIsNoFolderNoJobAndNoRank) {
  const TemporaryFolder folder;
  for (const char* job : {"", ".", "..", ".hidden", "a/b"}) {
    EXPECT_EQ(code_of([&] { through_folder(folder.path(), job, RankId(0), 1); }), Code::invalid_argument) << job;
  }
  EXPECT_EQ(code_of([&] { through_folder(folder.path(), "job", RankId(2), 2); }), Code::invalid_argument);
  EXPECT_EQ(code_of([&] { through_folder(folder.path(), "job", RankId(-1), 2); }), Code::invalid_argument);
  std::ofstream(folder.path() + "/file") << "x";
  EXPECT_EQ(code_of([&] { through_folder(folder.path() + "/file", "job", RankId(0), 1); }), Code::io);
}

}  // namespace
}  // namespace reshard::fabric
