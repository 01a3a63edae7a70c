// The cast: elements of one dtype to another.
#pragma once

#include <cstddef>
#include <span>

#include "kernel/cast_rows.h"
#include "reshard/dtype.h"
#include "reshard/index.h"
#include "reshard/strided_copy.h"

namespace reshard {

// Every element becomes the nearest that the target dtype has, in one rounding, to nearest even:
// docs/design/kernels.md. The same bits whatever instructions the processor has.
class CastKernel {
 public:
  // All but from complex numbers to others: the imaginary part would be dropped.
  static bool exists(Dtype source, Dtype target);
  // Precondition: it exists.
  CastKernel(Dtype source, Dtype target);

  // `count` elements; steps in bytes between elements. The ends must not overlap, but may be the same elements where
  // both dtypes have one size. Allocates nothing.
  void operator()(std::byte* target, Index target_step, const std::byte* source, Index source_step, Index count) const {
    run(target, target_step, source, source_step, count, false);
  }
  // The same past the cache where the target is contiguous; finish_streaming() (rows.h) is due after the last.
  void stream(std::byte* target, Index target_step, const std::byte* source, Index source_step, Index count) const {
    run(target, target_step, source, source_step, count, true);
  }

  Index source_bytes() const { return source_bytes_; }  // of an element
  Index target_bytes() const { return target_bytes_; }

 private:
  // By way of a tile of values in a type that holds all of the source's: what is loaded is exact.
  using Load = void (*)(std::byte* tile, const std::byte* source, Index step, Index count);
  using Store = void (*)(std::byte* target, Index step, const std::byte* tile, Index count);

  void run(std::byte* target, Index target_step, const std::byte* source, Index source_step, Index count,
           bool stream) const;
  void run_without_vectors(std::byte* target, Index target_step, const std::byte* source, Index source_step,
                           Index count) const;
  void run_packed(std::byte* target, const std::byte* source, Index count, bool stream) const;
  void run_by_way_of_f32(std::byte* target, const std::byte* source, Index count, bool stream) const;

  Index source_bytes_ = 0;
  Index target_bytes_ = 0;
  Load load_ = nullptr;
  Store store_ = nullptr;
  // By vectors: at once, or to f32, which holds every value of the source, and from there.
  kernel::CastRows rows_;
  kernel::CastRows from_f32_;
};

// A cast as loops over elements: `loops` as those of a StridedCopy whose rows are one element.
struct StridedCast {
  Index source_offset = 0;
  Index target_offset = 0;
  std::span<const Stride> loops = {};
  Index job_bytes = 0;         // at the target, of the job of which this is a part, if that is more
  bool leaves_stores = false;  // as of a StridedCopy
};

// Casts where both ends lie, as copy_strided copies: loops are merged and reordered, a transpose is tiled, large jobs
// are written past the cache. Allocates nothing.
void cast_strided(const CastKernel& cast, std::byte* target, const std::byte* source, const StridedCast& loops);

}  // namespace reshard
