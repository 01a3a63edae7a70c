// Programs that the tests of the simulator run, in the form in which people write them.
#pragma once

#include "reshard/builder.h"

namespace reshard::simulate_test {

struct AllToAll {
  bool ready_round = true;  // without, the data window may be written again too early
  bool fence = true;
};

// credits-2: ready, put, done, and the signal back to 0. Rows travel; each value names rank, place and call.
inline SymbolicProgram all_to_all(Index n, AllToAll form = {}) {
  return program("all_to_all", [&](Kernel& k) {
    const auto size = k.size("n", n);
    const auto x = k.input("x", Dtype::i64, {k.ranks(), size}), y = k.output("y", Dtype::i64, {k.ranks(), size});
    const auto data = k.window("data", Dtype::i64, {k.ranks(), size});
    const auto ready = k.signal("ready", {k.ranks()}, {.protocol = Protocol::credits_2});
    k.init(x, [&](auto d, auto j) { return k.call() * 1000000 + k.me() * 10000 + d * 100 + j; });
    k.expect(y, [&](auto s, auto j) { return x.on(s).at(k.me(), j).value(); });
    int rounds = 0;
    const auto round = [&] {
      ++rounds;
      k.each_peer([&](auto p) { k.notify(ready[k.me()].on(p), Add, 1); });
      k.each_peer([&](auto s) { k.wait(ready[s], Ge, rounds); });
    };
    if (form.ready_round) round();
    k.each_rank([&](auto d) { k.put(data.row(k.me()).on(d), x.row(d)); });
    if (form.fence) k.fence();
    round();
    k.each_rank([&](auto s) { k.copy(y.row(s), data.row(s)); });
    k.each_peer([&](auto s) { k.notify(ready[s].on(k.me()), Add, -rounds); });
  });
}

// Counters that only grow: rounds of every call are numbered on.
inline SymbolicProgram barrier() {
  return program("barrier", [](Kernel& k) {
    const auto met = k.signal("met", {k.ranks()}, {.protocol = Protocol::epoch});
    k.each_peer([&](auto p) { k.notify(met[k.me()].on(p), Add, 1); });
    k.each_peer([&](auto s) { k.wait(met[s], Ge, k.call()); });
  });
}

inline std::vector<Index> devices(Index ranks) {
  std::vector<Index> list;
  for (Index rank = 0; rank < ranks; ++rank) list.push_back(rank);
  return list;
}

}  // namespace reshard::simulate_test
