// What each rank holds of a 7 x 4 tensor whose rows are cut over two axes: first by tp, then by dp.
#include <iostream>

#include "reshard/layout.h"

using namespace reshard;

int main() {
  const Layout weights = layout("f32[7,4] on trainer(dp=2, tp=2) {0: tp dp}");
  std::cout << weights.text() << "\n";
  for (RankId rank(0); rank < weights.mesh().end_rank(); ++rank) {
    const Region region = weights.region(rank);
    std::cout << "rank " << rank.value() << " holds rows";
    for (const Segment& rows : region.dims[0]) {
      std::cout << " [" << rows.global.value() << ", " << (rows.global + rows.length).value() << ")";
    }
    std::cout << ", " << region.elements() << " elements, " << weights.local_bytes(rank) << " bytes\n";
  }
}
