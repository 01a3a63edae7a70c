#include "fabric/shm/joined_host.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <sstream>

#include "base/fail.h"
#include "fabric/host/host_endpoint.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/front.h"
#include "fabric/shm/peer_watch.h"
#include "fabric/shm/slice_store.h"

namespace reshard::fabric {
namespace {

constexpr std::chrono::seconds kPatience{30};  // of leaving

// What a process tells of its memory. `failure` non-empty: it has none, and why.
struct Invitation {
  pid_t process = -1;
  int descriptor = -1;
  Index bytes = 0;
  std::uint64_t mark = 0;           // the file begins with it
  std::uintptr_t private_mark = 0;  // where it also lies, in memory that is not shared
  std::string failure{};
};

std::string write(const Invitation& mine) {
  return fmt::format("{} {} {} {} {} {}", mine.process, mine.descriptor, mine.bytes, mine.mark, mine.private_mark,
                     mine.failure);
}

Invitation read_invitation(RankId rank, const std::string& text) {
  std::istringstream in(text);
  Invitation it;
  if (!(in >> it.process >> it.descriptor >> it.bytes >> it.mark >> it.private_mark)) {
    fail(Code::corrupt, "rank {}: \"{}\" is no invitation to shared memory", rank.value(), text);
  }
  in.get();
  std::getline(in, it.failure, '\0');
  if (!it.failure.empty()) fail(Code::io, "rank {} cannot share memory: {}", rank.value(), it.failure);
  return it;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number)) return number;
  fail(Code::io, "cannot get a random number: {}", std::strerror(errno));
}

bool can_copy_from(const Invitation& it) {
  std::uint64_t read = 0;
  const iovec here{&read, sizeof read};
  const iovec there{reinterpret_cast<void*>(it.private_mark), sizeof read};
  return ::process_vm_readv(it.process, &here, 1, &there, 1, 0) == sizeof read && read == it.mark;
}

constexpr std::string_view kByKernel = "kernel copies";
constexpr std::string_view kByOwner = "owner copies";

// Collective. Throws what any of them failed with, on all; else, whether all can copy by the kernel.
bool agree(const HostRank& host, const Exchange& exchange, std::string_view mine, Clock::time_point deadline) {
  bool by_kernel = true;
  const auto all = exchange(mine, deadline);
  for (std::size_t r = 0; r < all.size(); ++r) {
    by_kernel = by_kernel && all[r] == kByKernel;
    if (all[r] == kByKernel || all[r] == kByOwner) continue;
    fail(Code::io, "rank {} cannot share memory with the ranks of its host: {}", host.ranks[r].value(), all[r]);
  }
  return by_kernel;
}

// The steps of joining. Between them lie the exchanges, to which every rank comes even when it has failed.
class Joining {
 public:
  Joining(const HostRank& host, Index window_space)
      : host_(host),
        here_(static_cast<Index>(host.here)),
        by_kernel_(host.kernel_copies && allow_kernel_copies()),
        watch_(std::make_unique<PeerWatch>(here_)) {
    try {
      // As many as will be mapped, to see that there is address space for them.
      auto files = make_files(count(), Front::bytes(count()), window_space);
      own_.push_back(std::move(files.front()));
      mine_ = {::getpid(), own_.front().descriptor(), own_.front().bytes(), random_number(),
               reinterpret_cast<std::uintptr_t>(&mine_.mark)};
      Front& front = Front::construct(own_.front().base(), count(), mine_.mark);
      if (host.here == 0) WorldState::construct(front.world(), host.ranks);
    } catch (const Error& error) {
      mine_.failure = error.what();
    }
  }

  std::string invitation() const { return write(mine_); }

  // How this rank can reach the others' private memory, or why it cannot join.
  std::string open(const std::vector<std::string>& invitations) {
    try {
      std::vector<MemoryFile> files;
      for (std::size_t r = 0; r < invitations.size(); ++r) {
        const Invitation it = read_invitation(host_.ranks[r], invitations[r]);
        watch_->add(it.process);  // first: holds the number while the file is opened
        if (r == host_.here) {
          files.push_back(std::move(own_.front()));
        } else {
          files.emplace_back(it.process, it.descriptor, it.bytes);
        }
        if (Front::of(files.back().base()).mark() != it.mark) {
          fail(Code::io, "process {} is not rank {}: ranks of one host need one view of /proc", it.process,
               host_.ranks[r].value());
        }
        by_kernel_ = by_kernel_ && can_copy_from(it);
      }
      arena_ = std::make_unique<Arena>(std::move(files), Front::bytes(count()));
      watch_->record_in(world());
      world().rank(here_).process.store(::getpid(), std::memory_order_relaxed);  // read after a collective call
    } catch (const Error& error) {
      return error.what();
    }
    return std::string(by_kernel_ ? kByKernel : kByOwner);
  }

  WorldState& world() { return *reinterpret_cast<WorldState*>(Front::of(arena_->file(RankId(0)).base()).world()); }
  std::unique_ptr<Arena> take_arena() { return std::move(arena_); }
  std::unique_ptr<PeerWatch> take_watch() { return std::move(watch_); }

 private:
  Index count() const { return static_cast<Index>(host_.ranks.size()); }

  const HostRank& host_;
  RankId here_;
  bool by_kernel_;
  std::vector<MemoryFile> own_;  // one, until it is part of the arena
  Invitation mine_;
  std::unique_ptr<PeerWatch> watch_;
  std::unique_ptr<Arena> arena_;
};

class Joined final : public JoinedHost {
 public:
  Joined(WorldState& world, RankId here, std::unique_ptr<Arena> arena, std::unique_ptr<PeerWatch> watch,
         CopyKernel copy, bool by_kernel)
      : world_(world),
        here_(here),
        arena_(std::move(arena)),
        watch_(std::move(watch)),
        store_(*arena_, here, RunOptions{}.kept_memory),
        private_memory_(private_memory(by_kernel, world, here, *arena_, watch_.get(), copy)),
        endpoint_({world, here, store_, copy, private_memory_.get(), watch_.get()}) {}

  // Left because of an exception, it counts as failed, so that nobody waits for it.
  ~Joined() override {
    RankOutcome outcome;
    const bool is_thrown = std::uncaught_exceptions() > exceptions_;
    if (!is_thrown) endpoint_.leave(Clock::now() + kPatience);
    if (is_thrown) {
      outcome = {.end = RankOutcome::End::threw, .code = Code::peer_lost, .message = "it has left after an exception"};
    }
    world_.record(here_, outcome);
  }

  Endpoint& endpoint() override { return endpoint_; }

  void sleep(Clock::time_point until) override {
    if (world_.lost() >= 0) return;
    world_.rank(here_).bell.sleep_armed(heard_, std::min(until, watch_->look()));
  }

 private:
  WorldState& world_;
  RankId here_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<PeerWatch> watch_;
  SliceStore store_;
  std::unique_ptr<PrivateMemory> private_memory_;
  HostEndpoint endpoint_;
  Doorbell::Heard heard_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<JoinedHost> JoinedHost::join(const HostRank& host, const Exchange& exchange, CopyKernel copy,
                                             Index window_space, Clock::time_point deadline) {
  if (host.here >= host.ranks.size()) {
    fail(Code::invalid_argument, "number {} is not one of the host's {} ranks", host.here, host.ranks.size());
  }
  Joining joining(host, window_space);
  const std::string mine = joining.open(exchange(joining.invitation(), deadline));
  const bool by_kernel = agree(host, exchange, mine, deadline);
  WorldState& world = joining.world();
  return std::make_unique<Joined>(world, RankId(static_cast<Index>(host.here)), joining.take_arena(),
                                  joining.take_watch(), copy, by_kernel);
}

}  // namespace reshard::fabric
