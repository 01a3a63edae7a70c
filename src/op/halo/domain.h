// Who owns what of a tensor, and what each rank holds once it is widened.
#pragma once

#include <string>
#include <vector>

#include "reshard/halo.h"

namespace reshard::halo {

// Of one rank. Widened indices: ghosts [0, before), own cells [before, before + length), ghosts to the end.
struct Piece {
  RankId rank;
  Index group = 0;           // pieces of other groups are copies, or other terms
  std::vector<Index> begin;  // of the own cells in the tensor; where a dimension is not widened, in any order of its
                             // parts that tells them apart
  std::vector<Index> length;
  std::vector<Index> before;
  std::vector<Index> after;
  LocalStorage own;
  LocalStorage widened;

  Index width(std::size_t dim) const { return before[dim] + length[dim] + after[dim]; }
  bool is_empty() const;
  // How own cells are stored, by their widened indices.
  LocalStorage own_by_widened() const;
};

struct Domain {
  std::string where;  // begins errors
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  Halo halo;  // checked
  std::vector<Piece> pieces;

  std::size_t dims() const { return shape.size(); }
  RankId end_rank() const;
};

Domain domain_of(const Layout& in, const Halo& halo, const Layout& out);
Domain domain_of(const BoxList& in, const Halo& halo);

// Of the widened pieces; checks that the layout can be widened.
Layout widened_layout(const Layout& in, const Halo& halo);

}  // namespace reshard::halo
