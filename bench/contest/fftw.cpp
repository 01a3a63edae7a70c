// FFTW in the contest: the transposition of its MPI transforms, which moves rows over ranks to columns over the same
// ranks. mpirun -n RANKS fftw
#include <fftw3-mpi.h>

#include <cstdio>

#include "mpi.h"

namespace contest {
namespace {

// Of a matrix distributed over all ranks by rows, to one whose columns are, each rank's part row-major.
class Transposition {
 public:
  Transposition(Index rows, Index columns, float* from, float* to) {
    plan_ = fftwf_mpi_plan_many_transpose(rows, columns, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, from, to,
                                          MPI_COMM_WORLD, FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    if (plan_ == nullptr) throw std::runtime_error("FFTW has no plan for this transposition");
  }
  ~Transposition() { fftwf_destroy_plan(plan_); }
  Transposition(const Transposition&) = delete;
  Transposition& operator=(const Transposition&) = delete;
  void run() const { fftwf_execute(plan_); }

 private:
  fftwf_plan plan_;
};

class Fftw : public Contestant {
 public:
  explicit Fftw(Place place) : place_(place) { fftwf_mpi_init(); }

  Stage open(const Job& job) override {
    Stage stage;
    const bool all = job.source.first == 0 && job.target.first == 0 && job.source.rows == place_.ranks &&
                     job.target.columns == place_.ranks;
    if (job.kind != Job::Kind::matrix || !all) return stage;
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    auto transposition =
        std::make_shared<Transposition>(job.rows, job.columns, reinterpret_cast<float*>(sources[0].data()),
                                        reinterpret_cast<float*>(targets[0].data()));
    stage.ways.push_back({"transpose", sources, targets, [transposition] { transposition->run(); }});
    return stage;
  }

 private:
  Place place_;
};

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  return contest::run_mpi(argc, argv, "fftw", [](contest::Place place) { return contest::Fftw(place); });
}
