#include "kernel/join_loops.h"

#include <algorithm>

namespace reshard::kernel {
namespace {

// Whether the elements lie one after the other, on the side of `stride`.
bool is_dense(std::span<const Stride> loops, Index Stride::*stride, Index element_bytes) {
  Index next = element_bytes;
  for (std::size_t l = loops.size(); l-- > 0; next *= loops[l].count)
    if (loops[l].count != 1 && loops[l].*stride != next) return false;
  return true;
}

// The loops of one side from the fastest on, of which a part of a loop may be taken.
class Walk {
 public:
  Walk(std::span<const Stride> loops, Index Stride::*stride) : loops_(loops), stride_(stride) { next(); }
  bool is_done() const { return count_ == 0; }
  Index count() const { return count_; }
  // The stride of the `part` that is taken; the loop's count is a multiple of it.
  Index take(Index part) {
    const Index stride = here_;
    count_ /= part;
    here_ *= part;
    if (count_ == 1) next();
    return stride;
  }

 private:
  void next() {
    do {
      count_ = 0;
      if (loops_.empty()) return;
      count_ = loops_.back().count;
      here_ = loops_.back().*stride_;
      loops_ = loops_.first(loops_.size() - 1);
    } while (count_ == 1);
  }
  std::span<const Stride> loops_;
  Index Stride::*stride_;
  Index count_ = 0;
  Index here_ = 0;
};

}  // namespace

std::optional<std::vector<Stride>> joined_loops(std::span<const Stride> first, std::span<const Stride> second,
                                                Index element_bytes) {
  if (!is_dense(first, &Stride::target_bytes, element_bytes) || !is_dense(second, &Stride::source_bytes, element_bytes))
    return std::nullopt;
  Walk from(first, &Stride::source_bytes), to(second, &Stride::target_bytes);
  std::vector<Stride> loops;
  while (!from.is_done() && !to.is_done()) {
    const Index part = std::min(from.count(), to.count());
    if (from.count() % part != 0 || to.count() % part != 0) return std::nullopt;
    const Index source = from.take(part);
    loops.push_back({part, source, to.take(part)});
  }
  if (!from.is_done() || !to.is_done()) return std::nullopt;
  std::ranges::reverse(loops);
  return loops;
}

}  // namespace reshard::kernel
