#include "fabric/message/loop_wire.h"

#include <algorithm>
#include <thread>

#include "base/fail.h"
#include "fabric/host/outcome.h"
#include "fabric/message/message_endpoint.h"

namespace reshard::fabric {

class LoopWire final : public Wire {
 public:
  LoopWire(LoopNetwork& net, RankId rank)
      : net_(net), rank_(rank), random_(net.options_.seed + static_cast<std::uint64_t>(rank.value())) {}
  ~LoopWire() override {
    for (Index r = 0; r < ranks(); ++r) drop(RankId(r));
    const std::scoped_lock lock(net_.mutex_);
    mine().is_gone = true;
  }

  RankId rank() const override { return rank_; }
  Index ranks() const override { return static_cast<Index>(net_.boxes_.size()); }

  void send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) override {
    auto message = std::make_shared<LoopNetwork::Message>();
    message->from = rank_;
    message->header.assign(header.begin(), header.end());
    message->payload = payload;
    std::copy(payload.loops.begin(), payload.loops.end(), message->loops.begin());
    message->payload.loops = std::span(message->loops).first(payload.loops.size());
    message->ticket = ticket;
    const std::scoped_lock lock(net_.mutex_);
    LoopNetwork::Mailbox& there = net_.box(to);
    if (there.is_gone) {
      if (payload.bytes() > 0) mine().sent.push_back({to, ticket});
      return;
    }
    there.coming.push_back(std::move(message));
    there.bell.notify_one();
  }

  bool progress(WireEvents& events) override {
    const bool was_told = tell(events);
    const bool has_arrived = receive(events);
    const bool has_landed = land(events);
    return was_told || has_arrived || has_landed;
  }

  void sleep(Clock::time_point until) override {
    std::unique_lock lock(net_.mutex_);
    const LoopNetwork::Mailbox& box = mine();
    mine().bell.wait_until(lock, until, [&] {
      return !box.coming.empty() || !box.landing.empty() || !box.sent.empty() || !box.lost.empty();
    });
  }

  void drop(RankId peer) override {
    net_.drop(peer, rank_, LoopNetwork::What::all);
    net_.drop(rank_, peer, LoopNetwork::What::payloads);
  }

 private:
  LoopNetwork::Mailbox& mine() { return net_.box(rank_); }

  // Events are told without the lock: they send.
  bool tell(WireEvents& events) {
    std::vector<LoopNetwork::Sent> sent;
    std::vector<LoopNetwork::Lost> lost;
    {
      const std::scoped_lock lock(net_.mutex_);
      sent.swap(mine().sent);
      lost.swap(mine().lost);
    }
    for (const auto& [to, ticket] : sent) events.sent(to, ticket);
    for (const auto& [peer, why] : lost) events.lost(peer, why);
    return !sent.empty() || !lost.empty();
  }

  bool receive(WireEvents& events) {
    std::shared_ptr<LoopNetwork::Message> message;
    {
      const std::scoped_lock lock(net_.mutex_);
      if (mine().coming.empty()) return false;
      message = mine().coming.front();
      mine().coming.pop_front();
    }
    const Index bytes = message->payload.bytes();
    const WireEvents::Place place = events.arrived(message->from, message->header, bytes);
    if (bytes == 0) return true;
    message->target = place.target;
    message->place = place.ticket;
    const std::scoped_lock lock(net_.mutex_);
    mine().landing.push_back(std::move(message));
    return true;
  }

  // With a seed, each payload lands at one look in four.
  bool land(WireEvents& events) {
    std::vector<std::shared_ptr<LoopNetwork::Message>> landed;
    {
      const std::scoped_lock lock(net_.mutex_);
      auto& landing = mine().landing;
      for (std::size_t i = landing.size(); i-- > 0;) {
        if (net_.options_.seed != 0 && random_() % 4 != 0) continue;
        if (!landing[i]->is_dropped) {
          copy(*landing[i]);
          landed.push_back(landing[i]);
        }
        landing.erase(landing.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    for (const auto& message : landed) events.finished(message->from, message->place);
    return !landed.empty();
  }

  void copy(const LoopNetwork::Message& message) {
    StridedWalk source(message.payload);
    StridedWalk target(message.target);
    while (source.left() > 0) {
      const auto piece = source.next(source.left());
      target.scatter(piece.data(), static_cast<Index>(piece.size()));
    }
    LoopNetwork::Mailbox& sender = net_.box(message.from);
    sender.sent.push_back({rank_, message.ticket});
    sender.bell.notify_one();
  }

  LoopNetwork& net_;
  RankId rank_;
  std::mt19937_64 random_;
};

LoopNetwork::LoopNetwork(Index ranks, LoopOptions options)
    : boxes_(static_cast<std::size_t>(ranks)), options_(options) {}

std::unique_ptr<Wire> LoopNetwork::wire(RankId rank) { return std::make_unique<LoopWire>(*this, rank); }

void LoopNetwork::lose(RankId rank, std::string why) {
  for (Index r = 0; r < static_cast<Index>(boxes_.size()); ++r) {
    if (RankId(r) == rank) continue;
    drop(rank, RankId(r), What::all);
    drop(RankId(r), rank, What::all);
    const std::scoped_lock lock(mutex_);
    box(RankId(r)).lost.push_back({rank, why});
    box(RankId(r)).bell.notify_one();
  }
  const std::scoped_lock lock(mutex_);
  box(rank).is_gone = true;
}

// The sender is told that what was on its way has been read.
void LoopNetwork::drop(RankId from, RankId to, What what) {
  const std::scoped_lock lock(mutex_);
  const auto is_dropped = [&](const std::shared_ptr<Message>& message) {
    const bool has_payload = message->payload.bytes() > 0;
    if (message->from != from || (what == What::payloads && !has_payload)) return false;
    message->is_dropped = true;
    if (has_payload) box(from).sent.push_back({to, message->ticket});
    return true;
  };
  std::erase_if(box(to).coming, is_dropped);
  std::erase_if(box(to).landing, is_dropped);
  box(from).bell.notify_one();
}

std::vector<RankOutcome> try_loop(Index ranks, const RankBody& body, const RunOptions& options, LoopOptions loop,
                                  std::chrono::milliseconds patience) {
  if (ranks < 1) fail(Code::invalid_argument, "a world of {} ranks: at least 1 is needed", ranks);
  LoopNetwork net(ranks, loop);
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
  {
    std::vector<std::jthread> threads;
    for (Index r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        const auto wire = net.wire(RankId(r));
        MessageEndpoint endpoint(*wire, {.copy = options.copy, .patience = patience});
        RankOutcome& outcome = outcomes[static_cast<std::size_t>(r)];
        try {
          body(endpoint);
        } catch (...) {
          outcome = outcome_of_exception(RankId(r));
        }
        endpoint.leave(outcome, Clock::now() + patience);
      });
    }
  }
  return outcomes;
}

}  // namespace reshard::fabric
