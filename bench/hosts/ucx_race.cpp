// ucx_race ADDRESS_OF_RANK_0 FOLDER ROUNDS: one of two ranks over UCX; the environment says which, HOST.
#include <cstdio>
#include <cstdlib>

#include "job_b.h"
#include "kernel/copy.h"
#include "reshard/error.h"
#include "reshard/ucx_fabric.h"

int main(int, char** argv) {
  using namespace reshard;
  const RankId rank(std::atol(std::getenv("HOST")));
  try {
    UcxWorld world =
        join_ucx({.rank = rank, .ranks = 2, .exchange = through_folder(argv[2], "1", rank, 2), .copy = copy_strided});
    bench::race_job_b(world.endpoint(), "ucx", argv[1], std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %ld: %s\n", rank.value(), error.what());
    return 1;
  }
  return 0;
}
