// Operations that exchanges and reduces are made of.
#pragma once

#include <vector>

#include "op/halo/programs.h"

namespace reshard::halo {

// Signals of every program.
inline constexpr int kReady = 0, kDone = 1;

inline std::size_t number_of(RankId rank) { return static_cast<std::size_t>(rank.value()); }

Operation tell(RankId peer, int signal, RankId self, Index round, Index rounds);
Operation await(int signal, RankId peer, Index round, Index rounds);

// From an owner's buffer to a holder's: the boxes of `links`, stored as given by widened indices.
void add_blocks(const Link& link, Index element_bytes, const LocalStorage& owner, const LocalStorage& holder,
                std::vector<Block>& blocks);

// A box of a buffer as loops over its dimensions, in elements.
struct Place {
  int window = 0;
  Index offset = 0;
  std::vector<Index> strides;
};

// What the sign of values is changed with: an element of the real type, at the start of scratch.
struct Minus {
  explicit Minus(Dtype dtype);
  Dtype real;
  Index parts = 1;  // of one element
  Operation write(int scratch) const;
  // Changes the sign of `counts` elements at `place`.
  Reduction change(const std::vector<Index>& counts, const Place& place, int scratch) const;
  static constexpr Index kBytes = 64;  // of scratch; what follows is aligned
};

}  // namespace reshard::halo
