// Transposes and halos, beside what one writes with MPI: pack, MPI_Alltoallv, unpack; and beside one copy of the same
// bytes within a rank, which is the least that moving them can cost. All in the same processes, in turns.
//
//   mpirun.openmpi -n 4 --oversubscribe op_bench_openmpi [ROUNDS]        mpiexec.mpich -n 2 op_bench_mpich [ROUNDS]
//
// One JSON object a line. A time is the median over rounds, from the first rank's start to the last one's end; ratios
// are medians of ratios within a round: MPI takes "x_mpi" times as long, and one copy "share" of our time. What MPI
// moves is read off the operator's own program, and packed by our kernels, so it moves no byte more. Its results must
// be ours, byte by byte, or the status is 1.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/copy.h"
#include "reshard/halo.h"
#include "reshard/mpi_fabric.h"
#include "reshard/primitives.h"
#include "reshard/stamp.h"

namespace reshard {
namespace {

// From one tensor to another, or, in place, ghosts alone: then `in` is not used.
struct Job {
  std::string name;
  LinearOp op;
  std::optional<HaloPlan> in_place = {};
};

std::vector<Job> jobs_of(Index ranks) {
  const std::string on = fmt::format("on (x={})", ranks);
  std::vector<Job> jobs{{"transpose f32[64,512,1024], dimension 2 to 0",
                         op::transpose(layout(fmt::format("f32[64,512,1024] {} {{2: x:balanced}}", on)), "x", 0, 2)},
                        {"transpose f32[4096,4096], dimension 0 to 1",
                         op::transpose(layout(fmt::format("f32[4096,4096] {} {{0: x:balanced}}", on)), "x", 1, 0)}};
  const auto add_halo = [&](const std::string& name, const Layout& in, const Halo& halo) {
    jobs.push_back({name + ", to another tensor", op::widen(in, halo)});
    jobs.push_back({name + ", in place", op::widen(in, halo), HaloPlan(in, halo)});
  };
  const HaloEdge periodic = HaloEdge::periodic();
  add_halo("halo of 2 rows, f32[4096,4096]", layout(fmt::format("f32[4096,4096] {} {{0: x:balanced}}", on)),
           {{{.dim = 0, .lo = 2, .hi = 2, .edge = periodic}}});
  if (ranks == 4)
    add_halo("halo of 3 with corners, f32[4096,4096] by 2 x 2", layout("f32[4096,4096] on (y=2, x=2) {0: y, 1: x}"),
             {{{.dim = 0, .lo = 3, .hi = 3, .edge = periodic}, {.dim = 1, .lo = 3, .hi = 3, .edge = periodic}}});
  return jobs;
}

// Copies the rows of blocks, each end a memory of its own.
class Copies {
 public:
  void add(const Block& block, Index job_bytes) {
    StridedCopy copy{.source_offset = block.source_offset,
                     .target_offset = block.target_offset,
                     .row_bytes = block.row_bytes,
                     .job_bytes = job_bytes};
    loops_.emplace_back();
    for (const Loop& loop : block.loops) loops_.back().push_back({loop.count, loop.source_stride, loop.target_stride});
    copies_.push_back(copy);
  }
  void run(std::byte* target, const std::byte* source) {
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      copies_[c].loops = loops_[c];
      copy_strided(target, source, copies_[c]);
    }
  }

 private:
  std::vector<StridedCopy> copies_;
  std::vector<std::vector<Stride>> loops_;
};

// The block with one end packed from `place` on.
Block packed(const Block& block, Index place, bool is_source) {
  Block result = block;
  (is_source ? result.source_offset : result.target_offset) = place;
  Index stride = block.row_bytes;
  for (std::size_t l = result.loops.size(); l-- > 0; stride *= result.loops[l].count)
    (is_source ? result.loops[l].source_stride : result.loops[l].target_stride) = stride;
  return result;
}

// What the program of an operator moves, by MPI: one rank's part.
class ByMpi {
 public:
  ByMpi(const Program& program, RankId self) {
    const auto ranks = static_cast<std::size_t>(program.ranks);
    sends_.assign(ranks, 0), receives_.assign(ranks, 0), send_places_.assign(ranks, 0),
        receive_places_.assign(ranks, 0);
    const auto each = [&](std::size_t rank, const auto& visit) {
      for (const Operation& operation : program.operations[rank]) visit(operation);
    };
    Index all = 0, sent = 0, received = 0;
    each(static_cast<std::size_t>(self.value()), [&](const Operation& operation) {
      for (const Block& block : operation.blocks) all += block.bytes();
    });
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      send_places_[peer] = static_cast<int>(sent), receive_places_[peer] = static_cast<int>(received);
      each(peer, [&](const Operation& operation) {
        if (operation.code != OpCode::get || operation.peer != self) return;
        for (const Block& block : operation.blocks) pack_.add(packed(block, sent, false), all), sent += block.bytes();
      });
      each(static_cast<std::size_t>(self.value()), [&](const Operation& operation) {
        if (operation.code != OpCode::get || operation.peer != RankId(static_cast<Index>(peer))) return;
        for (const Block& block : operation.blocks)
          unpack_.add(packed(block, received, true), all), received += block.bytes();
      });
      sends_[peer] = static_cast<int>(sent) - send_places_[peer];
      receives_[peer] = static_cast<int>(received) - receive_places_[peer];
    }
    each(static_cast<std::size_t>(self.value()), [&](const Operation& operation) {
      if (operation.code != OpCode::copy) return;
      for (const Block& block : operation.blocks) local_.add(block, all);
    });
    out_.resize(static_cast<std::size_t>(sent)), in_.resize(static_cast<std::size_t>(received));
  }

  void run(std::byte* target, const std::byte* source) {
    pack_.run(out_.data(), source);
    local_.run(target, source);
    MPI_Alltoallv(out_.data(), sends_.data(), send_places_.data(), MPI_BYTE, in_.data(), receives_.data(),
                  receive_places_.data(), MPI_BYTE, MPI_COMM_WORLD);
    unpack_.run(target, in_.data());
  }

 private:
  std::vector<int> sends_, receives_, send_places_, receive_places_;
  Copies pack_, unpack_, local_;
  std::vector<std::byte> out_, in_;
};

// From when the first rank begins to when the last is done: ranks may share cores.
double all_s(const std::function<void()>& work) {
  const auto now = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  MPI_Barrier(MPI_COMM_WORLD);
  double ends[2] = {-now(), 0}, most[2];
  work();
  ends[1] = now();
  MPI_Allreduce(ends, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most[1] + most[0];
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return median(std::move(ratios));
}

bool race(World& world, const Job& job, int rounds) {
  Tensor x = world.allocate(job.op.in(), "x"), y = world.allocate(job.op.out(), "y");
  stamp(x);
  std::function<void()> run_ours;
  Program program;
  if (job.in_place) {
    job.op.forward(world, x, y);
    run_ours = [halo = std::make_shared<HaloExchange>(world, *job.in_place, y)] { halo->run(); };
    program = job.in_place->exchange_program(world.ranks(), {}, {}, HaloForm::in_place);
  } else {
    run_ours = [bound = std::make_shared<BoundOp>(world, job.op, x, y)] { bound->forward(); };
    program = job.op.forward_program(world.ranks());
  }
  ByMpi by_mpi(program, world.rank());
  std::vector<std::byte> target(y.bytes().begin(), y.bytes().end());
  const std::byte* const given = job.in_place ? target.data() : x.bytes().data();

  // One copy of all that this rank needs, from memory of its own as large as the greatest source.
  Copies once;
  Index moved = 0, source_bytes = 0;
  for (const Operation& operation : program.operations[static_cast<std::size_t>(world.rank().value())])
    for (const Block& block : operation.blocks) moved += block.bytes();
  for (const Operation& operation : program.operations[static_cast<std::size_t>(world.rank().value())])
    for (const Block& block : operation.blocks) once.add(block, moved);
  for (const Index bytes : program.windows[0].bytes) source_bytes = std::max(source_bytes, bytes);
  std::vector<std::byte> source(static_cast<std::size_t>(source_bytes), std::byte{1});
  const auto differs = [&] { return std::memcmp(target.data(), y.bytes().data(), target.size()) != 0; };

  std::vector<double> our_s, mpi_s, copy_s;
  for (int round = -2; round < rounds; ++round) {  // two to warm up
    const double a = all_s(run_ours);
    const double b = all_s([&] { by_mpi.run(target.data(), given); });
    const int is_other = differs();
    const double c = all_s([&] { once.run(target.data(), source.data()); });
    int any = 0;
    MPI_Allreduce(&is_other, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any != 0) return false;
    if (round >= 0) our_s.push_back(a), mpi_s.push_back(b), copy_s.push_back(c);
  }
  if (world.rank().value() == 0)
    std::printf("%s\n", fmt::format(R"({{"job": "{}", "ranks": {}, "us": {:.1f}, "mpi_us": {:.1f}, "copy_us": {:.1f}, )"
                                    R"("x_mpi": {:.2f}, "share": {:.2f}}})",
                                    job.name, world.ranks(), median(our_s) * 1e6, median(mpi_s) * 1e6,
                                    median(copy_s) * 1e6, median_ratio(mpi_s, our_s), median_ratio(copy_s, our_s))
                            .c_str());
  return true;
}

int run(int rounds) {
  MpiWorld mpi = join_mpi(MPI_COMM_WORLD, {.copy = copy_strided});
  World world(mpi.endpoint());
  for (const Job& job : jobs_of(world.ranks()))
    if (!race(world, job, rounds)) {
      std::fprintf(stderr, "op_bench: %s: MPI has other results\n", job.name.c_str());
      return 1;
    }
  return 0;
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = reshard::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 15);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "op_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
