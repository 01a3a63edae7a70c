#include "plan/lower_bound.h"

namespace reshard {

Index elements_missing(const Region& held, const Region& wanted) {
  if (!wanted.held) return 0;
  if (!held.held) return wanted.elements();
  Index both = 1;
  for (std::size_t dim = 0; dim < wanted.dims.size(); ++dim)
    both *= length_of(intersect(wanted.dims[dim], held.dims[dim]));
  return wanted.elements() - both;
}

}  // namespace reshard
