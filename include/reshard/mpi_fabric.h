// Ranks as the processes of an MPI communicator.
//
//   MPI_Init(&argc, &argv);
//   {
//     MpiWorld mpi = join_mpi(MPI_COMM_WORLD);
//     World world(mpi.endpoint());
//     ..
//   }
//   MPI_Finalize();
//
// Include it where <mpi.h> is found, and link reshard::openmpi or reshard::mpich, whichever <mpi.h> is of.
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>
#include <string>

#include "reshard/fabric.h"

namespace reshard {

struct MpiOptions {
  // Runs put and get between ranks of one host. Null: a plain loop over rows.
  CopyKernel copy = nullptr;
  // Ranks with one host identity share memory. Empty: RESHARD_HOST, else what the machine says of itself.
  std::string host = {};
  // Address space for the windows of this rank; see RunOptions.
  Index window_space = Index{64} << 30;
  // Of joining and of leaving, and of calls that take no deadline: get, put, notify, fence.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

// When a rank is lost: mpirun and mpiexec end all ranks once one has died. A rank that only stops lets the deadlines of
// the others pass; they get an Error that says for whom they waited. MPI_Finalize would wait for it too: end such a
// process with MPI_Abort, or without MPI_Finalize.
//
// This rank's part of a world over a duplicate of the communicator, whose errors become Errors. Leaving is collective:
// the destructor serves peers until all have left, one is lost, or the timeout is over. Must end before MPI_Finalize.
// Thread rule: confined; MPI_THREAD_FUNNELED suffices where it is the main thread.
class MpiWorld {
 public:
  MpiWorld(MpiWorld&&) noexcept;
  ~MpiWorld();
  Endpoint& endpoint();

 private:
  friend MpiWorld join_mpi(MPI_Comm, const MpiOptions&);
  struct State;
  explicit MpiWorld(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Collective over the communicator, which stays the caller's. Throws Error(invalid_argument) when MPI is not
// initialised or already finalised, Error(io) with MPI's own text for its errors.
MpiWorld join_mpi(MPI_Comm communicator, const MpiOptions& options = {});

}  // namespace reshard
