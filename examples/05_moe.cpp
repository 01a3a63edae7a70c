// Mixture of experts: every token goes to the ranks of its experts and comes back weighted, in two exchanges that read
// rows where they lie (indexed_all_to_all_v). What does not fit is refused on all ranks alike, before a row moves.
#include <algorithm>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "reshard/builder.h"
#include "reshard/error.h"
#include "reshard/program_run.h"

using namespace reshard;

namespace {

struct Moe {
  Index tokens = 6;            // of each rank
  Index hidden = 5;            // elements of a token
  Index routes = 2;            // experts of each token
  Index experts = 3;           // of each rank
  Index capacity = 12;         // rows that one rank sends to another
  Index rows_per_expert = 24;  // that an expert takes from all ranks
};

// One token's way to one expert.
struct Route {
  Index expert = 0;  // counted over all ranks
  float weight = 0;
};
using Routes = std::vector<std::vector<Route>>;  // [tokens][routes]

Argument slice(const std::string& name, const SliceRef& part) { return {name, part.slice()}; }
Argument word(const std::string& name, const SignalRef& signal) { return {name, signal.name()}; }

// rows [N, hidden] of every rank -> moved [P * C, hidden]: row s * C + j comes from rank s, which lists it as index[me,
// j].
SymbolicProgram exchange(const std::string& name, const Moe& moe, Expression rows) {
  return program(name, [&](Kernel& k) {
    const Expression capacity = k.size("C", moe.capacity), hidden = k.size("H", moe.hidden);
    auto input = k.input("rows", Dtype::f32, {rows, hidden});
    auto index = k.input("index", Dtype::i32, {k.ranks(), capacity});
    auto counts = k.input("counts", Dtype::i32, {k.ranks()});
    auto received = k.output("received", Dtype::i32, {k.ranks()});
    auto moved = k.window("moved", Dtype::f32, {k.ranks() * capacity, hidden});
    auto send_counts = k.window("send_counts", Dtype::i32, {k.ranks()});
    auto ready = k.signal("ready", {k.ranks()});
    k.copy(send_counts, counts);
    k.composite("indexed_all_to_all_v",
                {slice("input", input), slice("target", moved), slice("send_counts", send_counts),
                 slice("recv_counts", received), slice("index", index), word("signal", ready)});
  });
}

// counts [E] of every rank -> all [P, E].
SymbolicProgram gather_counts(Index experts) {
  return program("gather_counts", [&](Kernel& k) {
    auto counts = k.input("counts", Dtype::i32, {experts});
    auto all = k.window("all", Dtype::i32, {k.ranks(), experts});
    k.composite("all_gather",
                {slice("input", counts), slice("target", all), word("signal", k.signal("ready", {k.ranks()}))});
  });
}

class MoeLayer {
 public:
  MoeLayer(World& world, const Moe& moe)
      : moe_(moe),
        world_(world),
        experts_(moe.experts * world.ranks()),
        counts_(world, gather_counts(experts_)),
        there_(world, exchange("moe_dispatch", moe, moe.tokens)),
        back_(world, exchange("moe_combine", moe, world.ranks() * moe.capacity)) {}

  // Tokens to the ranks of their experts. Throws the same Error on all ranks where an expert gets too many rows or a
  // rank too many of one other.
  void dispatch(const std::vector<float>& tokens, const Routes& routes) {
    check_experts(routes);
    const auto index = there_.span<std::int32_t>("index");
    const auto counts = there_.span<std::int32_t>("counts");
    std::ranges::fill(index, -1);
    std::ranges::fill(counts, 0);
    places_.assign(routes.size(), {});
    for (std::size_t t = 0; t < routes.size(); ++t) {
      for (const Route& route : routes[t]) {
        const Index rank = route.expert / moe_.experts, row = counts[static_cast<std::size_t>(rank)]++;
        if (row < moe_.capacity)
          index[static_cast<std::size_t>(rank * moe_.capacity + row)] = static_cast<std::int32_t>(t);
        places_[t].push_back(static_cast<std::size_t>(rank * moe_.capacity + row));
      }
    }
    std::ranges::copy(tokens, there_.span<float>("rows").begin());
    there_.call();
  }

  // What `expert` makes of each row that has come, sent back to where it came from and summed by weight: [tokens,
  // hidden].
  template <class Expert>
  std::vector<float> combine(const Routes& routes, const Expert& expert) {
    const auto moved = there_.span<float>("moved"), rows = back_.span<float>("rows");
    const auto received = there_.span<std::int32_t>("received"), counts = back_.span<std::int32_t>("counts");
    const auto index = back_.span<std::int32_t>("index");
    std::ranges::copy(received, counts.begin());
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < moved.size(); ++i) rows[i] = expert(moved[i]);
    back_.call();
    const auto returned = back_.span<float>("moved");
    std::vector<float> sums(static_cast<std::size_t>(moe_.tokens * moe_.hidden), 0);
    for (std::size_t t = 0; t < routes.size(); ++t)
      for (std::size_t k = 0; k < routes[t].size(); ++k)
        for (std::size_t h = 0, hidden = static_cast<std::size_t>(moe_.hidden); h < hidden; ++h)
          sums[t * hidden + h] += routes[t][k].weight * returned[places_[t][k] * hidden + h];
    return sums;
  }

 private:
  // All ranks see the counts of all, so all decide alike.
  void check_experts(const Routes& routes) {
    const auto counts = counts_.span<std::int32_t>("counts");
    std::ranges::fill(counts, 0);
    for (const auto& token : routes)
      for (const Route& route : token) ++counts[static_cast<std::size_t>(route.expert)];
    counts_.call();
    const auto all = counts_.span<std::int32_t>("all");
    for (Index e = 0; e < experts_; ++e) {
      Index rows = 0;
      for (Index r = 0; r < world_.ranks(); ++r) rows += all[static_cast<std::size_t>(r * experts_ + e)];
      if (rows > moe_.rows_per_expert)
        throw Error(Code::invalid_argument, "expert " + std::to_string(e) + " is to get " + std::to_string(rows) +
                                                " rows and takes " + std::to_string(moe_.rows_per_expert));
    }
  }

  Moe moe_;
  World& world_;
  Index experts_;
  ProgramRun counts_, there_, back_;
  std::vector<std::vector<std::size_t>> places_;  // of each route, in the window that comes back
};

// Every element names rank, token and place.
std::vector<float> tokens_of(const Moe& moe, Index rank) {
  std::vector<float> tokens;
  for (Index t = 0; t < moe.tokens; ++t)
    for (Index h = 0; h < moe.hidden; ++h) tokens.push_back(static_cast<float>(rank * 10000 + t * 100 + h));
  return tokens;
}

// Token t of rank r goes to experts (r + t) and (r + 2 t + 1), with weights 1 and 2.
Routes spread(const Moe& moe, Index rank, Index experts) {
  Routes routes;
  for (Index t = 0; t < moe.tokens; ++t)
    routes.push_back({{(rank + t) % experts, 1}, {(rank + 2 * t + 1) % experts, 2}});
  return routes;
}

// All to one expert; its weights add up to 1.
Routes all_to_one(const Moe& moe, Index expert) {
  return Routes(static_cast<std::size_t>(moe.tokens), {{expert, 0.5f}, {expert, 0.5f}});
}

std::string attempt(World& world, const Moe& moe, const Routes& routes, float weight) {
  MoeLayer layer(world, moe);
  const std::vector<float> tokens = tokens_of(moe, world.rank().value());
  try {
    layer.dispatch(tokens, routes);
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
  std::vector<float> expected;
  for (const float value : tokens) expected.push_back(weight * value);
  return layer.combine(routes, [](float row) { return row; }) == expected ? "every token came back, times its weights"
                                                                          : "WRONG";
}

}  // namespace

int main() {
  std::mutex mutex;
  std::vector<std::string> said[4];
  thread_ranks(3, [&](World& world) {
    const Moe moe;
    const Index experts = moe.experts * world.ranks();
    const std::string answers[] = {
        attempt(world, moe, spread(moe, world.rank().value(), experts), 3),
        attempt(world, {.capacity = 12, .rows_per_expert = 36}, all_to_one(moe, 4), 1),
        attempt(world, {.capacity = 11, .rows_per_expert = 36}, all_to_one(moe, 4), 1),
        attempt(world, {.capacity = 12, .rows_per_expert = 35}, all_to_one(moe, 4), 1),
    };
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < 4; ++i) said[i].push_back(answers[i]);
  });
  const std::string titles[] = {"spread over 9 experts", "all to expert 4, exactly full", "a row too many for one rank",
                                "a row too many for one expert"};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool alike = std::ranges::count(said[i], said[i].front()) == 3;
    std::cout << titles[i] << ": " << (alike ? said[i].front() : "the ranks differ") << "\n";
  }
}
