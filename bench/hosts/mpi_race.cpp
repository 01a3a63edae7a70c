// mpi_race ADDRESS_OF_RANK_0 ROUNDS: two ranks of mpirun on two hosts, beside what MPI itself has for it.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "job_b.h"
#include "kernel/copy.h"
#include "reshard/error.h"
#include "reshard/mpi_fabric.h"

namespace reshard::bench {
namespace {

constexpr int kEdge = static_cast<int>(kEdgeOfJobB), kHalf = kEdge / 2;

MPI_Datatype block_of(std::array<int, 2> sizes, std::array<int, 2> starts) {
  const std::array<int, 2> part{kHalf, kHalf};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes.data(), part.data(), starts.data(), MPI_ORDER_C, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  return type;
}

// Where the share of each rank lies in a rank's rows, and in its columns.
struct Blocks {
  std::array<MPI_Datatype, 2> in_rows{block_of({kHalf, kEdge}, {0, 0}), block_of({kHalf, kEdge}, {0, kHalf})};
  std::array<MPI_Datatype, 2> in_columns{block_of({kEdge, kHalf}, {0, 0}), block_of({kEdge, kHalf}, {kHalf, 0})};

  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (std::size_t rank : {0, 1}) {
      MPI_Type_free(&in_rows[rank]);
      MPI_Type_free(&in_columns[rank]);
    }
  }
};

// The columns of both ranks as a window, in one passive epoch.
struct Columns {
  MPI_Win window = MPI_WIN_NULL;

  explicit Columns(std::byte* columns) {
    MPI_Win_create(columns, MPI_Aint{kEdge} * kHalf * 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  ~Columns() {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
};

void alltoallw(const Blocks& blocks, const std::byte* rows, std::byte* columns) {
  constexpr std::array<int, 2> once{1, 1}, none{0, 0};
  MPI_Alltoallw(rows, once.data(), none.data(), blocks.in_rows.data(), columns, once.data(), none.data(),
                blocks.in_columns.data(), MPI_COMM_WORLD);
}

void put(const Blocks& blocks, const std::byte* rows, std::size_t self, MPI_Win window) {
  for (const int peer : {0, 1}) {
    MPI_Put(rows, 1, blocks.in_rows[static_cast<std::size_t>(peer)], peer, 0, 1, blocks.in_columns[self], window);
  }
  MPI_Win_flush_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
}

std::vector<Rival> mpi_rivals(std::byte* rows, std::byte* columns) {
  const auto blocks = std::make_shared<Blocks>();
  const auto target = std::make_shared<Columns>(columns);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return {{"alltoallw", [=] { alltoallw(*blocks, rows, columns); }},
          {"put", [=] { put(*blocks, rows, static_cast<std::size_t>(rank), target->window); }}};
}

}  // namespace
}  // namespace reshard::bench

int main(int argc, char** argv) {
  using namespace reshard;
  MPI_Init(&argc, &argv);
  try {
    MpiWorld world = join_mpi(MPI_COMM_WORLD, {.copy = copy_strided});
    bench::race_job_b(world.endpoint(), "mpi", argv[1], std::atoi(argv[2]), bench::mpi_rivals);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
