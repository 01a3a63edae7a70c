#include "fabric/shm/children.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace reshard::fabric {
namespace {

constexpr std::chrono::milliseconds kPollWithoutPidfd{5};
constexpr std::chrono::milliseconds kPollAtMost{500};  // however the news is missed, it is seen this soon

int pidfd_of([[maybe_unused]] pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  return -1;
#endif
}

// The kernel kills this process when its parent dies; if that has happened already, it ends now.
void die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace

Children::~Children() {
  kill_running();
  for (Child& child : children_) {
    if (child.is_running) {
      while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    if (child.pidfd >= 0) ::close(child.pidfd);
  }
}

void Children::start(const std::function<void()>& main) {
  children_.reserve(children_.size() + 1);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail(Code::io, "cannot start rank {} as a process: {}", children_.size(), std::strerror(errno));
  if (pid == 0) {
    die_with_parent(parent);
    main();
    ::_exit(1);
  }
  children_.push_back({.pid = pid, .pidfd = pidfd_of(pid)});
}

void Children::wait_all(std::chrono::milliseconds grace) {
  auto give_up = Clock::time_point::max();
  while (any_running()) {
    wait_for_news(give_up);
    reap();
    if (world_.lost() >= 0 && give_up == Clock::time_point::max()) give_up = Clock::now() + grace;
    if (Clock::now() >= give_up) kill_running();
  }
}

bool Children::any_running() const {
  return std::any_of(children_.begin(), children_.end(), [](const Child& child) { return child.is_running; });
}

void Children::wait_for_news(Clock::time_point until) {
  auto patience = kPollAtMost;
  std::vector<pollfd> news;
  for (const Child& child : children_) {
    if (!child.is_running) continue;
    if (child.pidfd < 0) patience = kPollWithoutPidfd;
    news.push_back({.fd = child.pidfd, .events = POLLIN, .revents = 0});
  }
  if (until != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    patience = std::clamp(left, std::chrono::milliseconds(0), patience);
  }
  ::poll(news.data(), news.size(), static_cast<int>(patience.count()));
}

void Children::reap() {
  for (std::size_t r = 0; r < children_.size(); ++r) {
    Child& child = children_[r];
    int status = 0;
    if (!child.is_running || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.is_running = false;
    record_death(r, status);
  }
}

void Children::kill_running() {
  for (Child& child : children_) {
    if (!child.is_running || child.is_abandoned) continue;
    child.is_abandoned = true;
    ::kill(child.pid, SIGKILL);
  }
}

// Does nothing for a rank that recorded its own end.
void Children::record_death(std::size_t rank, int status) {
  RankOutcome outcome{.end = RankOutcome::End::exited, .code = Code::peer_lost};
  if (children_[rank].is_abandoned) {
    outcome.end = RankOutcome::End::abandoned;
    outcome.message = fmt::format("rank {} did not end after another rank had failed, and was killed", rank);
  } else if (WIFSIGNALED(status)) {
    outcome.end = RankOutcome::End::killed;
    outcome.signal = WTERMSIG(status);
    outcome.message = fmt::format("rank {} (process {}) was killed by signal {} ({}){}", rank, children_[rank].pid,
                                  outcome.signal, ::strsignal(outcome.signal),
                                  outcome.signal == SIGKILL ? "; if nobody sent it, memory ran out" : "");
  } else {
    outcome.exit_code = WEXITSTATUS(status);
    outcome.message = fmt::format("rank {} (process {}) exited with code {} in the middle of its body", rank,
                                  children_[rank].pid, outcome.exit_code);
  }
  world_.record(RankId(static_cast<Index>(rank)), outcome);
}

}  // namespace reshard::fabric
