// Attention of 10 tokens on 4 ranks, 3, 3, 2 and 2 of them: keys and values go round the ring, one rank a step, and
// meet the queries of every rank. On the way back their gradients go round with them, and are home after the last step.
#include <cmath>
#include <iostream>
#include <mutex>

#include "reshard/primitives.h"
#include "shard.h"

using namespace reshard;

constexpr Index tokens = 10, width = 3;
double number(Index seed, Index t, Index d) { return std::sin(static_cast<double>(100 * seed + 10 * t + d)); }
double q_of(Index t, Index d) { return number(1, t, d); }
double kv_of(Index t, Index d) { return number(2, t, d); }  // d < width: key; then value
double gy_of(Index t, Index d) { return number(3, t, d); }
double loss_of_y(Index t, const double* y) {
  double sum = 0;
  for (Index d = 0; d < width; ++d) sum += gy_of(t, d) * y[d];
  return sum;
}
template <class Key>
double score(Index t, const Key& key) {
  double sum = 0;
  for (Index d = 0; d < width; ++d) sum += q_of(t, d) * key(d);
  return sum / std::sqrt(double{width});
}

// One query: what it has seen of keys and values so far, in any order.
struct Query {
  double most = -INFINITY, sum = 0, y[width]{};
  template <class KeyValue>
  void see(Index t, const KeyValue& kv) {
    const double s = score(t, kv), before = std::exp(std::min(0.0, most - std::max(most, s)));
    most = std::max(most, s);
    const double weight = std::exp(s - most);
    sum = sum * before + weight;
    for (Index d = 0; d < width; ++d) y[d] = y[d] * before + weight * kv(width + d);
  }
  void finish() {
    for (double& e : y) e /= sum;
  }
  // Adds the gradient of one key and its value.
  template <class KeyValue, class Gradient>
  void give(Index t, const KeyValue& kv, const Gradient& g) const {
    const double p = std::exp(score(t, kv) - most) / sum;
    double up = 0;
    for (Index d = 0; d < width; ++d) up += gy_of(t, d) * kv(width + d), g(width + d) += p * gy_of(t, d);
    for (Index d = 0; d < width; ++d) g(d) += p * (up - loss_of_y(t, y)) * q_of(t, d) / std::sqrt(double{width});
  }
};

int main() {
  Query whole[tokens];
  double whole_g[tokens][2 * width]{};
  for (Index t = 0; t < tokens; ++t) {
    for (Index s = 0; s < tokens; ++s) whole[t].see(t, [&](Index d) { return kv_of(s, d); });
    whole[t].finish();
    for (Index s = 0; s < tokens; ++s)
      whole[t].give(
          t, [&](Index d) { return kv_of(s, d); }, [&](Index d) -> double& { return whole_g[s][d]; });
  }
  std::mutex mutex;
  double error = 0;
  thread_ranks(4, [&](World& world) {
    Tensor kv = world.allocate(layout("f64[10,6] on (ring=4) {0: ring:balanced}")), g = world.allocate(kv.layout());
    const Shard<double, 2> own(kv);
    own.each([&](double& e, Index t, Index d) { e = kv_of(own.first[0] + t, d); });
    std::vector<Query> queries(static_cast<std::size_t>(own.size[0]));
    const auto each_pair = [&](const Shard<double, 2>& here, const auto& visit) {
      for (Index t = 0; t < own.size[0]; ++t)
        for (Index s = 0; s < here.size[0]; ++s) visit(queries[static_cast<std::size_t>(t)], own.first[0] + t, s);
    };
    for (Index step = 0; step < world.ranks(); ++step) {
      const Shard<double, 2> here(kv);
      each_pair(here, [&](Query& q, Index t, Index s) { q.see(t, [&](Index d) { return here(s, d); }); });
      kv = op::ring_pass(kv.layout(), "ring").forward(world, kv);
    }
    for (Query& q : queries) q.finish();
    for (Index step = 0; step < world.ranks(); ++step) {
      const Shard<double, 2> here(kv), sums(g);
      each_pair(here, [&](const Query& q, Index t, Index s) {
        q.give(
            t, [&](Index d) { return here(s, d); }, [&](Index d) -> double& { return sums(s, d); });
      });
      const LinearOp pass = op::ring_pass(kv.layout(), "ring");
      kv = pass.forward(world, kv), g = pass.forward(world, g);
    }
    const Shard<double, 2> home(g);
    const std::scoped_lock lock(mutex);
    for (Index t = 0; t < own.size[0]; ++t)
      for (Index d = 0; d < width; ++d)
        error = std::max(error, std::abs(queries[static_cast<std::size_t>(t)].y[d] - whole[own.first[0] + t].y[d]));
    home.each(
        [&](double& e, Index t, Index d) { error = std::max(error, std::abs(e - whole_g[own.first[0] + t][d])); });
  });
  std::cout << "outputs, and the gradients of keys and values, are " << (error < 1e-14 ? "those of one rank" : "WRONG")
            << "\n";
}
