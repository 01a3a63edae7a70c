// mpi_rank SCENARIO..: one rank of mpirun.
#include <mpi.h>

#include <thread>

#include "kernel/copy.h"
#include "reshard/mpi_fabric.h"
#include "scenarios.h"

namespace {

// mpirun ends all when the first ends badly: so long the others have to say how they end.
constexpr auto kLastWords = std::chrono::seconds(2);

}  // namespace

int main(int argc, char** argv) {
  using namespace reshard;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const hosts::Scenario scenario = hosts::read_scenario(argc, argv);
  const int code = hosts::report(rank, [&] {
    MpiWorld world = join_mpi(MPI_COMM_WORLD, {.copy = copy_strided, .timeout = scenario.timeout});
    hosts::run_scenario(world.endpoint(), scenario);
  });
  if (code != 0) {  // MPI_Finalize would wait for who is lost
    std::this_thread::sleep_for(kLastWords);
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
}
