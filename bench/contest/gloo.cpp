// gloo in the contest, over TCP on the loopback: gloo RANK RANKS, with CONTEST_FOLDER naming an empty folder in which
// its ranks meet. Redistributions are packed, exchanged by alltoallv, and unpacked.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <cstdlib>

#include "rank.h"
#include "shares.h"

namespace contest {
namespace {

constexpr std::chrono::seconds gloo_timeout{60};

std::shared_ptr<gloo::Context> connect(Place place, const char* folder) {
  if (folder == nullptr) throw std::runtime_error("CONTEST_FOLDER names no folder; contest.py starts this program");
  gloo::rendezvous::FileStore store(folder);
  gloo::transport::tcp::attr address;
  address.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(address);
  auto context = std::make_shared<gloo::rendezvous::Context>(place.rank, place.ranks);
  context->setTimeout(gloo_timeout);
  context->connectFullMesh(store, device);
  return context;
}

class Gloo : public Contestant {
 public:
  Gloo(Place place, std::shared_ptr<gloo::Context> context) : place_(place), context_(std::move(context)) {}

  Stage open(const Job& job) override {
    Stage stage;
    if (job.kind == Job::Kind::matrix || job.kind == Job::Kind::tensors) open_move(job, stage);
    if (job.kind == Job::Kind::collective) open_collective(job, stage);
    if (job.kind == Job::Kind::barrier) {
      stage.ways.push_back({"barrier", {}, {}, [this] {
                              gloo::BarrierOptions options(context_);
                              gloo::barrier(options);
                            }});
    }
    return stage;
  }

 private:
  std::vector<std::int64_t> counts_of(const std::vector<Share>& shares) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(place_.ranks), 0);
    for (const Share& share : shares) counts[static_cast<std::size_t>(share.peer)] = share.bytes / element_bytes;
    return counts;
  }

  void open_move(const Job& job, Stage& stage) {
    struct Exchange {
      std::vector<Share> sends, receives;
      std::vector<std::int64_t> sent, received;
      Pages packed, arrived;
    };
    std::vector<Share> sends = shares_sent(job, place_), receives = shares_received(job, place_);
    const auto sent = static_cast<std::size_t>(bytes_of(sends)),
               received = static_cast<std::size_t>(bytes_of(receives));
    std::shared_ptr<Exchange> exchange(
        new Exchange{sends, receives, counts_of(sends), counts_of(receives), Pages(sent), Pages(received)});
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    const std::byte* from = sources.empty() ? nullptr : sources[0].data();
    std::byte* to = targets.empty() ? nullptr : targets[0].data();
    stage.ways.push_back({"alltoallv", sources, targets, [this, exchange, from, to] {
                            pack(exchange->sends, from, exchange->packed.data());
                            gloo::AlltoallvOptions options(context_);
                            options.setInput(floats(exchange->packed.data()), exchange->sent);
                            options.setOutput(floats(exchange->arrived.data()), exchange->received);
                            gloo::alltoallv(options);
                            unpack(exchange->receives, exchange->arrived.data(), to);
                          }});
  }

  void open_collective(const Job& job, Stage& stage) {
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    float* from = sources.empty() ? nullptr : floats(sources[0].data());
    float* to = targets.empty() ? nullptr : floats(targets[0].data());
    const auto all = static_cast<std::size_t>(job.bytes / element_bytes),
               ranks = static_cast<std::size_t>(place_.ranks);
    const auto add = [&](const char* name, std::function<void()> run) {
      stage.ways.push_back({name, sources, targets, std::move(run)});
    };
    if (job.is("all_to_all")) {
      add("alltoall", [this, from, to, all] {
        gloo::AlltoallOptions options(context_);
        options.setInput(from, all);
        options.setOutput(to, all);
        gloo::alltoall(options);
      });
    } else if (job.is("all_gather")) {
      add("allgather", [this, from, to, all, ranks] {
        gloo::AllgatherOptions options(context_);
        options.setInput(from, all / ranks);
        options.setOutput(to, all);
        gloo::allgather(options);
      });
    } else if (job.is("all_reduce")) {
      add("allreduce", [this, from, to, all] {
        gloo::AllreduceOptions options(context_);
        options.setInput(from, all);
        options.setOutput(to, all);
        options.setReduceFunction(
            [](void* sum, const void* a, const void* b, std::size_t n) { gloo::sum<float>(sum, a, b, n); });
        gloo::allreduce(options);
      });
    } else if (job.is("broadcast")) {
      float* buffer = place_.rank == 0 ? from : to;
      add("broadcast", [this, buffer, all] {
        gloo::BroadcastOptions options(context_);
        options.setOutput(buffer, all);
        options.setRoot(0);
        gloo::broadcast(options);
      });
    }
  }

  static float* floats(std::byte* memory) { return reinterpret_cast<float*>(memory); }

  Place place_;
  std::shared_ptr<gloo::Context> context_;
};

int run(Place place) {
  Gloo gloo(place, connect(place, std::getenv("CONTEST_FOLDER")));
  obey("gloo", place, gloo);
  return 0;
}

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gloo RANK RANKS; started by contest.py\n");
    return 2;
  }
  try {
    return contest::run({std::atoi(argv[1]), std::atoi(argv[2])});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gloo: rank %s: %s\n", argv[1], error.what());
    return 1;
  }
}
