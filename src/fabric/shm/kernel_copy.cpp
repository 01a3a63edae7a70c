#include "fabric/shm/kernel_copy.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

#include "base/fail.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

constexpr Index kMostBytes = Index{1} << 30;  // of a call; the kernel takes a little less than 2^31
constexpr std::chrono::seconds kNewsOfADeath{2};

bool can_read_itself() {
  const std::uint64_t value = 0x5e1f;
  std::uint64_t read = 0;
  const iovec here{&read, sizeof read};
  const iovec there{const_cast<std::uint64_t*>(&value), sizeof value};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == sizeof read && read == value;
}

// Of the Yama security module: 0, any process of a user may; 1, those that the process has named; more, none.
int yama_scope() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return scope;
}

}  // namespace

bool allow_kernel_copies() {
  if (!can_read_itself() || ::prctl(PR_GET_DUMPABLE) != 1) return false;
  const int scope = yama_scope();
  return scope == 0 || (scope == 1 && ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) == 0);
}

void KernelCopy::get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) {
  auto* const source = reinterpret_cast<std::byte*>(from.address);
  in_pieces(copy, std::numeric_limits<Index>::max(), Strided::kMaxLoops, [&](const StridedCopy& piece) {
    StridedLoops here, there;
    copy_all(::process_vm_readv, from, strided_end(piece, End::target, target, here),
             strided_end(piece, End::source, source, there));
  });
}

void KernelCopy::put(const PrivatePart& to, const StridedCopy& copy, const std::byte* source) {
  auto* const target = reinterpret_cast<std::byte*>(to.address);
  in_pieces(copy, std::numeric_limits<Index>::max(), Strided::kMaxLoops, [&](const StridedCopy& piece) {
    StridedLoops here, there;
    // Only read, as the call is to write into the other process.
    copy_all(::process_vm_writev, to, strided_end(piece, End::source, const_cast<std::byte*>(source), here),
             strided_end(piece, End::target, target, there));
  });
}

void KernelCopy::Batch::fill(StridedWalk& walk, Index limit) {
  if (first == end) first = end = 0;
  while (end < rows.size() && bytes < limit && walk.left() > 0) {
    const auto row = walk.next(limit - bytes);
    rows[end++] = {row.data(), row.size()};
    bytes += static_cast<Index>(row.size());
  }
}

void KernelCopy::Batch::drop(std::size_t done) {
  bytes -= static_cast<Index>(done);
  while (done > 0) {
    iovec& row = rows[first];
    const std::size_t part = std::min(done, row.iov_len);
    row.iov_base = static_cast<std::byte*>(row.iov_base) + part;
    row.iov_len -= part;
    done -= part;
    if (row.iov_len == 0) ++first;
  }
}

// Each end in its own rows: only their sum must agree, and the kernel stops where the shorter sum ends.
void KernelCopy::copy_all(Copy* copy, const PrivatePart& part, const Strided& here, const Strided& there) {
  const pid_t process = world_.rank(part.owner).process.load(std::memory_order_relaxed);  // set before all calls
  StridedWalk local(here), remote(there);
  local_.clear();
  remote_.clear();
  for (;;) {
    local_.fill(local, kMostBytes);
    remote_.fill(remote, kMostBytes);
    if (local_.bytes == 0) return;
    const ssize_t done = copy(process, &local_.rows[local_.first], local_.end - local_.first,
                              &remote_.rows[remote_.first], remote_.end - remote_.first, 0);
    if (done <= 0) copy_failed(part, done < 0 ? errno : EFAULT);
    local_.drop(static_cast<std::size_t>(done));
    remote_.drop(static_cast<std::size_t>(done));
  }
}

void KernelCopy::copy_failed(const PrivatePart& part, int error) {
  const auto what = fmt::format("rank {}: window id {} of rank {}, exposed in place", world_.name(here_),
                                part.window.value, world_.name(part.owner));
  // Whoever watches the process will say how it ended.
  const auto until = Clock::now() + kNewsOfADeath;
  while (error == ESRCH && world_.lost() < 0 && Clock::now() < until) {
    if (watch_ != nullptr) watch_->look();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
  if (error == ESRCH) fail(Code::peer_lost, "{}: its process has ended", what);
  fail(Code::io, "{}: the kernel cannot copy: {}; the memory must stay until the window is destroyed", what,
       std::strerror(error));
}

}  // namespace reshard::fabric
