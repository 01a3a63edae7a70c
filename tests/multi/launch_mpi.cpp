// Ranks as the processes of mpirun. Every process runs every test in step with the others; those that a world has no
// place for sit it out. Three worlds, by what the ranks take for their host: all one, each its own, two by two.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "fabric/host/outcome.h"
#include "launch.h"
#include "reshard/mpi_fabric.h"

namespace reshard::multi {
namespace {

// When the tests begin: flags, which choose the printer, are read after the fabrics.
struct Silence final : ::testing::Environment {
  void SetUp() override {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
};

// From the first look to the end of the process. Only rank 0 prints.
struct Mpi {
  Mpi() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) ::testing::AddGlobalTestEnvironment(new Silence);
  }
  ~Mpi() { MPI_Finalize(); }
  int rank = 0;
  int ranks = 0;
};

const Mpi& mpi() {
  static const Mpi started;
  return started;
}

// A rank's outcome as numbers and text that all are told.
struct Told {
  int end = 0;
  int code = -1;
  char message[2048] = {};
};

std::vector<RankOutcome> tell_all(const RankOutcome& mine, Index ranks) {
  Told told{static_cast<int>(mine.end), mine.code ? static_cast<int>(*mine.code) : -1, {}};
  std::strncpy(told.message, mine.message.c_str(), sizeof told.message - 1);
  std::vector<Told> all(static_cast<std::size_t>(mpi().ranks));
  // Those that sit it out sleep meanwhile: MPI's own waits would take the cores from the ranks of the test.
  MPI_Request all_told;
  MPI_Iallgather(&told, sizeof told, MPI_BYTE, all.data(), sizeof told, MPI_BYTE, MPI_COMM_WORLD, &all_told);
  for (int done = 0; MPI_Test(&all_told, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::vector<RankOutcome> outcomes;
  for (Index r = 0; r < ranks; ++r) {
    const Told& it = all[static_cast<std::size_t>(r)];
    outcomes.push_back({.end = static_cast<RankOutcome::End>(it.end), .message = it.message});
    if (it.code >= 0) outcomes.back().code = static_cast<Code>(it.code);
  }
  return outcomes;
}

class MpiLaunch final : public Fabric {
 public:
  // So many ranks on a host.
  MpiLaunch(std::string name, Index on_a_host) : name_(std::move(name)), on_a_host_(on_a_host) {}
  std::string name() const override { return name_; }
  Traits traits() const override {
    const bool has_messages = on_a_host_ < kAll;
    return {.capabilities = {.load_store = on_a_host_ > 1, .needs_service = has_messages},
            .is_one_host = !has_messages,
            .tells_causes = false};
  }
  // A world of no more ranks than one host has is no world of several hosts.
  bool has_ranks(Index ranks) const override {
    const bool is_what_it_says = on_a_host_ == 1 || on_a_host_ == kAll ? true : ranks > on_a_host_;
    return ranks <= mpi().ranks && is_what_it_says && (ranks > 1 || on_a_host_ == 1);
  }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    if (ranks < 1) throw Error(Code::invalid_argument, "a world without ranks");
    MPI_Comm chosen = MPI_COMM_NULL;
    const bool is_chosen = mpi().rank < ranks;
    MPI_Comm_split(MPI_COMM_WORLD, is_chosen ? 0 : MPI_UNDEFINED, mpi().rank, &chosen);
    RankOutcome mine;
    if (is_chosen) {
      mine = run_here(chosen, body, options);
      MPI_Comm_free(&chosen);
    }
    return tell_all(mine, ranks);
  }

  static constexpr Index kAll = 1000;

 private:
  RankOutcome run_here(MPI_Comm chosen, const RankBody& body, const RunOptions& options) const {
    try {
      MpiWorld world = join_mpi(chosen, {.copy = options.copy,
                                         .host = "host" + std::to_string(mpi().rank / on_a_host_),
                                         .window_space = options.window_space,
                                         .timeout = std::chrono::seconds(120)});
      body(world.endpoint());
      return {};
    } catch (...) {
      return fabric::outcome_of_exception(RankId(mpi().rank));
    }
  }

  std::string name_;
  Index on_a_host_;
};

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const MpiLaunch together(RESHARD_MPI_NAME "_together", MpiLaunch::kAll);
  static const MpiLaunch apart(RESHARD_MPI_NAME "_apart", 1);
  static const MpiLaunch pairs(RESHARD_MPI_NAME "_pairs", 2);
  static const std::vector<const Fabric*> all{&together, &apart, &pairs};
  return all;
}

}  // namespace reshard::multi
