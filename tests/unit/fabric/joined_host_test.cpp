// Processes that were started apart, by exec, and have nothing in common but a folder: one host all the same.
#include "fabric/shm/joined_host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "temporary_folder.h"

namespace reshard::fabric {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string read_all(int pipe) {
  std::string all;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = ::read(pipe, part.data(), part.size())) > 0;) {
    all.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe);
  return all;
}

struct Started {
  pid_t process = -1;
  int output = -1;
};

Started start(std::vector<std::string> words) {
  int pipe[2];
  EXPECT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Started it{.output = pipe[0]};
  EXPECT_EQ(::posix_spawn(&it.process, RESHARD_JOINED_RANK, &actions, nullptr, arguments.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  return it;
}

std::vector<Started> start_all(const std::string& scenario, std::size_t ranks, const TemporaryFolder& folder) {
  std::vector<Started> started;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<std::string> words{RESHARD_JOINED_RANK, scenario, folder.path(), scenario, std::to_string(r)};
    for (std::size_t i = 0; i < ranks; ++i) words.push_back(std::to_string(10 + 3 * i));
    started.push_back(start(std::move(words)));
  }
  return started;
}

// What each rank printed. Ranks are called 10, 13, 16.. in their world.
std::vector<std::string> run(const std::string& scenario, std::size_t ranks) {
  const TemporaryFolder folder;
  const std::vector<Started> started = start_all(scenario, ranks, folder);
  std::vector<std::string> printed;
  for (const Started& it : started) printed.push_back(read_all(it.output));
  for (const Started& it : started) ::waitpid(it.process, nullptr, 0);
  return printed;
}

class JoinedHostOf : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, JoinedHostOf, ::testing::Values(1u, 2u, 3u, 4u, 6u, 7u, 8u));

TEST_P(JoinedHostOf, SharesWindowsSignalsAndSums) {
  for (const std::string& said : run("ring", GetParam())) EXPECT_EQ(said, "ok\n");
}

TEST_P(JoinedHostOf, ExposesMemoryThatExists) {
  for (const char* scenario : {"shared", "in_place", "served"}) {
    for (const std::string& said : run(scenario, GetParam())) EXPECT_EQ(said, "ok\n") << scenario;
  }
}

TEST_P(JoinedHostOf, SleepsUntilRung) {
  for (const std::string& said : run("sleep", GetParam())) EXPECT_EQ(said, "ok\n");
}

TEST_P(JoinedHostOf, NamesRanksAsTheirWorldDoes) {
  const auto last = "rank " + std::to_string(10 + 3 * (GetParam() - 1));
  for (const std::string& said : run("outside", GetParam())) {
    EXPECT_THAT(said, AllOf(StartsWith("invalid argument"), HasSubstr("outside window \"data\" of " + last)));
  }
  if (GetParam() == 1) return;
  for (const std::string& said : run("disagree", GetParam())) {
    EXPECT_THAT(
        said, AllOf(HasSubstr("rank 10 calls create_window(\"a\")"), HasSubstr(last + " calls create_window(\"b\")")));
  }
}

class DeathOnAJoinedHost : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DeathOnAJoinedHost, ::testing::Values(2u, 3u, 4u, 7u));

TEST_P(DeathOnAJoinedHost, EndsTheWaitsOfAll) {
  const auto last = "lost rank " + std::to_string(10 + 3 * (GetParam() - 1));
  for (const char* scenario : {"kill", "exit", "throw"}) {
    const auto said = run(scenario, GetParam());
    for (std::size_t r = 0; r + 1 < GetParam(); ++r) {
      EXPECT_THAT(said[r], AllOf(StartsWith("peer lost"), HasSubstr(last))) << scenario;
    }
  }
}

// Device and number of every file in memory of ours that the process has mapped.
std::set<std::string> memory_of(const std::string& process) {
  std::set<std::string> files;
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, number, name;
    words >> range >> rights >> offset >> device >> number >> name;
    if (name == "/memfd:reshard") files.insert(device + " " + number);
  }
  return files;
}

// However its processes end, no shared memory of a world is left: nothing has a name, and nobody has it mapped.
TEST(JoinedHost, LeavesNothingWhenAllAreKilled) {
  const TemporaryFolder folder;
  const auto started = start_all("stay", 3, folder);
  std::set<std::string> files;
  for (const Started& it : started) {
    std::array<char, 6> there{};
    ASSERT_EQ(::read(it.output, there.data(), there.size()), 6) << "a rank has not come so far";
    files.merge(memory_of(std::to_string(it.process)));
  }
  EXPECT_EQ(files.size(), 3u);
  for (const Started& it : started) ::kill(it.process, SIGKILL);
  for (const Started& it : started) {
    ::waitpid(it.process, nullptr, 0);
    ::close(it.output);
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    for (const std::string& file : memory_of(entry.path().filename()))
      EXPECT_FALSE(files.contains(file)) << entry.path();
  }
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_EQ(entry.path().string().find("reshard"), std::string::npos) << entry.path();
  }
}

// Each waits for the rank that never starts, and says which.
TEST(JoinedHost, SaysWhoHasNotCome) {
  const auto said = run("absent", 3);
  EXPECT_THAT(said[0], AllOf(StartsWith("timeout"), HasSubstr("rank 2 of 3 has not come")));
  EXPECT_THAT(said[1], AllOf(StartsWith("timeout"), HasSubstr("rank 2 of 3 has not come")));
}

TEST(JoinedHost, RefusesProcessesOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start processes of other users";
  for (const std::string& said : run("users", 3)) {
    EXPECT_THAT(said, AllOf(StartsWith("io"), HasSubstr("cannot open the memory of process")));
  }
}

}  // namespace
}  // namespace reshard::fabric
