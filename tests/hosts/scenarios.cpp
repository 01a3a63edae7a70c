#include "scenarios.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "reshard/error.h"
#include "reshard/plan.h"
#include "reshard/stamp.h"
#include "reshard/world.h"

namespace reshard::hosts {
namespace {

// One after another, and from the last to the first again. Sizes are odd, so shards are uneven; some ranks hold
// nothing.
std::vector<Layout> layouts_of(Index ranks, Index edge) {
  const std::string shape = fmt::format("f32[{},{}]", edge + 1, edge + 3);
  std::vector<std::string> texts{fmt::format("{} on (r={}) {{0: r}}", shape, ranks),
                                 fmt::format("{} on (r={}) {{1: r}}", shape, ranks)};
  if (ranks >= 4) texts.push_back(shape + " on (y=2, x=2) {0: y, 1: x}");
  if (ranks >= 2) texts.push_back(fmt::format("{} on (a=1)@{} {{0: a}}", shape, ranks - 1));
  if (ranks >= 3) texts.push_back(fmt::format("{} on (b={})@1 {{0: b:balanced}}", shape, ranks - 1));
  std::vector<Layout> layouts;
  for (const std::string& text : texts) layouts.push_back(layout(text));
  return layouts;
}

// Bytes that a move takes from each host to others.
void count_sent(const Layout& from, const Layout& to, const std::vector<Index>& hosts, std::vector<Index>& sent) {
  const Plan moved = plan(from, to);
  for (const Transfer& transfer : moved.transfers()) {
    const Index source = hosts[static_cast<std::size_t>(transfer.source.value())];
    const Index target = hosts[static_cast<std::size_t>(transfer.target.value())];
    if (source != target) sent[static_cast<std::size_t>(source)] += transfer.elements() * 4;
  }
}

// Tensors that stay, so that each round moves through the same windows.
class Moves {
 public:
  Moves(World& world, const Scenario& scenario) : world_(world), hosts_(scenario.hosts), sent_(hosts_.size()) {
    for (const Layout& layout : layouts_of(world.ranks(), scenario.edge)) {
      tensors_.push_back(world.allocate(layout, fmt::format("tensor {}", tensors_.size())));
    }
  }

  void round(std::uint64_t epoch) {
    stamp(tensors_[0], epoch);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Tensor& from = tensors_[i];
      Tensor& to = tensors_[(i + 1) % tensors_.size()];
      redistribute(world_, from, to);
      expect_stamped(to, epoch);
      count_sent(from.layout(), to.layout(), hosts_, sent_);
    }
  }

  const std::vector<Index>& sent() const { return sent_; }

 private:
  World& world_;
  std::vector<Index> hosts_;
  std::vector<Tensor> tensors_;
  std::vector<Index> sent_;  // by host
};

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace

Scenario read_scenario(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: SCENARIO HOSTS TIMEOUT_MS ROUNDS EDGE\n", stderr);
    std::exit(2);
  }
  Scenario scenario{.name = argv[1],
                    .hosts = {},
                    .timeout = std::chrono::milliseconds(std::atol(argv[3])),
                    .rounds = std::atol(argv[4]),
                    .edge = std::atol(argv[5])};
  std::istringstream hosts(argv[2]);
  for (std::string host; std::getline(hosts, host, ',');) scenario.hosts.push_back(std::atol(host.c_str()));
  return scenario;
}

namespace {

// Who shares memory is who was started on one host.
void expect_hosts(const Endpoint& endpoint, const std::vector<Index>& hosts) {
  const RankId self = endpoint.rank();
  for (RankId rank(0); rank < RankId(endpoint.ranks()); ++rank) {
    const bool is_together =
        hosts[static_cast<std::size_t>(rank.value())] == hosts[static_cast<std::size_t>(self.value())];
    if (is_together == (endpoint.host_of(rank) == endpoint.host_of(self))) continue;
    throw std::logic_error(fmt::format("rank {} is {}on the host of rank {}, the fabric says otherwise", rank.value(),
                                       is_together ? "" : "not ", self.value()));
  }
}

}  // namespace

void run_scenario(Endpoint& endpoint, const Scenario& scenario) {
  expect_hosts(endpoint, scenario.hosts);
  World world(endpoint, {.timeout = scenario.timeout});
  Moves moves(world, scenario);
  const bool endless = scenario.name == "endless";
  for (Index round = 0; endless || round < scenario.rounds; ++round) {
    moves.round(static_cast<std::uint64_t>(round));
    if (endless && world.rank() == RankId(0)) say(fmt::format("round {}", round));
  }
  if (world.rank() != RankId(0)) return;
  for (std::size_t host = 0; host < moves.sent().size(); ++host) {
    if (moves.sent()[host] > 0) say(fmt::format("sent {} {}", host, moves.sent()[host]));
  }
}

int report(Index rank, const std::function<void()>& run) {
  try {
    run();
    say(fmt::format("rank {}: done", rank));
    return 0;
  } catch (const Error& error) {
    say(fmt::format("rank {}: {}: {}", rank, name_of(error.code()), error.what()));
    return 3;
  } catch (const std::exception& error) {
    say(fmt::format("rank {}: {}", rank, error.what()));
    return 4;
  }
}

}  // namespace reshard::hosts
