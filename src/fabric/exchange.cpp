#include "reshard/exchange.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "base/fail.h"

namespace reshard {
namespace {

constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::microseconds kLongestPause{5000};

// One rank's side of the rounds of a job. A round is a file per rank, which appears whole: it is renamed into place.
class Folder {
 public:
  Folder(std::filesystem::path folder, std::string job, RankId rank, Index ranks)
      : folder_(std::move(folder)), job_(std::move(job)), rank_(rank), ranks_(ranks) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) fail(Code::io, "rank {}: cannot make folder {}: {}", rank_.value(), folder_.string(), error.message());
  }

  std::vector<std::string> swap(std::string_view mine, Clock::time_point deadline) {
    ++round_;
    publish(mine);
    std::vector<std::string> all;
    for (Index r = 0; r < ranks_; ++r)
      all.push_back(RankId(r) == rank_ ? std::string(mine) : read(RankId(r), deadline));
    // All have come to this round, so none reads the one before.
    if (round_ > 1) ::unlink(file_of(rank_, round_ - 1).c_str());
    return all;
  }

 private:
  std::filesystem::path file_of(RankId rank, Index round) const {
    return folder_ / fmt::format("{}.round-{}.rank-{}", job_, round, rank.value());
  }

  void publish(std::string_view mine) const {
    const std::filesystem::path whole = file_of(rank_, round_);
    const std::filesystem::path part = folder_ / fmt::format(".{}.{}", whole.filename().string(), ::getpid());
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(mine.data(), static_cast<std::streamsize>(mine.size()));
    out.close();
    if (!out || ::rename(part.c_str(), whole.c_str()) != 0) {
      fail(Code::io, "rank {}: cannot write {}: {}; the folder must be writable for every rank", rank_.value(),
           whole.string(), std::strerror(errno));
    }
  }

  std::string read(RankId peer, Clock::time_point deadline) const {
    const std::filesystem::path file = file_of(peer, round_);
    auto pause = kFirstPause;
    for (;;) {
      std::ifstream in(file, std::ios::binary);
      if (in) return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      if (Clock::now() >= deadline) {
        fail(Code::timeout,
             "rank {}: deadline passed in round {} of job \"{}\" in folder {}: rank {} of {} has not come",
             rank_.value(), round_, job_, folder_.string(), peer.value(), ranks_);
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  std::filesystem::path folder_;
  std::string job_;
  RankId rank_;
  Index ranks_;
  Index round_ = 0;
};

}  // namespace

Exchange through_folder(std::string folder, std::string job, RankId rank, Index ranks) {
  if (job.empty() || job.front() == '.' || job.find('/') != job.npos || job.find('\0') != job.npos) {
    fail(Code::invalid_argument, "rank {}: job \"{}\" is no plain file name: use letters and digits", rank.value(),
         job);
  }
  if (rank.value() < 0 || rank.value() >= ranks) {
    fail(Code::invalid_argument, "rank {} is not one of the {} ranks of job \"{}\"", rank.value(), ranks, job);
  }
  auto rounds = std::make_shared<Folder>(std::move(folder), std::move(job), rank, ranks);
  return [rounds](std::string_view mine, Clock::time_point deadline) { return rounds->swap(mine, deadline); };
}

}  // namespace reshard
