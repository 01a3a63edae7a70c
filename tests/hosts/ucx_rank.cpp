// ucx_rank SCENARIO..: one rank over UCX. Which one, and where the others are found, the environment says: RANK, FOLDER
// and JOB.
#include <cstdlib>

#include "kernel/copy.h"
#include "reshard/ucx_fabric.h"
#include "scenarios.h"

int main(int argc, char** argv) {
  using namespace reshard;
  const hosts::Scenario scenario = hosts::read_scenario(argc, argv);
  const RankId rank(std::atol(std::getenv("RANK")));
  const auto ranks = static_cast<Index>(scenario.hosts.size());
  return hosts::report(rank.value(), [&] {
    UcxWorld world = join_ucx({.rank = rank,
                               .ranks = ranks,
                               .exchange = through_folder(std::getenv("FOLDER"), std::getenv("JOB"), rank, ranks),
                               .copy = copy_strided,
                               .timeout = scenario.timeout});
    hosts::run_scenario(world.endpoint(), scenario);
  });
}
