#include "forked_ranks.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <thread>

#include "reshard/error.h"

namespace reshard::multi {
namespace {

using End = RankOutcome::End;

// What a child says of itself, in memory that its parent sees.
struct SaidOutcome {
  std::atomic<bool> is_said{false};
  End end = End::returned;
  bool has_code = false;
  Code code = Code::internal;
  std::array<char, 1000> message{};

  void say(End how, std::optional<Code> what, const std::string& text) {
    end = how;
    has_code = what.has_value();
    code = what.value_or(Code::internal);
    std::copy_n(text.data(), std::min(text.size(), message.size() - 1), message.data());
    is_said.store(true, std::memory_order_release);  // pairs with the load in outcome_of()
  }
};

class SharedOutcomes {
 public:
  explicit SharedOutcomes(Index ranks) : bytes_(static_cast<std::size_t>(ranks) * sizeof(SaidOutcome)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw Error(Code::io, "no memory for the outcomes of ranks");
    for (Index r = 0; r < ranks; ++r) new (&of(RankId(r))) SaidOutcome;
  }
  ~SharedOutcomes() { ::munmap(memory_, bytes_); }
  SharedOutcomes(const SharedOutcomes&) = delete;
  SharedOutcomes& operator=(const SharedOutcomes&) = delete;
  SaidOutcome& of(RankId rank) { return static_cast<SaidOutcome*>(memory_)[rank.value()]; }

 private:
  std::size_t bytes_;
  void* memory_;
};

class TemporaryExchange {
 public:
  TemporaryExchange() {
    std::string pattern = (std::filesystem::temp_directory_path() / "reshard_ranks_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(Code::io, "no folder for ranks to meet in");
    path_ = pattern;
  }
  ~TemporaryExchange() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryExchange(const TemporaryExchange&) = delete;
  TemporaryExchange& operator=(const TemporaryExchange&) = delete;
  Exchange of(RankId rank, Index ranks) const { return through_folder(path_, "world", rank, ranks); }

 private:
  std::string path_;
};

void flush_all() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

[[noreturn]] void be_rank(RankId rank, pid_t parent, const std::function<void()>& main, SaidOutcome& said) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const std::string name = "rank " + std::to_string(rank.value());
  try {
    main();
    said.say(End::returned, std::nullopt, "");
  } catch (const Error& error) {
    said.say(End::threw, error.code(), error.what());
  } catch (const std::exception& error) {
    said.say(End::threw, Code::internal, name + ": " + error.what());
  }
  flush_all();
  ::_exit(0);
}

struct ForkedChild {
  pid_t process = -1;
  bool is_abandoned = false;
  std::optional<RankOutcome> outcome{};
};

RankOutcome outcome_of(RankId rank, const ForkedChild& child, int status, const SaidOutcome& said) {
  if (said.is_said.load(std::memory_order_acquire)) {
    RankOutcome outcome{.end = said.end, .message = said.message.data()};
    if (said.has_code) outcome.code = said.code;
    return outcome;
  }
  const std::string name = "rank " + std::to_string(rank.value());
  RankOutcome outcome{.end = End::exited, .code = Code::peer_lost};
  if (child.is_abandoned) {
    outcome.end = End::abandoned;
    outcome.message = name + " did not end after another rank had failed, and was killed";
  } else if (WIFSIGNALED(status)) {
    outcome.end = End::killed;
    outcome.signal = WTERMSIG(status);
    outcome.message = name + " was killed by signal " + std::to_string(outcome.signal);
  } else {
    outcome.exit_code = WEXITSTATUS(status);
    outcome.message = name + " exited with code " + std::to_string(outcome.exit_code);
  }
  return outcome;
}

void reap_all(std::vector<ForkedChild>& children, SharedOutcomes& said, std::chrono::milliseconds grace) {
  const auto is_running = [](const ForkedChild& child) { return !child.outcome; };
  auto give_up = Clock::time_point::max();
  while (std::ranges::any_of(children, is_running)) {
    for (std::size_t r = 0; r < children.size(); ++r) {
      const RankId rank(static_cast<Index>(r));
      ForkedChild& child = children[r];
      int status = 0;
      if (child.outcome || ::waitpid(child.process, &status, WNOHANG) != child.process) continue;
      child.outcome = outcome_of(rank, child, status, said.of(rank));
      if (child.outcome->end != End::returned) give_up = std::min(give_up, Clock::now() + grace);
    }
    if (Clock::now() >= give_up) {
      for (ForkedChild& child : children) {
        if (child.outcome || child.is_abandoned) continue;
        child.is_abandoned = true;
        ::kill(child.process, SIGKILL);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

std::vector<RankOutcome> try_forked(Index ranks, const RankMain& main, std::chrono::milliseconds grace) {
  if (ranks < 1) throw Error(Code::invalid_argument, "a world of " + std::to_string(ranks) + " ranks");
  SharedOutcomes said(ranks);
  const TemporaryExchange meeting;
  std::vector<ForkedChild> children;
  flush_all();
  for (Index r = 0; r < ranks; ++r) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      be_rank(
          RankId(r), parent, [&] { main(RankId(r), meeting.of(RankId(r), ranks)); }, said.of(RankId(r)));
    }
    if (child > 0) {
      children.push_back({.process = child});
      continue;
    }
    for (const ForkedChild& started : children) ::kill(started.process, SIGKILL);
    reap_all(children, said, std::chrono::milliseconds(0));
    throw Error(Code::io, "cannot start rank " + std::to_string(r) + " as a process");
  }
  reap_all(children, said, grace);
  std::vector<RankOutcome> outcomes;
  for (const ForkedChild& child : children) outcomes.push_back(*child.outcome);
  return outcomes;
}

}  // namespace reshard::multi
