// An MPI implementation in the contest, as its users would write the jobs: mpirun -n RANKS mpi_contestant NAME
//
//   put        MPI_Put of subarrays from private memory into window memory, MPI_Win_flush_all, MPI_Barrier
//   isend      MPI_Isend and MPI_Irecv of subarrays
//   alltoallw  one MPI_Alltoallw of subarrays
//   pack       copied into one buffer, MPI_Alltoallv, copied out of one
// and each collective by its own name. All memory but window memory is private.
#include "mpi.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "shares.h"

namespace contest {
namespace {

// Window memory of this rank, in one passive epoch for as long as it lives.
class Window {
 public:
  explicit Window(Index bytes) {
    check_mpi(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_), "MPI_Win_allocate");
    check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    if (bytes > 0) std::memset(memory_, 0, static_cast<std::size_t>(bytes));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Window() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  std::byte* memory() const { return static_cast<std::byte*>(memory_); }
  MPI_Win get() const { return window_; }

 private:
  void* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// The rows of one block of a matrix.
Datatype subarray_of(const Block& block) {
  const auto elements = [](Index bytes) { return static_cast<int>(bytes / element_bytes); };
  const auto first_row = static_cast<int>(block.offset / block.pitch), rows = static_cast<int>(block.rows);
  const std::array<int, 2> sizes{first_row + rows, elements(block.pitch)}, part{rows, elements(block.row_bytes)};
  const std::array<int, 2> starts{first_row, elements(block.offset % block.pitch)};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_subarray(2, sizes.data(), part.data(), starts.data(), MPI_ORDER_C, MPI_FLOAT, &type),
            "MPI_Type_create_subarray");
  return Datatype(type);
}

// One type over the blocks of a share, from the start of the buffer on.
Datatype type_of(const std::vector<Block>& blocks) {
  if (blocks.size() == 1) return subarray_of(blocks[0]);
  std::vector<int> lengths;
  std::vector<MPI_Aint> offsets;
  for (const Block& block : blocks) {  // of tensors: one row each
    lengths.push_back(static_cast<int>(block.row_bytes / element_bytes));
    offsets.push_back(block.offset);
  }
  MPI_Datatype all = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_hindexed(static_cast<int>(blocks.size()), lengths.data(), offsets.data(), MPI_FLOAT, &all),
            "MPI_Type_create_hindexed");
  return Datatype(all);
}

// What a redistribution is to one rank: with each peer one datatype at either end.
struct Exchange {
  std::vector<Share> sends, receives;
  std::vector<Datatype> send_types, receive_types;
  std::vector<Datatype> far_types;  // where what is sent lies in the peer's target
  // As MPI_Alltoallw wants them: one per rank of the world.
  std::vector<int> send_counts, receive_counts, zeros;
  std::vector<MPI_Datatype> send_all, receive_all;
  std::vector<MPI_Request> requests;
  // As MPI_Alltoallv wants them, in elements.
  std::vector<int> send_elements, send_starts, receive_elements, receive_starts;
};

class Mpi : public Contestant {
 public:
  explicit Mpi(Place place) : place_(place) {}

  Stage open(const Job& job) override {
    Stage stage;
    switch (job.kind) {
      case Job::Kind::matrix:
      case Job::Kind::tensors: open_move(job, stage); break;
      case Job::Kind::collective: open_collective(job, stage); break;
      case Job::Kind::hop: stage.ways.push_back({"send and receive", {}, {}, [this] { hop(); }}); break;
      case Job::Kind::barrier:
        stage.ways.push_back({"MPI_Barrier", {}, {}, [] { check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }});
        break;
      case Job::Kind::cast: break;
    }
    return stage;
  }

 private:
  std::shared_ptr<Exchange> exchange_of(const Job& job) const {
    auto exchange = std::make_shared<Exchange>();
    exchange->sends = shares_sent(job, place_);
    exchange->receives = shares_received(job, place_);
    const auto ranks = static_cast<std::size_t>(place_.ranks);
    exchange->zeros.assign(ranks, 0);
    exchange->send_counts = exchange->receive_counts = exchange->zeros;
    exchange->send_elements = exchange->send_starts = exchange->receive_elements = exchange->receive_starts =
        exchange->zeros;
    exchange->send_all.assign(ranks, MPI_FLOAT);
    exchange->receive_all = exchange->send_all;
    int start = 0;
    for (const Share& share : exchange->sends) {
      const auto peer = static_cast<std::size_t>(share.peer);
      exchange->send_types.push_back(type_of(share.near));
      exchange->far_types.push_back(type_of(share.far));
      exchange->send_counts[peer] = 1;
      exchange->send_all[peer] = exchange->send_types.back().get();
      exchange->send_elements[peer] = static_cast<int>(share.bytes / element_bytes);
      exchange->send_starts[peer] = start;
      start += exchange->send_elements[peer];
    }
    start = 0;
    for (const Share& share : exchange->receives) {
      const auto peer = static_cast<std::size_t>(share.peer);
      exchange->receive_types.push_back(type_of(share.near));
      exchange->receive_counts[peer] = 1;
      exchange->receive_all[peer] = exchange->receive_types.back().get();
      exchange->receive_elements[peer] = static_cast<int>(share.bytes / element_bytes);
      exchange->receive_starts[peer] = start;
      start += exchange->receive_elements[peer];
    }
    exchange->requests.resize(exchange->sends.size() + exchange->receives.size());
    return exchange;
  }

  void open_move(const Job& job, Stage& stage) {
    const std::shared_ptr<Exchange> exchange = exchange_of(job);
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    const std::byte* from = sources.empty() ? nullptr : sources[0].data();
    std::byte* to = targets.empty() ? nullptr : targets[0].data();
    auto window = std::make_shared<Window>(bytes_to_place(target_bytes(job, place_)));
    stage.keeps.push_back(window);
    stage.ways.push_back({"put", sources, place_buffers(target_bytes(job, place_), window->memory()),
                          [exchange, from, window] { put(*exchange, from, window->get()); }});
    stage.ways.push_back({"isend", sources, targets, [exchange, from, to] { isend(*exchange, from, to); }});
    stage.ways.push_back({"alltoallw", sources, targets, [exchange, from, to] { alltoallw(*exchange, from, to); }});
    const auto packed = std::make_shared<Pages>(static_cast<std::size_t>(bytes_of(exchange->sends)));
    const auto arrived = std::make_shared<Pages>(static_cast<std::size_t>(bytes_of(exchange->receives)));
    stage.ways.push_back({"pack", sources, targets, [exchange, from, to, packed, arrived] {
                            pack(exchange->sends, from, packed->data());
                            alltoallv(*exchange, packed->data(), arrived->data());
                            unpack(exchange->receives, arrived->data(), to);
                          }});
  }

  static void put(const Exchange& exchange, const std::byte* from, MPI_Win window) {
    for (std::size_t i = 0; i < exchange.sends.size(); ++i) {
      check_mpi(MPI_Put(from, 1, exchange.send_types[i].get(), exchange.sends[i].peer, 0, 1,
                        exchange.far_types[i].get(), window),
                "MPI_Put");
    }
    check_mpi(MPI_Win_flush_all(window), "MPI_Win_flush_all");
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    check_mpi(MPI_Win_sync(window), "MPI_Win_sync");
  }

  static void isend(Exchange& exchange, const std::byte* from, std::byte* to) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < exchange.receives.size(); ++i) {
      check_mpi(MPI_Irecv(to, 1, exchange.receive_types[i].get(), exchange.receives[i].peer, 0, MPI_COMM_WORLD,
                          &exchange.requests[at++]),
                "MPI_Irecv");
    }
    for (std::size_t i = 0; i < exchange.sends.size(); ++i) {
      check_mpi(MPI_Isend(from, 1, exchange.send_types[i].get(), exchange.sends[i].peer, 0, MPI_COMM_WORLD,
                          &exchange.requests[at++]),
                "MPI_Isend");
    }
    check_mpi(MPI_Waitall(static_cast<int>(at), exchange.requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  static void alltoallw(const Exchange& exchange, const std::byte* from, std::byte* to) {
    check_mpi(MPI_Alltoallw(from, exchange.send_counts.data(), exchange.zeros.data(), exchange.send_all.data(), to,
                            exchange.receive_counts.data(), exchange.zeros.data(), exchange.receive_all.data(),
                            MPI_COMM_WORLD),
              "MPI_Alltoallw");
  }

  static void alltoallv(const Exchange& exchange, const std::byte* from, std::byte* to) {
    check_mpi(
        MPI_Alltoallv(from, exchange.send_elements.data(), exchange.send_starts.data(), MPI_FLOAT, to,
                      exchange.receive_elements.data(), exchange.receive_starts.data(), MPI_FLOAT, MPI_COMM_WORLD),
        "MPI_Alltoallv");
  }

  void open_collective(const Job& job, Stage& stage) {
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    const std::byte* from = sources.empty() ? nullptr : sources[0].data();
    std::byte* to = targets.empty() ? nullptr : targets[0].data();
    const int all = static_cast<int>(job.bytes / element_bytes), part = all / place_.ranks;
    const auto add = [&](const char* name, const std::function<int()>& call) {
      stage.ways.push_back({name, sources, targets, [name, call] { check_mpi(call(), name); }});
    };
    if (job.is("all_to_all")) {
      add("MPI_Alltoall", [=] { return MPI_Alltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD); });
      std::vector<int> counts(static_cast<std::size_t>(place_.ranks), part), starts;
      for (int r = 0; r < place_.ranks; ++r) starts.push_back(r * part);
      add("MPI_Alltoallv", [=] {
        return MPI_Alltoallv(from, counts.data(), starts.data(), MPI_FLOAT, to, counts.data(), starts.data(), MPI_FLOAT,
                             MPI_COMM_WORLD);
      });
    } else if (job.is("all_gather")) {
      add("MPI_Allgather", [=] { return MPI_Allgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD); });
    } else if (job.is("reduce_scatter")) {
      add("MPI_Reduce_scatter_block",
          [=] { return MPI_Reduce_scatter_block(from, to, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    } else if (job.is("all_reduce")) {
      add("MPI_Allreduce", [=] { return MPI_Allreduce(from, to, all, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    } else if (job.is("broadcast")) {
      void* buffer = place_.rank == 0 ? static_cast<void*>(sources[0].data()) : to;
      add("MPI_Bcast", [=] { return MPI_Bcast(buffer, all, MPI_FLOAT, 0, MPI_COMM_WORLD); });
    }
  }

  void hop() {
    std::uint64_t token = 1;
    const auto send = [&] {
      check_mpi(MPI_Send(&token, 1, MPI_UINT64_T, 1 - place_.rank, 0, MPI_COMM_WORLD), "MPI_Send");
    };
    if (place_.rank == 0) send();
    check_mpi(MPI_Recv(&token, 1, MPI_UINT64_T, 1 - place_.rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    if (place_.rank == 1) send();
  }

  Place place_;
};

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "mpi";
  return contest::run_mpi(argc, argv, name, [](contest::Place place) { return contest::Mpi(place); });
}
