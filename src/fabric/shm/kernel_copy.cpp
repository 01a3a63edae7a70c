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
#include "fabric/host/row_copy.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

constexpr Index kMostBytes = Index{1} << 30;  // of a call; the kernel takes a little less than 2^31
constexpr std::chrono::seconds kNewsOfADeath{2};
constexpr Index kStagingBytes = Index{128} << 10;
constexpr Index kGap = 1024;         // read along with the rows beside it
constexpr Index kShortRow = 1024;    // rows below it are staged
constexpr Index kRowOfKernel = 512;  // rows below it are not worth a call of the copy kernel

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

// Where rows go in the staging: as far apart as they are at their owner where the gap is small, else one behind
// another.
class Stage {
 public:
  explicit Stage(std::array<iovec, 1024>& spans) : spans_(spans) {}

  bool has_room() const { return bytes_ + 2 * kGap <= kStagingBytes && count_ < spans_.size(); }
  // The next row, or what of it has room, and where it goes.
  std::span<std::byte> next(StridedWalk& rows, Index& offset) {
    const auto row = rows.next(kStagingBytes - bytes_ - kGap);
    iovec* const last = count_ == 0 ? nullptr : &spans_[count_ - 1];
    const std::byte* const end = last == nullptr ? nullptr : static_cast<std::byte*>(last->iov_base) + last->iov_len;
    const bool is_near = last != nullptr && row.data() >= end && row.data() - end <= kGap;
    const Index gap = is_near ? row.data() - end : 0;
    offset = bytes_ + gap;
    bytes_ = offset + static_cast<Index>(row.size());
    if (is_near) {
      last->iov_len += static_cast<std::size_t>(gap) + row.size();
    } else {
      spans_[count_++] = {row.data(), row.size()};
    }
    return row;
  }
  Index bytes() const { return bytes_; }
  std::size_t count() const { return count_; }

 private:
  std::array<iovec, 1024>& spans_;
  std::size_t count_ = 0;
  Index bytes_ = 0;
};

}  // namespace

bool allow_kernel_copies() {
  if (!can_read_itself() || ::prctl(PR_GET_DUMPABLE) != 1) return false;
  const int scope = yama_scope();
  return scope == 0 || (scope == 1 && ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) == 0);
}

KernelCopy::KernelCopy(WorldState& world, RankId here, Watch* watch, CopyKernel copy)
    : world_(world), here_(here), watch_(watch), copy_(copy == nullptr ? copy_rows : copy) {}

void KernelCopy::expose(WindowId, std::span<std::byte>) { staging_.resize(static_cast<std::size_t>(kStagingBytes)); }

void KernelCopy::get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) {
  auto* const source = reinterpret_cast<std::byte*>(from.address);
  in_pieces(copy, std::numeric_limits<Index>::max(), Strided::kMaxLoops, [&](const StridedCopy& piece) {
    StridedLoops here_loops, there_loops;
    const Strided here = strided_end(piece, End::target, target, here_loops);
    const Strided there = strided_end(piece, End::source, source, there_loops);
    if (there.row_bytes < kShortRow && !there.loops.empty()) {
      get_staged(from, there, here, std::max(copy.job_bytes, there.bytes()));
    } else {
      copy_all(::process_vm_readv, from, here, there);
    }
  });
}

// The rows are walked twice: to see where they are, and, once they are in the staging, to take them from there.
void KernelCopy::get_staged(const PrivatePart& from, const Strided& there, const Strided& here, Index job_bytes) {
  StridedWalk rows(there), target(here);
  while (rows.left() > 0) {
    StridedWalk again = rows;
    Stage stage(remote_.rows);
    Index offset = 0;
    while (rows.left() > 0 && stage.has_room()) stage.next(rows, offset);
    remote_.first = 0;
    remote_.end = stage.count();
    fill_staging(from, stage.bytes());
    for (Stage same(local_.rows); again.left() > rows.left();) {
      Index left = static_cast<Index>(same.next(again, offset).size());
      while (left > 0) {
        const auto piece = target.next(left);
        const auto bytes = static_cast<Index>(piece.size());
        if (bytes < kRowOfKernel) {
          std::memcpy(piece.data(), &staging_[static_cast<std::size_t>(offset)], piece.size());
        } else {
          copy_(piece.data(), staging_.data(), {.source_offset = offset, .row_bytes = bytes, .job_bytes = job_bytes});
        }
        offset += bytes;
        left -= bytes;
      }
    }
  }
}

void KernelCopy::fill_staging(const PrivatePart& from, Index bytes) {
  remote_.bytes = bytes;
  while (remote_.bytes > 0) {
    const iovec rest{&staging_[static_cast<std::size_t>(bytes - remote_.bytes)],
                     static_cast<std::size_t>(remote_.bytes)};
    const ssize_t done = ::process_vm_readv(process_of(from.owner), &rest, 1, &remote_.rows[remote_.first],
                                            remote_.end - remote_.first, 0);
    if (done <= 0) copy_failed(from, done < 0 ? errno : EFAULT);
    remote_.drop(static_cast<std::size_t>(done));
  }
}

// Set before all calls.
pid_t KernelCopy::process_of(RankId rank) const { return world_.rank(rank).process.load(std::memory_order_relaxed); }

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
  const pid_t process = process_of(part.owner);
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
