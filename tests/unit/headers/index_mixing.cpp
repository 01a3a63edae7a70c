// Each CASE but 0 mixes two index spaces and must be refused by the compiler.
#include "reshard/index.h"

using namespace reshard;

Index take(GlobalIndex g) { return g.value(); }

bool use(GlobalIndex g, LocalIndex l, RankId r, Index n) {
#if CASE == 0
  return g + n > g && l - l == 0 && take(g) == g.value() && r == RankId(n);
#elif CASE == 1
  return g == l;
#elif CASE == 2
  return g - l == n;
#elif CASE == 3
  return take(l) == n;
#elif CASE == 4
  return take(n) == n;
#elif CASE == 5
  r = l;
  return r == RankId(n);
#elif CASE == 6
  return (g + g) == g;
#elif CASE == 7
  return g < n;
#endif
}
