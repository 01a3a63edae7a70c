// Reshard in the contest, through its public headers only: ours thread|process RANKS
//
//   windows    tensors of a World, moved by redistribute() or a BatchMove
//   in place   the same over private memory that peers reach as it is (Exposure::in_place)
//   shared     the same over private memory whose pages become a window's (Exposure::shared)
//   program    a program of gets that cast
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rank.h"
#include "reshard/batch_move.h"
#include "reshard/collective.h"
#include "reshard/error.h"
#include "reshard/notation.h"
#include "reshard/program_run.h"
#include "reshard/program_text.h"
#include "reshard/world.h"

namespace contest {
namespace {

using namespace reshard;

constexpr std::chrono::minutes patience{2};

Clock::time_point soon() { return Clock::now() + patience; }

std::string grid_text(const Job& job, const Grid& grid) {
  return "f32[" + std::to_string(job.rows) + "," + std::to_string(job.columns) +
         "] on (y=" + std::to_string(grid.rows) + ", x=" + std::to_string(grid.columns) + ")@" +
         std::to_string(grid.first) + " {0: y, 1: x}";
}

// One tensor before and after.
struct Move {
  Tensor a, b;
};

class Ours : public Contestant {
 public:
  explicit Ours(World& world)
      : world_(world), place_{static_cast<int>(world.rank().value()), static_cast<int>(world.ranks())} {
    hop_ = world.endpoint().create_signal("hop", 1, soon());
  }

  Stage open(const Job& job) override {
    Stage stage;
    deadline_ = Clock::now() + std::chrono::hours(1);
    switch (job.kind) {
      case Job::Kind::matrix: open_matrix(job, stage); break;
      case Job::Kind::tensors: open_tensors(job, stage); break;
      case Job::Kind::hop: stage.ways.push_back({"notify and wait", {}, {}, [this] { hop(); }}); break;
      case Job::Kind::barrier:
        stage.ways.push_back({"barrier", {}, {}, [barrier = Barrier(world_)]() mutable { barrier.run(); }});
        break;
      case Job::Kind::collective: open_collective(job, stage); break;
      case Job::Kind::cast: open_cast(job, stage); break;
    }
    return stage;
  }

  // Tensors that are gone are freed by the next collective call.
  void closed() override { world_.barrier(); }

 private:
  // Makes the tensors of one way: in windows, or over private memory of the stage, which `how` exposes.
  class Maker {
   public:
    Maker(World& world, const Job& job, Place place, Stage& stage, std::optional<Exposure> how)
        : world_(world), how_(how) {
      if (!how) return;
      sources_ = private_buffers(source_bytes(job, place), stage);
      targets_ = private_buffers(target_bytes(job, place), stage);
    }
    Move make(const Layout& from, const Layout& to, const std::string& name) {
      if (!how_) return {world_.allocate(from, name), world_.allocate(to, name)};
      const Bytes source = made_ < sources_.size() ? sources_[made_] : Bytes();
      const Bytes target = made_ < targets_.size() ? targets_[made_] : Bytes();
      ++made_;
      return {world_.adopt(from, source, *how_, name), world_.adopt(to, target, *how_, name)};
    }

   private:
    World& world_;
    std::optional<Exposure> how_;
    std::vector<Bytes> sources_, targets_;
    std::size_t made_ = 0;
  };

  template <class Open>
  void open_each_memory(const Job& job, Stage& stage, const Open& open_way) {
    static const std::array<std::pair<const char*, std::optional<Exposure>>, 3> memories{
        {{"windows", std::nullopt}, {"in place", Exposure::in_place}, {"shared", Exposure::shared}}};
    for (const auto& [name, how] : memories) {
      try {
        Maker maker(world_, job, place_, stage, how);
        open_way(name, maker);
      } catch (const Error& error) {
        if (error.code() != Code::unsupported) throw;
        stage.left_out[name] = error.what();
      }
    }
  }

  void open_matrix(const Job& job, Stage& stage) {
    const Layout from = layout(grid_text(job, job.source)), to = layout(grid_text(job, job.target));
    open_each_memory(job, stage, [&](const char* name, Maker& maker) {
      auto move = std::make_shared<Move>(maker.make(from, to, "matrix"));
      Way way{name, {}, {}, [this, move] { redistribute(world_, move->a, move->b); }};
      add_buffers(*move, way);
      stage.ways.push_back(std::move(way));
    });
  }

  void open_tensors(const Job& job, Stage& stage) {
    struct Moves {
      std::vector<Move> all;
      std::optional<BatchMove> batch;
    };
    open_each_memory(job, stage, [&](const char* name, Maker& maker) {
      auto moves = std::make_shared<Moves>();
      Way way{name, {}, {}, [moves] { moves->batch->run(); }};
      for (std::size_t t = 0; t < job.elements.size(); ++t) {
        const std::string shape = "f32[" + std::to_string(job.elements[t]) + "] on ";
        const Layout from = layout(shape + "(r=" + std::to_string(job.source_ranks) + ") {0: r}");
        const Layout to =
            layout(shape + "(r=" + std::to_string(job.target_ranks) + ")@" + std::to_string(job.first_target) + " {}");
        moves->all.push_back(maker.make(from, to, "t" + std::to_string(t)));
        add_buffers(moves->all.back(), way);
      }
      std::vector<BatchMove::Pair> pairs;
      for (Move& move : moves->all) pairs.push_back({&move.a, &move.b});
      moves->batch.emplace(world_, pairs);
      stage.ways.push_back(std::move(way));
    });
  }

  static void add_buffers(Move& move, Way& way) {
    if (!move.a.bytes().empty()) way.sources.push_back(move.a.bytes());
    if (!move.b.bytes().empty()) way.targets.push_back(move.b.bytes());
  }

  std::shared_ptr<Collective> collective_of(const Job& job) {
    const Index elements = job.bytes / element_bytes, ranks = place_.ranks;
    if (job.is("all_to_all")) return std::make_shared<AllToAll>(world_, job.bytes / ranks);
    if (job.is("all_gather")) return std::make_shared<AllGather>(world_, job.bytes / ranks);
    if (job.is("reduce_scatter")) return std::make_shared<ReduceScatter>(world_, elements / ranks, Dtype::f32);
    if (job.is("all_reduce")) return std::make_shared<AllReduce>(world_, elements, Dtype::f32);
    return std::make_shared<Broadcast>(world_, job.bytes, RankId(0));
  }

  void open_collective(const Job& job, Stage& stage) {
    auto operation = collective_of(job);
    std::vector<Bytes> sources, targets;
    if (!source_bytes(job, place_).empty()) sources.push_back(operation->input());
    if (!target_bytes(job, place_).empty()) targets.push_back(operation->output());
    stage.ways.push_back({"windows", sources, targets, [operation] { operation->run(); }});
  }

  // Job b, from f32 to bf16 on the way.
  void open_cast(const Job& job, Stage& stage) {
    static constexpr const char* text = R"(program cast
size rows = 8
size columns = 8
window x: f32 [rows / P, columns]
output y: bf16 [rows, columns / P]
signal meet [P]
barrier(signal = meet)
for s in 0..P {
  get y[s * (rows / P)..(s + 1) * (rows / P)] <- x@s[.., me * (columns / P)..(me + 1) * (columns / P)] cast
}
barrier(signal = meet)
)";
    const std::map<std::string, Index> sizes{{"rows", job.rows}, {"columns", job.columns}};
    auto run = std::make_shared<ProgramRun>(world_, parse_program(text), sizes);
    stage.ways.push_back({"program", {run->bytes("x")}, {run->bytes("y")}, [run] { run->call(); }});
  }

  void hop() {
    Endpoint& endpoint = world_.endpoint();
    const RankId peer(1 - place_.rank);
    ++hops_;
    if (place_.rank == 0) endpoint.notify(peer, hop_, 0, 1, Endpoint::Update::add);
    endpoint.wait(hop_, 0, hops_, Endpoint::Until::greater_equal, deadline_);
    if (place_.rank == 1) endpoint.notify(peer, hop_, 0, 1, Endpoint::Update::add);
  }

  World& world_;
  Place place_;
  SignalId hop_;
  Clock::time_point deadline_;  // of calls that are timed by the thousand: reading the clock is none of their cost
  std::uint64_t hops_ = 0;
};

int run(const std::string& kind, int ranks) {
  const std::string name = "reshard-" + kind;
  const auto body = [&](World& world) {
    Ours ours(world);
    obey(name, {static_cast<int>(world.rank().value()), ranks}, ours);
  };
  (kind == "thread" ? thread_ranks : process_ranks)(ranks, body, {.timeout = patience});
  return 0;
}

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  if (argc != 3 || (kind != "thread" && kind != "process")) {
    std::fprintf(stderr, "usage: ours thread|process RANKS; started by contest.py\n");
    return 2;
  }
  try {
    return contest::run(kind, std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ours: %s\n", error.what());
    return 1;
  }
}
