// Memory of other processes, copied by the kernel from one process into another (process_vm_readv, process_vm_writev).
#pragma once

#include <sys/uio.h>

#include <array>
#include <vector>

#include "fabric/host/private_memory.h"
#include "fabric/host/world_state.h"
#include "fabric/message/strided.h"

namespace reshard::fabric {

// Whether the kernel lets processes like this one do so; where it needs to be told, tells it that any process of this
// user may reach this one.
bool allow_kernel_copies();

// The caller copies, so that the owner need not be there. Rows go in batches of as many as the kernel takes. What is
// got in short rows is first read, with the gaps between them, into memory that stays in the cache: the kernel takes as
// long to begin a row as to copy 1 or 2 KiB. Precondition: allow_kernel_copies(), in every process of the world.
class KernelCopy final : public PrivateMemory {
 public:
  // `watch` and `copy` may be null; see HostMeans.
  KernelCopy(WorldState& world, RankId here, Watch* watch, CopyKernel copy);

  void get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) override;
  void put(const PrivatePart& to, const StridedCopy& copy, const std::byte* source) override;
  Service* service() override { return nullptr; }
  void expose(WindowId, std::span<std::byte>) override;
  // When a window is destroyed all ranks have left their calls, and the kernel copies only inside a call.
  void conceal(WindowId) override {}

 private:
  using Copy = ssize_t(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
  // Rows of one end that wait to be copied.
  struct Batch {
    std::array<iovec, 1024> rows;  // as many as the kernel takes
    std::size_t first = 0, end = 0;
    Index bytes = 0;
    void clear() { first = end = 0, bytes = 0; }
    // Takes from the walk what has room, up to `limit` bytes in all.
    void fill(StridedWalk& walk, Index limit);
    void drop(std::size_t bytes);
  };
  void get_staged(const PrivatePart& from, const Strided& there, const Strided& here, Index job_bytes);
  // Reads `bytes` in all into the staging. The first of `remote` are where they are.
  void fill_staging(const PrivatePart& from, Index bytes);
  pid_t process_of(RankId rank) const;
  void copy_all(Copy* copy, const PrivatePart& part, const Strided& here, const Strided& there);
  [[noreturn]] void copy_failed(const PrivatePart& part, int error);

  WorldState& world_;
  RankId here_;
  Watch* watch_;
  CopyKernel copy_;
  Batch local_, remote_;
  std::vector<std::byte> staging_;
};

}  // namespace reshard::fabric
