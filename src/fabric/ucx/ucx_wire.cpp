#include "fabric/ucx/ucx_wire.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/fail.h"

namespace reshard::fabric {

namespace {

constexpr unsigned kPieceMessage = 1;  // number of the only active message
constexpr std::chrono::milliseconds kGlance{10};
constexpr std::size_t kSentAtOnce = 256;  // messages, before lists of them grow
constexpr int kPiecesAtOnce = 16;         // of one peer, before others and what arrives have their turn

std::uint64_t new_life() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

}  // namespace

UcxWire::UcxWire(const UcxWireOptions& options) : options_(options), worker_(options.silence), life_(new_life()) {
  ucp_generic_dt_ops_t ops{};
  ops.start_pack = pack_start;
  ops.packed_size = pack_bytes;
  ops.pack = pack;
  ops.finish = [](void*) {};
  check_ucx(ucp_dt_create_generic(&ops, nullptr, &strided_), "make a datatype");

  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kPieceMessage;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = on_message;
  handler.arg = this;
  check_ucx(ucp_worker_set_am_recv_handler(worker_.handle(), &handler), "take messages");

  for (Index i = 0; i < options.ranks; ++i) {
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->wire = this;
    peers_.back()->rank = RankId(i);
  }
  sent_.reserve(kSentAtOnce);
  told_.reserve(kSentAtOnce);
  busy_.reserve(peers_.size());
  just_met_.reserve(peers_.size());
}

// UCX takes it ill when requests are not over as its worker ends, and a forced close ends them all; but it also throws
// away what has not left yet.
UcxWire::~UcxWire() {
  const auto deadline = Clock::now() + options_.linger;
  for (const auto& peer : peers_) drop(peer->rank);
  while (!drain() && Clock::now() < deadline) {
    if (!worker_.progress()) worker_.sleep(std::min(deadline, Clock::now() + kGlance));
  }
  for (const auto& peer : peers_) {
    discard_messages(*peer);
    if (peer->endpoint == nullptr || !peer->trouble.empty()) continue;
    const ucp_request_param_t params{};
    keep_request(ucp_ep_flush_nbx(peer->endpoint, &params));
  }
  await_requests(deadline);
  for (const auto& peer : peers_) close_endpoint(*peer);
  await_requests(Clock::now() + std::chrono::seconds(1));
  for (void* request : requests_) ucp_request_free(request);
  ucp_dt_destroy(strided_);
}

void UcxWire::keep_request(ucs_status_ptr_t request) {
  if (UCS_PTR_IS_PTR(request)) requests_.push_back(request);
}

void UcxWire::await_requests(Clock::time_point deadline) {
  while (!free_requests() && Clock::now() < deadline) {
    if (!worker_.progress()) worker_.sleep(std::min(deadline, Clock::now() + kGlance));
    for (Peer* peer : std::exchange(in_trouble_, {})) close_endpoint(*peer);
  }
}

// Those that are over. Returns whether none is left.
bool UcxWire::free_requests() {
  std::erase_if(requests_, [](void* request) {
    if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
    ucp_request_free(request);
    return true;
  });
  return requests_.empty();
}

std::string UcxWire::address() const {
  std::string address(sizeof life_, '\0');
  std::memcpy(address.data(), &life_, sizeof life_);
  return address + worker_.address();
}

void UcxWire::set_address(Peer& peer, const std::string& address) {
  if (address.size() <= sizeof peer.life) {
    fail(Code::invalid_argument, "the address of rank {} has {} bytes; UcxWire::address() makes longer ones",
         peer.rank.value(), address.size());
  }
  std::memcpy(&peer.life, address.data(), sizeof peer.life);
  peer.address = address.substr(sizeof peer.life);
  peer.open = true;
}

void UcxWire::connect(const std::vector<std::string>& addresses) {
  if (addresses.size() != peers_.size()) {
    fail(Code::invalid_argument, "{} addresses for {} ranks", addresses.size(), peers_.size());
  }
  for (std::size_t i = 0; i < peers_.size(); ++i) set_address(*peers_[i], addresses[i]);
}

void UcxWire::reconnect(RankId rank, const std::string& address) {
  Peer& peer = peer_of(rank);
  if (peer.open) {
    fail(Code::invalid_argument, "rank {} is neither lost nor dropped, so it cannot have come back", rank.value());
  }
  close_endpoint(peer);
  discard_messages(peer);
  const auto deadline = Clock::now() + options_.linger;
  while (peer.flying > 0 && Clock::now() < deadline) worker_.progress();
  if (peer.flying > 0) fail(Code::io, "messages to rank {}, which was lost, are still on their way", rank.value());
  set_address(peer, address);
  peer.trouble.clear();
  peer.next_number = peer.expected = 0;
}

// An endpoint to this rank itself has no other end that could be lost.
void UcxWire::open_endpoint(Peer& peer) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  if (peer.rank != options_.rank) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = on_trouble;
    params.err_handler.arg = &peer;
  }
  const ucs_status_t status = ucp_ep_create(worker_.handle(), &params, &peer.endpoint);
  if (status == UCS_OK) return;
  peer.endpoint = nullptr;
  trouble(peer, ucs_status_string(status));
}

void UcxWire::close_endpoint(Peer& peer) {
  if (peer.endpoint == nullptr) return;
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;
  keep_request(ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &params));
}

// Whatever UCX still has of the peer's messages it gives up.
void UcxWire::close(Peer& peer) {
  drop(peer.rank);
  close_endpoint(peer);
  discard_messages(peer);
}

void UcxWire::trouble(Peer& peer, std::string_view why) {
  if (!peer.open || !peer.trouble.empty()) return;
  peer.trouble = why;
  in_trouble_.push_back(&peer);
}

void UcxWire::on_trouble(void* arg, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(arg);
  peer.wire->trouble(peer, ucs_status_string(status));
}

// The endpoint stays, for messages without payload that are still to go.
void UcxWire::drop(RankId rank) {
  Peer& peer = peer_of(rank);
  if (!peer.open) return;
  peer.open = false;
  withdraw_payloads(peer);
  peer.target = StridedWalk();
  held_ -= peer.held.size();
  peer.held.clear();
}

// ---- outwards

UcxWire::Message& UcxWire::queue_message(Peer& peer) {
  if (unused_ == nullptr) {
    messages_.push_back(std::make_unique<Message>());
    unused_ = messages_.back().get();
  }
  Message& message = *std::exchange(unused_, unused_->next);
  message.next = nullptr;
  message.cut = message.packed = 0;
  message.flying = 0;
  message.is_withdrawn = false;
  (peer.first == nullptr ? peer.first : peer.last->next) = &message;
  peer.last = &message;
  return message;
}

void UcxWire::send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) {
  const Index bytes = payload.bytes();
  Peer& peer = peer_of(to);
  if (!peer.open) {
    if (bytes > 0) sent_.push_back({to, ticket});
    return;
  }
  Message& message = queue_message(peer);
  message.header_bytes = header.size();
  std::ranges::copy(header, message.header.begin());
  message.bytes = bytes;
  message.ticket = ticket;
  if (bytes > 0) {
    std::ranges::copy(payload.loops, message.loops.begin());
    message.payload = payload;
    message.payload.loops = std::span(message.loops).first(payload.loops.size());
    message.walk = StridedWalk(message.payload);
  }
  if (!peer.busy) {
    peer.busy = true;
    busy_.push_back(&peer);
  }
  if (events_ == nullptr) cut_pieces(peer);
}

void UcxWire::end_message(Peer& peer, Message& message) {
  if (message.bytes > 0) sent_.push_back({peer.rank, message.ticket});
  message.next = unused_;
  unused_ = &message;
}

void UcxWire::discard_messages(Peer& peer) {
  while (peer.first != nullptr) {
    Message& message = *std::exchange(peer.first, peer.first->next);
    message.cut = message.bytes;
    if (message.flying == 0) end_message(peer, message);
  }
}

// Of payloads that have begun, the other side is told that the rest will not come, and UCX gets a copy of what it has
// been promised; others go as if they had never been sent.
void UcxWire::withdraw_payloads(Peer& peer) {
  for (Piece& piece : peer.pieces) {
    if (piece.message == nullptr || piece.bytes == 0) continue;
    piece.kept.resize(static_cast<std::size_t>(piece.bytes));
    read_payload(*piece.message, piece.begin, piece.kept.data(), piece.bytes);
  }
  Message* message = std::exchange(peer.first, nullptr);
  while (message != nullptr) {
    Message* const next = std::exchange(message->next, nullptr);
    if (message->bytes > 0 && message->cut == 0) {
      end_message(peer, *message);
    } else {
      message->is_withdrawn = message->bytes > 0;
      (peer.first == nullptr ? peer.first : peer.last->next) = message;
      peer.last = message;
    }
    message = next;
  }
}

// As a wire ends. Returns whether all that is still to go has gone, or never will.
bool UcxWire::drain() {
  for (Peer* peer : std::exchange(in_trouble_, {})) close(*peer);
  bool is_done = true;
  for (const auto& peer : peers_) {
    cut_pieces(*peer);
    is_done &= peer->first == nullptr && peer->flying == 0;
  }
  return is_done && in_trouble_.empty();
}

// Returns whether anything was sent.
bool UcxWire::cut_pieces(Peer& peer) {
  bool any = false;
  for (int i = 0; i < kPiecesAtOnce && peer.first != nullptr && peer.flying < kFlying && peer.trouble.empty(); ++i) {
    if (peer.endpoint == nullptr) open_endpoint(peer);
    if (!peer.trouble.empty()) break;
    send_piece(peer, *peer.first);
    any = true;
  }
  return any;
}

void UcxWire::send_piece(Peer& peer, Message& message) {
  Piece& piece = *std::ranges::find(peer.pieces, nullptr, &Piece::message);
  piece.wire = this;
  piece.peer = &peer;
  piece.message = &message;
  piece.begin = message.cut;
  piece.bytes = message.is_withdrawn ? 0 : std::min(kPiece, message.bytes - message.cut);
  const bool starts = message.cut == 0;
  const std::size_t header_bytes = starts ? message.header_bytes : 0;
  const PieceHead head{.life = life_,
                       .number = peer.next_number++,
                       .payload_bytes = message.is_withdrawn ? kWithdrawn
                                        : starts             ? message.bytes
                                                             : kMore,
                       .from = static_cast<std::int32_t>(options_.rank.value()),
                       .header_bytes = static_cast<std::int32_t>(header_bytes)};
  std::memcpy(piece.head.data(), &head, sizeof head);
  std::memcpy(piece.head.data() + sizeof head, message.header.data(), header_bytes);
  message.cut = message.is_withdrawn ? message.bytes : message.cut + piece.bytes;
  if (message.cut == message.bytes) peer.first = message.next;
  ++message.flying;
  ++peer.flying;

  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = on_piece_sent;
  params.user_data = &piece;
  if (piece.bytes > 0) {
    params.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    params.datatype = strided_;
  }
  const ucs_status_ptr_t sent =
      ucp_am_send_nbx(peer.endpoint, kPieceMessage, piece.head.data(), sizeof head + header_bytes,
                      piece.bytes > 0 ? &piece : nullptr, piece.bytes > 0 ? 1 : 0, &params);
  if (UCS_PTR_IS_PTR(sent)) return;  // on its way
  piece_sent(piece);
  if (UCS_PTR_IS_ERR(sent)) trouble(peer, ucs_status_string(UCS_PTR_STATUS(sent)));
}

void UcxWire::piece_sent(Piece& piece) {
  Peer& peer = *piece.peer;
  Message& message = *std::exchange(piece.message, nullptr);
  piece.kept.clear();
  --peer.flying;
  if (--message.flying == 0 && message.cut == message.bytes) end_message(peer, message);
}

void UcxWire::on_piece_sent(void* request, ucs_status_t, void* arg) {
  Piece& piece = *static_cast<Piece*>(arg);
  ucp_request_free(request);
  piece.wire->piece_sent(piece);  // what went wrong is told of the endpoint
}

void* UcxWire::pack_start(void*, const void* piece, size_t) { return const_cast<void*>(piece); }

size_t UcxWire::pack_bytes(void* piece) { return static_cast<std::size_t>(static_cast<Piece*>(piece)->bytes); }

size_t UcxWire::pack(void* arg, size_t offset, void* to, size_t limit) {
  Piece& piece = *static_cast<Piece*>(arg);
  const Index bytes = std::min(static_cast<Index>(limit), piece.bytes - static_cast<Index>(offset));
  if (piece.kept.empty()) {
    read_payload(*piece.message, piece.begin + static_cast<Index>(offset), static_cast<std::byte*>(to), bytes);
  } else {
    std::memcpy(to, piece.kept.data() + offset, static_cast<std::size_t>(bytes));
  }
  return static_cast<std::size_t>(bytes);
}

void UcxWire::read_payload(Message& message, Index begin, std::byte* to, Index bytes) {
  if (begin != message.packed) {
    message.walk = StridedWalk(message.payload);
    for (Index left = begin; left > 0;) left -= static_cast<Index>(message.walk.next(left).size());
  }
  message.walk.gather(to, bytes);
  message.packed = begin + bytes;
}

// ---- inwards

ucs_status_t UcxWire::on_message(void* arg, const void* data_of_head, size_t head_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t*) {
  UcxWire& wire = *static_cast<UcxWire*>(arg);
  PieceHead head;
  if (head_bytes < sizeof head) return UCS_OK;  // not of this protocol
  std::memcpy(&head, data_of_head, sizeof head);
  if (head.from < 0 || head.from >= wire.ranks() ||
      head_bytes != sizeof head + static_cast<std::size_t>(head.header_bytes)) {
    return UCS_OK;
  }
  Peer& peer = wire.peer_of(RankId(head.from));
  if (!peer.open || head.life != peer.life) return UCS_OK;
  if (peer.endpoint == nullptr && !peer.met) {
    peer.met = true;
    wire.just_met_.push_back(&peer);
  }
  const std::span all(static_cast<const std::byte*>(data_of_head), head_bytes);
  const std::span payload(static_cast<const std::byte*>(data), bytes);
  if (wire.events_ == nullptr || head.number != peer.expected) {
    peer.held.emplace(head.number, Held{{all.begin(), all.end()}, {payload.begin(), payload.end()}});
    ++wire.held_;
    return UCS_OK;
  }
  wire.accept(peer, head, all.subspan(sizeof head), payload);
  return UCS_OK;
}

template <class Tell>
bool UcxWire::tell(const Tell& tell_events) {
  if (failure_ != nullptr) return false;
  try {
    tell_events(*events_);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

void UcxWire::begin_message(Peer& peer, const PieceHead& head, std::span<const std::byte> header) {
  peer.unwanted = !tell([&](WireEvents& events) {
    const WireEvents::Place place = events.arrived(peer.rank, header, head.payload_bytes);
    if (head.payload_bytes == 0) return;
    if (place.target.bytes() != head.payload_bytes) {
      fail(Code::internal, "a place of {} bytes for a payload of {} from rank {}", place.target.bytes(),
           head.payload_bytes, peer.rank.value());
    }
    peer.target = StridedWalk(place.target);
    peer.ticket = place.ticket;
  });
}

void UcxWire::accept(Peer& peer, const PieceHead& head, std::span<const std::byte> header,
                     std::span<const std::byte> data) {
  ++peer.expected;
  if (head.payload_bytes == kWithdrawn) {
    peer.unwanted = true;
    peer.target = StridedWalk();
  } else if (head.payload_bytes != kMore) {
    begin_message(peer, head, header);
  }
  if (data.empty() || peer.unwanted || !peer.open) return;
  if (static_cast<Index>(data.size()) > peer.target.left()) {
    trouble(peer, fmt::format("it sent {} bytes where {} were left of a payload", data.size(), peer.target.left()));
    return;
  }
  peer.target.scatter(data.data(), static_cast<Index>(data.size()));
  if (peer.target.left() == 0) tell([&](WireEvents& events) { events.finished(peer.rank, peer.ticket); });
}

// Of pieces that came before their turn, those whose turn it is now.
bool UcxWire::accept_held() {
  bool any = false;
  for (auto i = peers_.begin(); held_ > 0 && i != peers_.end(); ++i) {
    Peer& peer = **i;
    while (!peer.held.empty() && peer.held.begin()->first == peer.expected) {
      const Held piece = std::move(peer.held.begin()->second);
      peer.held.erase(peer.held.begin());
      --held_;
      PieceHead head;
      std::memcpy(&head, piece.head.data(), sizeof head);
      accept(peer, head, std::span(piece.head).subspan(sizeof head), piece.data);
      any = true;
    }
  }
  return any;
}

// Last: what a peer has sent before it was lost has arrived.
bool UcxWire::tell_trouble() {
  if (in_trouble_.empty()) return false;
  for (Peer* peer : std::exchange(in_trouble_, {})) {
    if (!peer->open) continue;
    close(*peer);
    tell([&](WireEvents& events) { events.lost(peer->rank, peer->trouble); });
  }
  return true;
}

bool UcxWire::tell_sent() {
  if (sent_.empty()) return false;
  std::swap(sent_, told_);  // events may send
  for (const Sent& sent : told_) tell([&](WireEvents& events) { events.sent(sent.to, sent.ticket); });
  told_.clear();
  return true;
}

// ---- both

bool UcxWire::progress(WireEvents& events) {
  events_ = &events;
  bool moved = held_ > 0 && accept_held();
  moved |= worker_.progress();
  moved |= held_ > 0 && accept_held();
  for (Peer* peer : just_met_) {
    peer->met = false;
    if (peer->open && peer->endpoint == nullptr && peer->trouble.empty()) open_endpoint(*peer);
  }
  just_met_.clear();
  free_requests();
  moved |= tell_sent();
  for (Peer* peer : busy_) moved |= cut_pieces(*peer);
  std::erase_if(busy_, [](Peer* peer) {
    if (peer->first == nullptr) peer->busy = false;
    return peer->first == nullptr;
  });
  if (!moved) moved = tell_trouble();
  events_ = nullptr;
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  return moved;
}

void UcxWire::sleep(Clock::time_point until) {
  if (!sent_.empty() || !in_trouble_.empty()) return;
  for (const Peer* peer : busy_) {
    if (peer->flying < kFlying) return;
  }
  worker_.sleep(until);
}

}  // namespace reshard::fabric
