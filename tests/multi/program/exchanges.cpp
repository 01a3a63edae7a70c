#include "program/exchanges.h"

namespace reshard::multi {
namespace {

// Where every rank has one cell for each other.
struct AllPeers {
  Kernel& k;
  SignalRef signal;
  void notify(NotifyOp op, const Expression& value) const {
    k.each_peer([&](auto p) { k.notify(signal[k.me()].on(p), op, value); });
  }
  void wait(const Expression& value) const {
    k.each_peer([&](auto s) { k.wait(signal[s], Ge, value); });
  }
};

// Puts rows, with what comes before and after them.
template <class Before, class After>
SymbolicProgram all_to_all(const std::string& name, Protocol protocol, Before before, After after) {
  return program(name, [&](Kernel& k) {
    const auto n = k.size("n", 3);
    const auto x = k.input("x", Dtype::i32, {k.ranks(), n}), y = k.output("y", Dtype::i32, {k.ranks(), n});
    const auto data = k.window("data", Dtype::i32, {k.ranks(), n});
    const AllPeers peers{k, k.signal("ready", {k.ranks()}, {.protocol = protocol})};
    k.expect(y, [&](auto s, auto j) { return x.on(s).at(k.me(), j).value(); });
    before(k, peers);
    k.each_rank([&](auto d) { k.put(data.row(k.me()).on(d), x.row(d)); });
    k.fence();
    after(k, peers);
    k.each_rank([&](auto s) { k.copy(y.row(s), data.row(s)); });
  });
}

}  // namespace

SymbolicProgram all_to_all_by_credits() {
  return all_to_all(
      "credits", Protocol::credits_2,
      [](Kernel&, const AllPeers& peers) {
        peers.notify(Add, 1);
        peers.wait(1);
      },
      [](Kernel& k, const AllPeers& peers) {
        peers.notify(Add, 1);
        peers.wait(2);
        k.each_peer([&](auto s) { k.notify(peers.signal[s].on(k.me()), Add, -2); });
      });
}

SymbolicProgram all_to_all_by_epochs() {
  return all_to_all(
      "epochs", Protocol::epoch,
      [](Kernel& k, const AllPeers& peers) {
        peers.notify(Set, k.call() * 2 - 1);
        peers.wait(k.call() * 2 - 1);
      },
      [](Kernel& k, const AllPeers& peers) {
        peers.notify(Set, k.call() * 2);
        peers.wait(k.call() * 2);
      });
}

SymbolicProgram all_to_all_by_parity() {
  return program("parity", [](Kernel& k) {
    const auto n = k.size("n", 3);
    const auto x = k.input("x", Dtype::f64, {k.ranks(), n}), y = k.output("y", Dtype::f64, {k.ranks(), n});
    const auto data = k.window("data", Dtype::f64, {2, k.ranks(), n});
    const AllPeers peers{k, k.signal("done", {k.ranks()}, {.protocol = Protocol::parity})};
    k.expect(y, [&](auto s, auto j) { return x.on(s).at(k.me(), j).value(); });
    const auto turn = k.call() % 2;
    k.each_rank([&](auto d) { k.put(data.at(turn, k.me()).on(d), x.row(d)); });
    k.fence();
    peers.notify(Add, 1);
    peers.wait(k.call());
    k.each_rank([&](auto s) { k.copy(y.row(s), data.at(turn, s)); });
  });
}

SymbolicProgram ring_shift() {
  return program("ring", [](Kernel& k) {
    const auto n = k.size("n", 5);
    const auto x = k.input("x", Dtype::f32, {n}), y = k.output("y", Dtype::f32, {n});
    const auto data = k.window("data", Dtype::f32, {n});
    const auto ready = k.signal("ready", {1}), done = k.signal("done", {1});
    const auto left = (k.me() - 1) % k.ranks(), right = (k.me() + 1) % k.ranks();
    k.expect(y, [&](auto j) { return x.on(left).at(j).value(); });
    k.notify(ready[0].on(left), Add, 1);
    k.wait(ready[0], Ge, k.call());
    k.put(data.on(right), x);
    k.fence();
    k.notify(done[0].on(right), Add, 1);
    k.wait(done[0], Ge, k.call());
    k.copy(y, data);
  });
}

SymbolicProgram ring_shift_through(Dtype narrow) {
  return program("casting_ring", [&](Kernel& k) {
    const auto n = k.size("n", 5);
    const auto x = k.input("x", Dtype::f32, {n});
    const auto pushed = k.output("pushed", Dtype::f32, {n}), pulled = k.output("pulled", Dtype::i32, {n});
    const auto data = k.window("data", narrow, {2, n});
    const auto ready = k.signal("ready", {2}), done = k.signal("done", {1});
    const auto left = (k.me() - 1) % k.ranks(), right = (k.me() + 1) % k.ranks();
    k.init(x, [&](auto j) { return (k.me() * 3 + j + k.call() * 5) % 17; });
    k.expect(pushed, [&](auto j) { return x.on(left).at(j).value(); });
    k.expect(pulled, [&](auto j) { return x.on(left).at(j).value() + 1; });
    k.statement({DataMove{.code = OpCode::copy, .target = data.row(1).slice(), .source = x.slice(), .cast = true}});
    k.each(0, 2, [&](auto i) { k.notify(ready[i].on(pick(i, {left, right})), Add, 1); });
    k.each(0, 2, [&](auto i) { k.wait(ready[i], Ge, k.call()); });
    k.statement(
        {DataMove{.code = OpCode::put, .target = data.row(0).on(right).slice(), .source = x.slice(), .cast = true}});
    k.fill(pulled, 1);
    k.statement({DataMove{.code = OpCode::get,
                          .target = pulled.slice(),
                          .source = data.row(1).on(left).slice(),
                          .accumulate = ReduceOp::sum,
                          .cast = true}});
    k.fence();
    k.each(0, 2, [&](auto i) { k.notify(done[0].on(pick(i, {left, right})), Add, 1); });
    k.wait(done[0], Ge, k.call() * 2);
    k.cast(pushed, data.row(0));
  });
}

SymbolicProgram broadcast_by_get() {
  return program("broadcast", [](Kernel& k) {
    const auto n = k.size("n", 5);
    const auto x = k.input("x", Dtype::i64, {n}), y = k.output("y", Dtype::i64, {n});
    const auto staged = k.window("staged", Dtype::i64, {n});
    const auto ready = k.signal("ready", {1}), read = k.signal("read", {1});
    const auto root = k.ranks() / 2;
    k.expect(y, [&](auto j) { return x.on(root).at(j).value(); });
    k.when(equals(k.me(), root), [&] {
      k.copy(staged, x);
      k.each_rank([&](auto r) { k.notify(ready[0].on(r), Set, k.call()); });
    });
    k.wait(ready[0], Ge, k.call());
    k.get(y, staged.on(root));
    k.notify(read[0].on(root), Add, 1);
    k.when(equals(k.me(), root), [&] { k.wait(read[0], Ge, k.call() * k.ranks()); });
  });
}

SymbolicProgram sum_by_accumulate(Dtype dtype) {
  return program("accumulate", [&](Kernel& k) {
    const auto n = k.size("n", 7);
    const auto x = k.input("x", dtype, {n}), y = k.output("y", dtype, {n});
    const auto sums = k.window("sums", dtype, {n});
    const auto ready = k.signal("ready", {1}), done = k.signal("done", {1});
    k.init(x, [&](auto j) { return (k.me() + j * 3 + k.call()) % 7; });
    const auto s = Expression::variable("s");
    k.expect(
        y,
        [&](auto j) {
          return Expression::make(Expression::Kind::fold, {0, k.ranks(), x.on(s).at(j).value()}, "s", ReduceOp::sum);
        },
        equals(k.me(), 0));
    k.when(equals(k.me(), 0), [&] {
      k.fill(sums, 0);
      k.each_rank([&](auto r) { k.notify(ready[0].on(r), Set, k.call()); });
    });
    k.wait(ready[0], Ge, k.call());
    k.accumulate(ReduceOp::sum, sums.on(0), x);
    k.fence();
    k.notify(done[0].on(0), Add, 1);
    k.when(equals(k.me(), 0), [&] {
      k.wait(done[0], Ge, k.call() * k.ranks());
      k.copy(y, sums);
    });
  });
}

SymbolicProgram indexed_rows() {
  return program("indexed", [](Kernel& k) {
    const auto rows = k.size("rows", 6), most = k.size("most", 4), h = k.size("h", 3);
    const auto x = k.input("x", Dtype::f32, {rows, h});
    const auto counts = k.input("counts", Dtype::i32, {k.ranks()});
    const auto index = k.input("index", Dtype::i32, {k.ranks(), most});
    const auto data = k.window("data", Dtype::f32, {k.ranks(), most, h});
    const auto y = k.output("y", Dtype::f32, {k.ranks(), most, h});
    const AllPeers peers{k, k.signal("ready", {k.ranks()})};
    k.init(counts, [&](auto d) { return (k.me() * 2 + d + k.call()) % (most + 1); });
    // Behind the count no row that there is.
    k.init(index, [&](auto d, auto j) {
      return pick(j < (k.me() * 2 + d + k.call()) % (most + 1), {-1, (k.me() + d * 5 + j * 3 + k.call()) % rows});
    });
    k.init(data, [](auto, auto, auto) { return -1; });
    const auto s = Expression::variable("i0"), j = Expression::variable("i1");
    k.expect(
        y, [&](auto, auto, auto c) { return x.on(s).at(index.on(s).at(k.me(), j).value(), c).value(); },
        j < counts.on(s).at(k.me()).value());
    peers.notify(Add, 1);
    peers.wait(k.call() * 2 - 1);
    k.each_rank([&](auto d) {
      k.each(0, counts.at(d).value(), [&](auto i) { k.put(data.at(k.me(), i).on(d), x.row(index.at(d, i).value())); });
    });
    k.fence();
    peers.notify(Add, 1);
    peers.wait(k.call() * 2);
    k.copy(y, data);
  });
}

SymbolicProgram barrier_alone() {
  return program("barrier", [](Kernel& k) {
    const AllPeers peers{k, k.signal("there", {k.ranks()})};
    peers.notify(Add, 1);
    peers.wait(k.call());
  });
}

}  // namespace reshard::multi
