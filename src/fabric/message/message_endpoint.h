// Windows and signals where there are only messages.
//
// A put is one message whose header says where its payload belongs: it goes from the rows of the sender to those of the
// receiver. A notify is a message without payload that the receiver acts on once the payloads before it are there, so
// put, fence and notify cost one way and no answer. Every header tells the other side how many of its messages have
// been acted on: a sender has at most Inbox::kWindow on their way, and serves its peers until it may send the next. A
// barrier, and the end of a window, wait until all messages before them have been acted on; collective calls are judged
// by rank 0.
//
// With neighbours, the windows and signals of a rank lie in memory that its host shares: neighbours use them directly,
// and what the wire brings is written there. Waits look at both.
//
// accumulate: functions cannot travel. The caller takes its turn at the target (lock), gets what is there, joins it
// here, puts it back and ends its turn, all in pieces of kPiece.
//
// After warm-up get, put, notify, wait, fence and barrier allocate nothing.
#pragma once

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/host/doorbell.h"
#include "fabric/message/inbox.h"
#include "fabric/message/neighbours.h"
#include "fabric/requests.h"
#include "fabric/thread/heap_store.h"
#include "reshard/ranks.h"

namespace reshard::fabric {

struct MessageOptions {
  // Moves what stays on this rank. Null: a plain loop over rows.
  CopyKernel copy = nullptr;
  // Number of the host of each rank, the same on all ranks: those with one number are neighbours. Empty: every rank is
  // a host.
  std::vector<Index> hosts = {};
  // Of calls without a deadline: get, fence, and put and notify where the peer does not take what it was sent.
  std::chrono::milliseconds patience = std::chrono::minutes(2);
  // Bytes of windows that have been destroyed and are kept for the next ones; see RunOptions.
  Index kept_memory = RunOptions{}.kept_memory;
  // The ranks of this host, where it has several and the world has other hosts. Outlives the endpoint.
  Neighbours* neighbours = nullptr;
};

class MessageEndpoint : public Endpoint, private WireEvents {
 public:
  // The wire outlives the endpoint.
  MessageEndpoint(Wire& wire, MessageOptions options);
  // Nothing of the endpoint is touched by the wire any more.
  ~MessageEndpoint() override;

  RankId rank() const override { return wire_.rank(); }
  Index ranks() const override { return wire_.ranks(); }
  Capabilities capabilities() const override { return {.load_store = has_shared_hosts(), .needs_service = true}; }
  Index host_of(RankId rank) const override;

  WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) override;
  SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) override;
  WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                         Clock::time_point deadline) override;
  void destroy_window(WindowId window, Clock::time_point deadline) override;
  void destroy_signal(SignalId signal, Clock::time_point deadline) override;

  std::span<std::byte> memory(WindowId window) override { return window_of(window).memory; }
  Index window_bytes(WindowId window, RankId rank) const override;

  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override;
  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override;
  void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                  CopyKernel combine, Clock::time_point deadline) override;

  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override;
  void wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) override;
  std::uint64_t peek(SignalId signal, Index slot) const override;
  void fence() override;
  void progress() override;
  void barrier(Clock::time_point deadline) override;
  void check_peers() const override;

  // Tells all how this rank has ended, and serves them until all have told, are lost, or the deadline has passed; for a
  // second at most where this rank has failed, since then nobody needs it any more. No call after it. Whether all have
  // ended, none of them badly. Never throws.
  bool leave(const RankOutcome& outcome, Clock::time_point deadline) noexcept;

 private:
  static constexpr Index kPiece = Index{256} << 10;  // of an accumulate: stays in the cache

  struct Window {
    std::string name;
    std::span<std::byte> memory{};
    bool is_owned = false;       // by store_
    WindowId shared{};           // with neighbours: the same for them
    std::vector<Index> sizes{};  // by rank; empty until all have agreed
  };
  struct Signal {
    std::string name;
    Index slots = 0;
    std::span<std::uint64_t> cells{};
    SignalId shared{};  // with neighbours: what holds the values instead of cells
    std::vector<Index> sizes{};
  };
  struct Peer {
    // What this rank has sent: counted messages, and how many the peer has acted on.
    std::uint64_t sent = 0;
    std::uint64_t confirmed = 0;
    // What it has received.
    Inbox inbox;
    std::uint64_t told = 0;        // of inbox.acted()
    std::uint64_t to_confirm = 0;  // the peer wants to hear when so many have been acted on
    std::uint64_t heard_in = 0;    // the last blocking call in which something came
    bool has_left = false;
    bool is_lost = false;
  };
  // A payload of this rank that is being sent.
  struct Outgoing {
    StridedLoops loops;
    bool is_put = false;
  };
  // A payload that is being received outside an inbox: where it goes, and whether it is there.
  struct Awaited {
    std::uint64_t number = 0;
    bool has_arrived = false;
    bool is_there = false;
    Strided target;
    StridedLoops loops;
  };
  struct TurnWanted {
    RankId rank;
    std::uint64_t number = 0;
  };
  struct Offered {
    std::uint64_t sequence = 0;
    MessageCall call = MessageCall::barrier;
    std::int32_t id = -1;
    Index size = 0;
    OfferText text;
  };
  // A collective call of this rank.
  struct Calling {
    MessageCall call = MessageCall::barrier;
    int id = -1;
    std::string_view name{};
    Index size = 0;
    std::string_view failure{};
  };

  Place arrived(RankId from, std::span<const std::byte> header, Index payload_bytes) override;
  void finished(RankId from, std::uint64_t ticket) override;
  void sent(RankId to, std::uint64_t ticket) override;
  void lost(RankId peer, std::string_view why) override;

  // Receiving.
  Place arrived_counted(RankId from, const MessageHead& head, std::span<const std::byte> header, Index payload_bytes);
  Place arrived_other(RankId from, const MessageHead& head, std::span<const std::byte> header, Index payload_bytes);
  Strided place_of_put(const Inbox::Entry& entry, Index payload_bytes);
  void act_on_inbox(RankId from);
  void act(RankId from, const Inbox::Entry& entry);
  void answer_get(RankId from, const Inbox::Entry& entry);
  void pass_turn();
  void granted(RankId from, std::uint64_t number);
  Strided sink(Index bytes);
  void remember_lost(RankId peer, std::string_view why);
  void remember_lost(std::string_view who_and_why);

  // Sending.
  bool may_send(RankId to);
  void send(RankId to, MessageHead head, std::span<const std::byte> more = {}, const Strided& payload = {},
            std::uint64_t ticket = 0);
  void send_counted(RankId to, const MessageHead& head, std::span<const std::byte> more = {},
                    const Strided& payload = {}, std::uint64_t ticket = 0);
  void send_to_all(const MessageHead& head, std::string_view text = {});
  void tell_acted(RankId to);
  std::uint64_t take_outgoing(bool is_put);
  void put_nest(RankId peer, WindowId window, const StridedCopy& copy, const std::byte* source);
  bool get_nest(RankId peer, WindowId window, const StridedCopy& copy, std::byte* target, Clock::time_point deadline);
  void give_up(RankId peer);
  bool join_piece(RankId peer, WindowId window, const StridedCopy& piece, const std::byte* source, CopyKernel combine,
                  Clock::time_point deadline);

  // Waiting.
  static constexpr int kYieldsBeforeSleep = 50;
  static constexpr int kLooksBetweenClocks = 64;
  // Serves peers until ready(). False: a rank is lost, unless that does not matter, or the deadline has passed.
  template <class Ready>
  bool serve_until(const Ready& ready, Clock::time_point deadline, bool despite_lost = false);
  bool quiesce(Clock::time_point deadline);
  Clock::time_point patience() const { return Clock::now() + options_.patience; }
  [[noreturn]] void fail_waiting(const std::string& what) const;
  std::string unheard() const;
  std::string unconfirmed() const;

  // Turns to accumulate.
  bool take_turn(RankId peer, Clock::time_point deadline);
  void end_turn(RankId peer);

  // Collective calls.
  template <class Entry>
  int create(Table<Entry>& table, const Calling& calling, Entry entry, Clock::time_point deadline);
  template <class Entry>
  void destroy(Table<Entry>& table, const Calling& calling, Clock::time_point deadline);
  std::vector<Index> agree(const Calling& calling, Clock::time_point deadline);
  void send_offer(const Calling& calling, std::uint64_t sequence);
  void gather_offers(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline);
  std::string absent_from(std::uint64_t sequence) const;
  void judge(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline);
  std::string what_is_wrong();
  void await_verdict(const Calling& calling, std::uint64_t sequence, Clock::time_point deadline);
  void store_offer(RankId from, const MessageHead& head, std::span<const std::byte> header);
  [[noreturn]] void fail_collective(const Calling& calling, const std::string& absent) const;
  void release(const Window& window, const Calling& calling, Clock::time_point deadline);
  void release(const Signal& signal, const Calling& calling, Clock::time_point deadline);

  const Window& window_of(WindowId id) const;
  Signal& signal_of(SignalId id) const;
  void check_peer(RankId peer) const;
  void check_copy(std::string_view call, RankId peer, const Window& window, const StridedCopy& copy,
                  ByteRange in_window, ByteRange in_local, std::size_t local_bytes) const;
  void check_slot(const Signal& signal, RankId peer, Index slot) const;
  Peer& peer_of(RankId rank) { return peers_[static_cast<std::size_t>(rank.value())]; }
  void apply(Signal& signal, Index slot, std::uint64_t value, Update update);
  std::uint64_t value_of(const Signal& signal, Index slot) const;
  bool is_neighbour(RankId rank) const { return options_.neighbours && options_.neighbours->has(rank); }
  // Of a neighbour, for shared windows and signals.
  Endpoint& shared() const { return options_.neighbours->endpoint(); }
  RankId local(RankId rank) const { return options_.neighbours->local(rank); }
  bool has_shared_hosts() const;
  void rest(Clock::time_point deadline);
  void look_for_lost_neighbours();
  void meet_neighbours(const Calling& calling, Clock::time_point deadline);
  template <class Make>
  std::string provide(const Calling& calling, Clock::time_point deadline, const Make& make);

  Wire& wire_;
  MessageOptions options_;
  HeapStore store_;
  int spins_;
  std::vector<Peer> peers_;
  Table<Window> windows_;
  Table<Signal> signals_;

  std::vector<std::unique_ptr<Outgoing>> outgoing_;
  std::vector<std::uint64_t> free_outgoing_;
  Index open_payloads_ = 0;
  Index open_puts_ = 0;
  std::uint64_t blocking_calls_ = 0;

  Awaited getting_;
  std::vector<std::unique_ptr<std::byte[]>> sinks_;

  bool is_turn_taken_ = false;            // somebody accumulates here
  std::vector<TurnWanted> turns_wanted_;  // here, in the order they asked
  std::uint64_t turn_number_ = 0;         // of this rank's latest request
  bool has_turn_ = false;                 // it has been granted
  std::vector<std::byte> staging_;

  std::uint64_t collective_calls_ = 0;
  std::vector<Offered> offers_;  // rank 0 alone
  Awaited verdict_;
  Code verdict_code_ = Code::internal;
  bool is_verdict_good_ = false;
  std::vector<std::byte> verdict_bytes_;
  std::uint64_t absent_in_ = 0;
  std::string absent_;

  std::string lost_;  // the first, and why: "rank 3 (its connection was reset)"; empty while all are well
  bool sleeps_on_wire_ = false;
};

template <class Ready>
bool MessageEndpoint::serve_until(const Ready& ready, Clock::time_point deadline, bool despite_lost) {
  ++blocking_calls_;
  int idle = 0;
  for (int looks = 1; !ready(); ++looks) {
    if (!lost_.empty() && !despite_lost) return false;
    idle = wire_.progress(*this) ? 0 : idle + 1;
    const bool shall_sleep = idle > spins_ + kYieldsBeforeSleep;
    if ((shall_sleep || looks % kLooksBetweenClocks == 0) && Clock::now() >= deadline) return ready();
    if (shall_sleep) {
      rest(deadline);
    } else if (idle > spins_) {
      sched_yield();
    } else if (idle > 0) {
      relax_core();
    }
  }
  return true;
}

}  // namespace reshard::fabric
