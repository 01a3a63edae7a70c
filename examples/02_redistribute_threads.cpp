// Moves a tensor from rows to blocks, between four ranks that are threads.
#include <iostream>
#include <mutex>
#include <set>
#include <string>

#include "reshard/stamp.h"
#include "reshard/world.h"

using namespace reshard;

int main() {
  const Layout rows = layout("f32[8,8] on (r=4) {0: r}");
  const Layout blocks = layout("f32[8,8] on (y=2, x=2) {0: y, 1: x}");
  std::mutex mutex;
  std::set<std::string> lines;
  thread_ranks(4, [&](World& world) {
    Tensor a = world.allocate(rows), b = world.allocate(blocks);  // this rank's shards, in windows
    stamp(a);                                                     // every element names its global index
    const Traffic moved = redistribute(world, a, b);              // planned once, then cached; one copy per byte
    expect_stamped(b);                                            // throws if any element is not the one it should be
    const std::scoped_lock lock(mutex);
    lines.insert("rank " + std::to_string(world.rank().value()) + " copied " + std::to_string(moved.bytes_copied) +
                 " bytes of its own and got " + std::to_string(moved.bytes_got) + " in " + std::to_string(moved.gets) +
                 " message");
  });
  for (const std::string& line : lines) std::cout << line << "\n";
}
