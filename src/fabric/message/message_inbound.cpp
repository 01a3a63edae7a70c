// What comes in: events of the wire.
#include <algorithm>

#include "base/fail.h"
#include "fabric/message/message_endpoint.h"

namespace reshard::fabric {
namespace {

// Tickets of payloads that are in no inbox.
constexpr std::uint64_t kForGet = ~std::uint64_t{0};
constexpr std::uint64_t kForVerdict = ~std::uint64_t{1};
constexpr std::uint64_t kForNobody = ~std::uint64_t{2};

bool is_counted(MessageKind kind) { return kind <= MessageKind::unlock; }

bool lies_within(std::span<const std::byte> memory, const MessageHead& head, std::span<const Strided::Loop> loops) {
  std::array<Stride, Strided::kMaxLoops> strides;
  for (std::size_t i = 0; i < loops.size(); ++i) strides[i] = {loops[i].count, 0, loops[i].step};
  const StridedCopy copy{.target_offset = head.at,
                         .row_bytes = static_cast<Index>(head.value),
                         .loops = std::span<const Stride>(strides).first(loops.size())};
  return is_well_formed(copy) && target_range(copy).within(static_cast<Index>(memory.size()));
}

}  // namespace

WireEvents::Place MessageEndpoint::arrived(RankId from, std::span<const std::byte> header, Index payload_bytes) {
  MessageHead head;
  if (header.size() < sizeof head) {
    lost(from, fmt::format("it sent a header of {} bytes", header.size()));
    return {sink(payload_bytes), kForNobody};
  }
  std::memcpy(&head, header.data(), sizeof head);
  Peer& peer = peer_of(from);
  peer.heard_in = blocking_calls_;
  peer.confirmed = std::max(peer.confirmed, head.acted);
  return is_counted(head.kind) ? arrived_counted(from, head, header, payload_bytes)
                               : arrived_other(from, head, header, payload_bytes);
}

WireEvents::Place MessageEndpoint::arrived_counted(RankId from, const MessageHead& head,
                                                   std::span<const std::byte> header, Index payload_bytes) {
  Inbox& inbox = peer_of(from).inbox;
  const std::size_t loop_bytes = head.loops * sizeof(Strided::Loop);
  if (inbox.is_full() || head.loops > Strided::kMaxLoops || header.size() < sizeof head + loop_bytes) {
    lost(from, "it sent what this rank cannot have asked for");
    return {sink(payload_bytes), kForNobody};
  }
  const std::uint64_t number = inbox.end();
  Inbox::Entry& entry = inbox.push(head);
  std::memcpy(entry.loops.data(), header.data() + sizeof head, loop_bytes);
  if (head.kind == MessageKind::put) return {place_of_put(entry, payload_bytes), number};
  act_on_inbox(from);
  return {};
}

// Senders check bounds; what comes after a window has gone all the same must not be written.
Strided MessageEndpoint::place_of_put(const Inbox::Entry& entry, Index payload_bytes) {
  const MessageHead& head = entry.head;
  const auto loops = std::span(entry.loops).first(head.loops);
  const auto id = static_cast<std::size_t>(head.id);
  if (id >= windows_.size() || !windows_[id] || !lies_within(windows_[id]->memory, head, loops)) {
    return sink(payload_bytes);
  }
  const Strided place{windows_[id]->memory.data() + head.at, static_cast<Index>(head.value), loops};
  return place.bytes() == payload_bytes ? place : sink(payload_bytes);
}

WireEvents::Place MessageEndpoint::arrived_other(RankId from, const MessageHead& head,
                                                 std::span<const std::byte> header, Index payload_bytes) {
  Peer& peer = peer_of(from);
  switch (head.kind) {
    case MessageKind::got:
      if (head.number != getting_.number || getting_.target.bytes() != payload_bytes) break;
      getting_.has_arrived = true;
      return {getting_.target, kForGet};
    case MessageKind::granted: granted(from, head.value); break;
    case MessageKind::confirm:
      peer.to_confirm = peer.inbox.end();
      tell_acted(from);
      break;
    case MessageKind::confirmed: break;
    case MessageKind::offer: store_offer(from, head, header); break;
    case MessageKind::verdict:
      verdict_.number = head.value;
      verdict_.is_there = payload_bytes == 0;
      is_verdict_good_ = head.id == 0;
      verdict_code_ = static_cast<Code>(head.detail);
      verdict_bytes_.resize(static_cast<std::size_t>(payload_bytes));
      return {{verdict_bytes_.data(), payload_bytes}, kForVerdict};
    case MessageKind::absent:
      absent_in_ = head.value;
      absent_ = text_behind(header);
      break;
    case MessageKind::left: peer.has_left = true; break;
    case MessageKind::failed:
      peer.has_left = true;
      remember_lost(from, fmt::format("it failed: {}", text_behind(header)));
      break;
    case MessageKind::lost: remember_lost(text_behind(header)); break;
    default: lost(from, fmt::format("it sent a message of unknown kind {}", static_cast<int>(head.kind)));
  }
  return {payload_bytes > 0 ? sink(payload_bytes) : Strided{}, kForNobody};
}

void MessageEndpoint::finished(RankId from, std::uint64_t ticket) {
  peer_of(from).heard_in = blocking_calls_;
  if (ticket == kForNobody) return;
  if (ticket == kForGet) {
    getting_.is_there = true;
  } else if (ticket == kForVerdict) {
    verdict_.is_there = true;
  } else {
    peer_of(from).inbox.set_there(ticket);
    act_on_inbox(from);
  }
}

void MessageEndpoint::sent(RankId, std::uint64_t ticket) {
  if (outgoing_[ticket]->is_put) --open_puts_;
  --open_payloads_;
  free_outgoing_.push_back(ticket);
}

void MessageEndpoint::lost(RankId peer, std::string_view why) {
  Peer& gone = peer_of(peer);
  if (gone.is_lost) return;
  gone.is_lost = true;
  if (!gone.has_left) remember_lost(peer, why);
}

// The first that is lost is the one that errors name, and the one that is told to others: they may not be connected.
void MessageEndpoint::remember_lost(RankId peer, std::string_view why) {
  if (peer != rank()) remember_lost(fmt::format("rank {} ({})", peer.value(), why));
}

void MessageEndpoint::remember_lost(std::string_view who_and_why) {
  if (!lost_.empty()) return;
  lost_ = who_and_why;
  send_to_all({.kind = MessageKind::lost}, who_and_why);
}

void MessageEndpoint::act_on_inbox(RankId from) {
  Inbox& inbox = peer_of(from).inbox;
  while (!inbox.is_empty() && inbox.front().is_there) {
    act(from, inbox.front());
    inbox.pop();
  }
  tell_acted(from);
}

void MessageEndpoint::tell_acted(RankId to) {
  const Peer& peer = peer_of(to);
  const bool is_awaited = peer.to_confirm > peer.told && peer.inbox.acted() >= peer.to_confirm;
  if (is_awaited || peer.inbox.acted() - peer.told >= Inbox::kWindow / 2) send(to, {.kind = MessageKind::confirmed});
}

void MessageEndpoint::act(RankId from, const Inbox::Entry& entry) {
  const MessageHead& head = entry.head;
  const auto id = static_cast<std::size_t>(head.id);
  switch (head.kind) {
    case MessageKind::notify:
      if (id < signals_.size() && signals_[id] && head.at >= 0 && head.at < signals_[id]->slots) {
        apply(*signals_[id], head.at, head.value, static_cast<Update>(head.detail));
      }
      break;
    case MessageKind::get: answer_get(from, entry); break;
    case MessageKind::lock:
      turns_wanted_.push_back({from, head.value});
      pass_turn();
      break;
    case MessageKind::unlock:
      is_turn_taken_ = false;
      pass_turn();
      break;
    default: break;
  }
}

void MessageEndpoint::answer_get(RankId from, const Inbox::Entry& entry) {
  const MessageHead& head = entry.head;
  const auto id = static_cast<std::size_t>(head.id);
  const auto loops = std::span(entry.loops).first(head.loops);
  if (id >= windows_.size() || !windows_[id] || !lies_within(windows_[id]->memory, head, loops)) {
    return lost(from, "it asked for what lies in no window");
  }
  const std::uint64_t ticket = take_outgoing(false);
  StridedLoops& kept = outgoing_[ticket]->loops;
  std::copy(loops.begin(), loops.end(), kept.begin());
  const Strided payload{windows_[id]->memory.data() + head.at, static_cast<Index>(head.value),
                        std::span(kept).first(loops.size())};
  send(from, {.kind = MessageKind::got, .number = head.number}, {}, payload, ticket);
}

void MessageEndpoint::pass_turn() {
  while (!is_turn_taken_ && !turns_wanted_.empty()) {
    const TurnWanted next = turns_wanted_.front();
    turns_wanted_.erase(turns_wanted_.begin());
    if (next.rank != rank()) {
      is_turn_taken_ = true;
      send(next.rank, {.kind = MessageKind::granted, .value = next.number});
    } else if (next.number == turn_number_) {
      is_turn_taken_ = has_turn_ = true;
    }
  }
}

void MessageEndpoint::granted(RankId from, std::uint64_t number) {
  if (number == turn_number_) {
    has_turn_ = true;
    return;
  }
  ++peer_of(from).sent;  // nobody waits for this turn any more
  send(from, {.kind = MessageKind::unlock});
}

// Where goes what nobody wants any more. Rare, and so kept until the end.
Strided MessageEndpoint::sink(Index bytes) {
  sinks_.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes)));
  return {sinks_.back().get(), bytes};
}

}  // namespace reshard::fabric
