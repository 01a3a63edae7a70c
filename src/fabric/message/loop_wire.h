// A wire between threads of one process: for tests of what is built on wires.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "fabric/message/strided.h"
#include "reshard/ranks.h"

namespace reshard::fabric {

struct LoopOptions {
  // 0: payloads land at once. Otherwise some land later than headers behind them, in any order, chosen by the seed.
  std::uint64_t seed = 0;
};

// What the wires of all ranks share. Thread rule: thread-safe; outlives the wires.
class LoopNetwork {
 public:
  explicit LoopNetwork(Index ranks, LoopOptions options = {});
  std::unique_ptr<Wire> wire(RankId rank);
  // As if the rank's process had died: all others are told that it is lost.
  void lose(RankId rank, std::string why);

 private:
  friend class LoopWire;
  struct Message {
    RankId from;
    std::vector<std::byte> header;
    Strided payload;
    StridedLoops loops;  // of the payload
    std::uint64_t ticket = 0;
    bool is_dropped = false;
    // Once the header has been told:
    Strided target;
    std::uint64_t place = 0;
  };
  struct Sent {
    RankId to;
    std::uint64_t ticket = 0;
  };
  struct Lost {
    RankId rank;
    std::string why;
  };
  // Of one rank: what has come, and what it is to be told.
  struct Mailbox {
    std::deque<std::shared_ptr<Message>> coming;
    std::vector<std::shared_ptr<Message>> landing;
    std::vector<Sent> sent;
    std::vector<Lost> lost;
    std::condition_variable bell;
    bool is_gone = false;
  };
  Mailbox& box(RankId rank) { return boxes_[static_cast<std::size_t>(rank.value())]; }
  enum class What { all, payloads };
  void drop(RankId from, RankId to, What what);

  std::mutex mutex_;  // guards what follows; held while a payload is copied, so that drop() ends what it drops
  std::vector<Mailbox> boxes_;
  LoopOptions options_;
};

// Runs `body` on a thread for each rank, over messages; as try_threads does.
// `patience` is that of the endpoints, and of leaving.
std::vector<RankOutcome> try_loop(Index ranks, const RankBody& body, const RunOptions& options = {},
                                  LoopOptions loop = {}, std::chrono::milliseconds patience = std::chrono::minutes(2));

}  // namespace reshard::fabric
