// ScaLAPACK in the contest: p?gemr2d copies a block-cyclic matrix to another process grid. mpirun -n RANKS scalapack
//
// ScaLAPACK stores columns; a row-major matrix is its transpose, so rows and columns change places here.
#include <array>
#include <cstdio>

#include "mpi.h"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridmap(int* context, int* processes, int leading, int rows, int columns);
void Cblacs_gridexit(int context);
void Cpsgemr2d(int rows, int columns, float* a, int row_a, int column_a, int* descriptor_a, float* b, int row_b,
               int column_b, int* descriptor_b, int context);
}

namespace contest {
namespace {

// A BLACS context over the ranks of a grid; -1 on all others.
class Context {
 public:
  Context(int first, int rows, int columns) {
    std::vector<int> processes;
    for (int rank = 0; rank < rows * columns; ++rank) processes.push_back(first + rank);
    Cblacs_get(-1, 0, &number_);
    Cblacs_gridmap(&number_, processes.data(), rows, rows, columns);
  }
  ~Context() {
    if (number_ >= 0) Cblacs_gridexit(number_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// One block for each process.
class Matrix {
 public:
  Matrix(const Job& job, const Grid& grid)
      : context_(static_cast<int>(grid.first), static_cast<int>(grid.columns), static_cast<int>(grid.rows)) {
    const auto rows = static_cast<int>(job.columns), columns = static_cast<int>(job.rows);
    const int block_rows = rows / static_cast<int>(grid.columns), block_columns = columns / static_cast<int>(grid.rows);
    descriptor_ = {1, context_.number(), rows, columns, block_rows, block_columns, 0, 0, block_rows};
  }
  int* descriptor() { return descriptor_.data(); }

 private:
  Context context_;
  std::array<int, 9> descriptor_{};
};

class Scalapack : public Contestant {
 public:
  explicit Scalapack(Place place) : place_(place) {}

  Stage open(const Job& job) override {
    Stage stage;
    if (job.kind != Job::Kind::matrix) return stage;
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    auto a = std::make_shared<Matrix>(job, job.source), b = std::make_shared<Matrix>(job, job.target);
    auto* from = sources.empty() ? nullptr : reinterpret_cast<float*>(sources[0].data());
    auto* to = targets.empty() ? nullptr : reinterpret_cast<float*>(targets[0].data());
    auto all = std::make_shared<Context>(0, 1, place_.ranks);
    const auto rows = static_cast<int>(job.columns), columns = static_cast<int>(job.rows);
    stage.ways.push_back(
        {"psgemr2d", sources, targets,
         [=] { Cpsgemr2d(rows, columns, from, 1, 1, a->descriptor(), to, 1, 1, b->descriptor(), all->number()); }});
    return stage;
  }

 private:
  Place place_;
};

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  return contest::run_mpi(argc, argv, "scalapack", [](contest::Place place) { return contest::Scalapack(place); });
}
