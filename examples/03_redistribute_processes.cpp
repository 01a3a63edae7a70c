// The same between six processes over shared memory: from four trainer ranks to three others, of which one is shared.
#include <iostream>

#include "reshard/stamp.h"
#include "reshard/world.h"

using namespace reshard;

int main() {
  const Layout trainer = layout("bf16[1000,77] on trainer(dp=2, tp=2) {0: tp dp}");
  const Layout inference = layout("bf16[1000,77] on inference(tp=3)@3 {1: tp}");
  process_ranks(6, [&](World& world) {
    Tensor weights = world.allocate(trainer, "weights"), copy = world.allocate(inference, "copy");
    for (std::uint64_t version = 1; version <= 3; ++version) {
      stamp(weights, version);
      redistribute(world, weights, copy);
      expect_stamped(copy, version);
    }
    world.barrier();
    if (world.rank() == RankId(0)) std::cout << "3 versions of " << trainer.bytes() << " bytes moved and verified\n";
    std::cout.flush();  // a process of a world ends without flushing
  });
}
