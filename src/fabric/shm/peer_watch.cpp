#include "fabric/shm/peer_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.h"

namespace reshard::fabric {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

int descriptor_of([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
#else
  errno = ENOSYS;
  return -1;
#endif
}

bool has_ended(int descriptor) {
  pollfd end{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) > 0;
}

}  // namespace

PeerWatch::~PeerWatch() {
  for (const Peer& peer : peers_) {
    if (peer.descriptor >= 0) ::close(peer.descriptor);
  }
}

void PeerWatch::add(pid_t process) {
  const bool is_here = static_cast<Index>(peers_.size()) == here_.value();
  const int descriptor = is_here ? -1 : descriptor_of(process);
  if (!is_here && descriptor < 0) fail(Code::io, "cannot watch process {}: {}", process, std::strerror(errno));
  peers_.push_back({process, descriptor});
}

Clock::time_point PeerWatch::look() {
  const auto now = Clock::now();
  if (now < next_look_) return next_look_;
  next_look_ = now + kBetweenLooks;
  record_ended();
  return next_look_;
}

void PeerWatch::record_ended() {
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    if (peers_[r].descriptor < 0 || !has_ended(peers_[r].descriptor)) continue;
    ::close(std::exchange(peers_[r].descriptor, -1));
    world_->record(RankId(static_cast<Index>(r)),
                   {.end = RankOutcome::End::threw,
                    .code = Code::peer_lost,
                    .message = fmt::format("its process {} has ended in the middle of its work", peers_[r].process)});
  }
}

}  // namespace reshard::fabric
