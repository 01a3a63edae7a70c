// The casts of one rank's program, laid out as the kernel takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernel/cast.h"
#include "reshard/executor.h"

namespace reshard {

class Executor::Casts {
 public:
  // Appends the reductions of a `cast`, of one term each, whose operands fit their windows and whose dtypes can be
  // cast.
  void add(const Operation& operation);
  std::size_t size() const { return casts_.size(); }
  void clear() { casts_.clear(); }
  int result_window(std::size_t number) const { return casts_[number].result.window; }
  // Casts [first, first + count) are part of a job of so many bytes.
  void set_job(std::size_t first, std::size_t count, Index bytes);
  // Whether the cast's term is what `get` brings to `window`: then it may read that where the get would.
  bool read_through(std::size_t number, int window, const StridedCopy& get);
  // How many terms and results lie in the window.
  std::size_t uses_of(int window) const;
  // Runs casts [first, first + count) on this rank's windows. Allocates nothing.
  void run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows) const;
  // Runs one that reads through a get, from the window of the peer that the get reads.
  void run_far(std::size_t number, const std::byte* far, std::span<const std::span<std::byte>> windows) const;

 private:
  struct Cast {
    CastKernel kernel;
    std::vector<Stride> loops;
    Operand result;
    Operand term;
    Index job_bytes;  // of the job that it is a part of
    // Where the get before it reads, if the cast may read there.
    Index far_offset = 0;
    std::vector<Stride> far_loops = {};
  };
  std::vector<Cast> casts_;
};

}  // namespace reshard
