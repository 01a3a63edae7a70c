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
#include "fabric/shm/peer_watch.h"
#include "fabric/shm/slice_store.h"

namespace reshard::fabric {
namespace {

// Lies at the beginning of each file: whoever opens it sees that it is the right one.
struct alignas(64) FileMark {
  std::uint64_t nonce = 0;
};

// What a process tells of its memory. `failure` non-empty: it has none, and why.
struct Invitation {
  pid_t process = -1;
  int descriptor = -1;
  Index bytes = 0;
  std::uint64_t nonce = 0;
  std::string failure{};
};

std::string write(const Invitation& mine) {
  return fmt::format("{} {} {} {} {}", mine.process, mine.descriptor, mine.bytes, mine.nonce, mine.failure);
}

Invitation read_invitation(RankId rank, const std::string& text) {
  std::istringstream in(text);
  Invitation it;
  if (!(in >> it.process >> it.descriptor >> it.bytes >> it.nonce)) {
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

FileMark& mark_of(const MemoryFile& file) { return *reinterpret_cast<FileMark*>(file.base()); }

// Collective. Throws what any of them failed with, on all.
void agree(const HostRank& host, const Exchange& exchange, const std::string& failure, Clock::time_point deadline) {
  const auto failures = exchange(failure, deadline);
  for (std::size_t r = 0; r < failures.size(); ++r) {
    if (failures[r].empty()) continue;
    fail(Code::io, "rank {} cannot share memory with the ranks of its host: {}", host.ranks[r].value(), failures[r]);
  }
}

// The steps of joining. Between them lie the exchanges, to which every rank comes even when it has failed.
class Joining {
 public:
  Joining(const HostRank& host, Index window_space)
      : host_(host),
        here_(static_cast<Index>(host.here)),
        front_bytes_(static_cast<Index>(sizeof(FileMark) + WorldState::bytes_for(count()))),
        watch_(std::make_unique<PeerWatch>(here_)) {
    try {
      // As many as will be mapped, to see that there is address space for them.
      auto files = make_files(count(), front_bytes_, window_space);
      own_.push_back(std::move(files.front()));
      mine_ = {::getpid(), own_.front().descriptor(), own_.front().bytes(), random_number()};
      mark_of(own_.front()).nonce = mine_.nonce;
      if (host.here == 0) WorldState::construct(own_.front().base() + sizeof(FileMark), host.ranks);
    } catch (const Error& error) {
      mine_.failure = error.what();
    }
  }

  std::string invitation() const { return write(mine_); }

  // Why it failed; nothing if it did not.
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
        if (mark_of(files.back()).nonce != it.nonce) {
          fail(Code::io, "process {} is not rank {}: ranks of one host need one view of /proc", it.process,
               host_.ranks[r].value());
        }
      }
      arena_ = std::make_unique<Arena>(std::move(files), front_bytes_);
      watch_->record_in(world());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  WorldState& world() { return *reinterpret_cast<WorldState*>(arena_->state() + sizeof(FileMark)); }
  std::unique_ptr<Arena> take_arena() { return std::move(arena_); }
  std::unique_ptr<PeerWatch> take_watch() { return std::move(watch_); }

 private:
  Index count() const { return static_cast<Index>(host_.ranks.size()); }

  const HostRank& host_;
  RankId here_;
  Index front_bytes_;
  std::vector<MemoryFile> own_;  // one, until it is part of the arena
  Invitation mine_;
  std::unique_ptr<PeerWatch> watch_;
  std::unique_ptr<Arena> arena_;
};

class Joined final : public JoinedHost {
 public:
  Joined(WorldState& world, RankId here, std::unique_ptr<Arena> arena, std::unique_ptr<PeerWatch> watch,
         CopyKernel copy)
      : world_(world),
        here_(here),
        arena_(std::move(arena)),
        watch_(std::move(watch)),
        store_(*arena_, here),
        endpoint_(world, here, store_, copy, watch_.get()) {}

  // Left because of an exception, it counts as failed, so that nobody waits for it.
  ~Joined() override {
    RankOutcome outcome;
    if (std::uncaught_exceptions() > exceptions_) {
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
  const std::string failure = joining.open(exchange(joining.invitation(), deadline));
  agree(host, exchange, failure, deadline);
  WorldState& world = joining.world();
  return std::make_unique<Joined>(world, RankId(static_cast<Index>(host.here)), joining.take_arena(),
                                  joining.take_watch(), copy);
}

}  // namespace reshard::fabric
