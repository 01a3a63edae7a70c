// Conversions that are killed, stopped and run again. The progress callback runs in rank 0's process after a unit, so
// what it does happens in the middle of a conversion, whatever the machine's speed.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <thread>

#include "rank_files.h"

namespace reshard::test {
namespace {

using std::chrono::milliseconds;

class Interrupted : public testing::Test {
 protected:
  Interrupted() {
    write_published(temp_ / "source", model_);
    convert(request("expected"));
  }

  ConvertRequest request(std::string_view out) const {
    return {
        .source = temp_ / "source", .to = listed_rules("(r=5)", {{"*", "{0: r}"}}), .out = temp_ / out, .processes = 2};
  }
  // Calls `act` once `files` files are finished.
  static std::function<void(const ConvertProgress&)> after(Index files, std::function<void()> act) {
    return [files, act](const ConvertProgress& progress) {
      if (progress.files_done >= files) act();
      std::this_thread::sleep_for(milliseconds(110));  // the next unit is reported as well
    };
  }
  bool exists(std::string_view name) const { return std::filesystem::exists(temp_ / name); }
  // All children, also adopted ones, have ended.
  static void expect_no_process_left() { EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left"; }
  void expect_second_run_finishes(const ConvertRequest& request, Index kept) {
    const ConvertReport report = convert(request);
    EXPECT_GE(report.files_kept, kept);
    EXPECT_FALSE(exists("out.partial"));
    expect_equal_folders(temp_ / "expected", temp_ / "out");
  }

  const SmallModel model_ = many_tensors(2);
  const TempFolder temp_;
};

TEST_F(Interrupted, AKilledProcessIsNamedAndNoOutputAppears) {
  for (const Index processes : {1, 2, 3}) {
    ConvertRequest killed = request("out");
    killed.processes = processes;
    killed.progress = after(0, [] { ::kill(::getpid(), SIGKILL); });
    const std::string message = message_of(Code::peer_lost, [&] { convert(killed); });
    EXPECT_THAT(message, testing::HasSubstr("rank 0"));
    EXPECT_FALSE(exists("out"));
    expect_no_process_left();
  }
  expect_second_run_finishes(request("out"), 0);
}

TEST_F(Interrupted, FinishedFilesAreKept) {
  ConvertRequest killed = request("out");
  killed.processes = 1;
  killed.progress = after(2, [] { ::kill(::getpid(), SIGKILL); });
  message_of(Code::peer_lost, [&] { convert(killed); });
  EXPECT_FALSE(exists("out"));
  ConvertRequest again = request("out");
  again.verify = true;
  const ConvertReport report = convert(again);
  EXPECT_GE(report.files_kept, 2);
  EXPECT_LT(report.files_kept, 5);
  expect_equal_folders(temp_ / "expected", temp_ / "out");
}

TEST_F(Interrupted, AllFilesFinishedButNotPublished) {
  ConvertRequest killed = request("out");
  killed.progress = after(5, [] { ::kill(::getpid(), SIGKILL); });
  message_of(Code::peer_lost, [&] { convert(killed); });
  ConvertRequest again = request("out");
  again.verify = true;
  expect_second_run_finishes(again, 5);
}

TEST_F(Interrupted, AKilledParentLeavesNoProcessBehind) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans become ours
  const pid_t converter = ::fork();
  if (converter == 0) {
    ConvertRequest killed = request("out");
    killed.progress = after(1, [] {
      ::kill(::getppid(), SIGKILL);
      ::pause();
    });
    convert(killed);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(converter, &status, 0), converter);
  EXPECT_TRUE(WIFSIGNALED(status));
  // Rank 0 would pause for ever if it did not die with its parent.
  while (::waitpid(-1, &status, 0) > 0) continue;
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  EXPECT_FALSE(exists("out"));
  expect_second_run_finishes(request("out"), 1);
}

TEST_F(Interrupted, AStoppedProcessIsATimeout) {
  ConvertRequest stopped = request("out");
  stopped.timeout = milliseconds(200);
  stopped.progress = after(0, [] { ::raise(SIGSTOP); });
  const auto start = std::chrono::steady_clock::now();
  const std::string message = message_of(Code::timeout, [&] { convert(stopped); });
  EXPECT_THAT(message, testing::HasSubstr("rank"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_FALSE(exists("out"));
  expect_no_process_left();
  expect_second_run_finishes(request("out"), 0);
}

class Resumed : public Interrupted {
 protected:
  Resumed() {
    ConvertRequest killed = request("out");
    killed.processes = 1;
    killed.progress = after(2, [] { ::kill(::getpid(), SIGKILL); });
    message_of(Code::peer_lost, [&] { convert(killed); });
  }
  std::string finished_file() const { return temp_ / "out.partial/rank-00000-of-00005.safetensors"; }
  void change_byte(const std::string& path, std::size_t from_end_or_begin, bool from_end) {
    std::string bytes = read_file(path);
    char& byte = from_end ? bytes[bytes.size() - 1 - from_end_or_begin] : bytes[from_end_or_begin];
    byte = static_cast<char>(byte ^ 1);
    write_file(path, bytes);
  }
};

TEST_F(Resumed, VerifyFindsAChangedByteInAKeptFile) {
  change_byte(finished_file(), 0, true);
  ConvertRequest again = request("out");
  again.verify = true;
  EXPECT_THROW(convert(again), OutputDiffers);
  EXPECT_FALSE(exists("out"));
  // Nothing of it is trusted any more, so the way out is to run once more.
  const ConvertReport report = convert(again);
  EXPECT_EQ(report.files_kept, 0);
  expect_equal_folders(temp_ / "expected", temp_ / "out");
}

TEST_F(Resumed, VerifyFindsAChangedHeaderOfAKeptFile) {
  change_byte(finished_file(), 20, false);
  ConvertRequest again = request("out");
  again.verify = true;
  EXPECT_THROW(convert(again), OutputDiffers);
  EXPECT_FALSE(exists("out"));
}

TEST_F(Resumed, AFileOfAnotherSizeIsWrittenAgain) {
  write_file(finished_file(), "short");
  expect_second_run_finishes(request("out"), 1);
}

TEST_F(Resumed, StartsOverWhenTheSourceHasChanged) {
  const std::string source = temp_ / "source/model.safetensors";
  std::string bytes = read_file(source);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(source, bytes);
  const ConvertReport report = convert(request("out"));
  EXPECT_EQ(report.files_kept, 0);
  convert({.source = temp_ / "out", .out = temp_ / "again"});
  EXPECT_EQ(read_file(temp_ / "again/model.safetensors"), bytes);
}

TEST_F(Resumed, StartsOverWhenTheSourceIsReplacedWithTheSameTimes) {
  const std::string source = temp_ / "source/model.safetensors";
  std::filesystem::copy_file(source, temp_ / "copy");
  std::filesystem::last_write_time(temp_ / "copy", std::filesystem::last_write_time(source));
  std::filesystem::rename(temp_ / "copy", source);
  EXPECT_EQ(convert(request("out")).files_kept, 0);
}

TEST_F(Resumed, StartsOverForAnotherLayout) {
  ConvertRequest other = request("out");
  other.to = listed_rules("(r=5)", {{"*", "{0: r:balanced}"}});
  EXPECT_EQ(convert(other).files_kept, 0);
  expect_rank_files(temp_ / "out", model_);
}

}  // namespace
}  // namespace reshard::test
