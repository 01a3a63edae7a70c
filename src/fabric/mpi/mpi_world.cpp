#include <optional>

#include "fabric/message/hosted_world.h"
#include "fabric/mpi/mpi_calls.h"
#include "fabric/mpi/mpi_wire.h"
#include "reshard/mpi_fabric.h"

namespace reshard {
namespace {

using fabric::check_mpi;

void check_initialised() {
  int is_initialised = 0, is_finalised = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalised);
  if (!is_initialised) fail(Code::invalid_argument, "join_mpi before MPI_Init: call MPI_Init first");
  if (is_finalised) fail(Code::invalid_argument, "join_mpi after MPI_Finalize: MPI cannot be started again");
}

// A communicator of our own: messages of the caller never meet ours, and its errors come back to us.
class OwnCommunicator {
 public:
  explicit OwnCommunicator(MPI_Comm of) {
    check_mpi(MPI_Comm_dup(of, &handle_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  OwnCommunicator(const OwnCommunicator&) = delete;
  OwnCommunicator& operator=(const OwnCommunicator&) = delete;
  // Collective, and so only where all have left in good order.
  ~OwnCommunicator() {
    if (is_whole) MPI_Comm_free(&handle_);
  }
  MPI_Comm get() const { return handle_; }
  bool is_whole = false;

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

// What each rank brought. Collective over the communicator.
std::vector<std::string> gather_texts(MPI_Comm communicator, std::string_view mine) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(communicator, &ranks), "MPI_Comm_size");
  const int bytes = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), offsets(lengths.size());
  check_mpi(MPI_Allgather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator), "MPI_Allgather");
  int all = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    offsets[r] = all;
    all += lengths[r];
  }
  std::string text(static_cast<std::size_t>(all), '\0');
  check_mpi(
      MPI_Allgatherv(mine.data(), bytes, MPI_CHAR, text.data(), lengths.data(), offsets.data(), MPI_CHAR, communicator),
      "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(text.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

}  // namespace

struct MpiWorld::State {
  OwnCommunicator communicator;
  std::chrono::milliseconds timeout;
  std::optional<fabric::HostedWorld> world;

  State(MPI_Comm of, const MpiOptions& options) : communicator(of), timeout(options.timeout) {
    int rank = 0;
    check_mpi(MPI_Comm_rank(communicator.get(), &rank), "MPI_Comm_rank");
    const Exchange exchange = [this](std::string_view mine, Clock::time_point) {
      return gather_texts(communicator.get(), mine);
    };
    fabric::HostGroup group = fabric::join_hosts({RankId(rank), options.host, options.copy, options.window_space},
                                                 exchange, Clock::now() + timeout);
    std::unique_ptr<fabric::Wire> wire;
    if (!group.is_whole_world()) wire = std::make_unique<fabric::MpiWire>(communicator.get());
    world.emplace(std::move(group), std::move(wire), options.copy, timeout);
  }
  ~State() { communicator.is_whole = world->leave(Clock::now() + timeout); }
};

MpiWorld::MpiWorld(std::unique_ptr<State> state) : state_(std::move(state)) {}
MpiWorld::MpiWorld(MpiWorld&&) noexcept = default;

MpiWorld::~MpiWorld() = default;
Endpoint& MpiWorld::endpoint() { return state_->world->endpoint(); }

MpiWorld join_mpi(MPI_Comm communicator, const MpiOptions& options) {
  check_initialised();
  MpiWorld world(std::make_unique<MpiWorld::State>(communicator, options));
  world.endpoint().barrier(Clock::now() + options.timeout);
  return world;
}

}  // namespace reshard
