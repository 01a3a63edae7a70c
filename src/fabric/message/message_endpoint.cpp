#include "fabric/message/message_endpoint.h"

#include <unistd.h>

#include <algorithm>

#include "base/fail.h"
#include "fabric/host/row_copy.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

constexpr int kSpinsAlone = 200;
constexpr auto kLastWords = std::chrono::seconds(1);
constexpr auto kGraceOfPayloads = std::chrono::seconds(1);
constexpr auto kTurnOfSleep = std::chrono::microseconds(50);
constexpr Index kNoLimit = std::numeric_limits<Index>::max();

StridedCopy reversed(const StridedCopy& copy, std::array<Stride, Strided::kMaxLoops>& loops) {
  StridedCopy back{.source_offset = copy.target_offset,
                   .target_offset = copy.source_offset,
                   .row_bytes = copy.row_bytes,
                   .job_bytes = copy.job_bytes,
                   .leaves_stores = copy.leaves_stores};
  for (std::size_t i = 0; i < copy.loops.size(); ++i)
    loops[i] = {copy.loops[i].count, copy.loops[i].target_bytes, copy.loops[i].source_bytes};
  back.loops = std::span<const Stride>(loops).first(copy.loops.size());
  return back;
}

// The same copy between its source and one block that holds its rows one after another.
StridedCopy from_source_to_block(const StridedCopy& copy, std::array<Stride, Strided::kMaxLoops>& loops) {
  StridedCopy packed = copy;
  packed.target_offset = 0;
  Index step = copy.row_bytes;
  for (std::size_t i = copy.loops.size(); i-- > 0;) {
    loops[i] = {copy.loops[i].count, copy.loops[i].source_bytes, step};
    step *= copy.loops[i].count;
  }
  packed.loops = std::span<const Stride>(loops).first(copy.loops.size());
  return packed;
}

std::span<const std::byte> as_bytes(const Strided& strided) {
  return std::as_bytes(std::span<const Strided::Loop>(strided.loops));
}

// Where the rows of one end of a copy lie in a window.
MessageHead head_of(MessageKind kind, WindowId window, const Strided& end, const std::byte* origin) {
  return {.kind = kind,
          .loops = static_cast<std::uint16_t>(end.loops.size()),
          .id = window.value,
          .at = end.base - origin,
          .value = static_cast<std::uint64_t>(end.row_bytes)};
}

}  // namespace

MessageEndpoint::MessageEndpoint(Wire& wire, MessageOptions options)
    : wire_(wire),
      options_(std::move(options)),
      store_(options_.kept_memory),
      spins_(wire.ranks() <= ::sysconf(_SC_NPROCESSORS_ONLN) ? kSpinsAlone : 0),
      peers_(static_cast<std::size_t>(wire.ranks())) {
  if (options_.copy == nullptr) options_.copy = copy_rows;
  if (options_.hosts.empty()) {
    for (Index r = 0; r < wire.ranks(); ++r) options_.hosts.push_back(r);
  }
  if (wire.rank() == RankId(0)) offers_.resize(peers_.size());
}

MessageEndpoint::~MessageEndpoint() {
  for (Index r = 0; r < ranks(); ++r)
    if (RankId(r) != rank()) wire_.drop(RankId(r));
}

Index MessageEndpoint::host_of(RankId rank) const {
  check_peer(rank);
  return options_.hosts[static_cast<std::size_t>(rank.value())];
}

// --- windows and signals, by id

const MessageEndpoint::Window& MessageEndpoint::window_of(WindowId id) const {
  return entry_of(windows_, id.value, "window", rank().value());
}

MessageEndpoint::Signal& MessageEndpoint::signal_of(SignalId id) const {
  return entry_of(signals_, id.value, "signal", rank().value());
}

Index MessageEndpoint::window_bytes(WindowId window, RankId rank) const {
  check_peer(rank);
  return window_of(window).sizes[static_cast<std::size_t>(rank.value())];
}

void MessageEndpoint::check_peer(RankId peer) const { fabric::check_peer(rank().value(), peer, ranks()); }

void MessageEndpoint::check_slot(const Signal& signal, RankId peer, Index slot) const {
  fabric::check_slot(rank().value(), signal.name, peer.value(), signal.sizes[static_cast<std::size_t>(peer.value())],
                     slot);
}

void MessageEndpoint::check_copy(std::string_view call, RankId peer, const Window& window, const StridedCopy& copy,
                                 ByteRange in_window, ByteRange in_local, std::size_t local_bytes) const {
  const WindowEnd end{window.name, peer.value(), window.sizes[static_cast<std::size_t>(peer.value())]};
  check_transfer(rank().value(), call, end, copy, in_window, in_local, local_bytes);
}

// --- transfers

void MessageEndpoint::put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("put", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  if (peer == rank()) return options_.copy(w.memory.data(), source.data(), copy);
  if (is_neighbour(peer)) return shared().put(local(peer), w.shared, copy, source);
  in_pieces(copy, kNoLimit, Strided::kMaxLoops,
            [&](const StridedCopy& piece) { put_nest(peer, window, piece, source.data()); });
}

void MessageEndpoint::put_nest(RankId peer, WindowId window, const StridedCopy& copy, const std::byte* source) {
  StridedLoops loops;
  const Strided target = strided_end(copy, End::target, nullptr, loops);
  const MessageHead head = head_of(MessageKind::put, window, target, nullptr);
  if (!may_send(peer)) return;
  const std::uint64_t ticket = take_outgoing(true);
  Outgoing& outgoing = *outgoing_[ticket];
  // Payloads are read, never written, through what is sent.
  const Strided payload = strided_end(copy, End::source, const_cast<std::byte*>(source), outgoing.loops);
  send_counted(peer, head, as_bytes(target), payload, ticket);
}

void MessageEndpoint::get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("get", peer, w, copy, source_range(copy), target_range(copy), target.size());
  if (source_range(copy).is_empty) return;
  if (peer == rank()) return options_.copy(target.data(), w.memory.data(), copy);
  if (is_neighbour(peer)) return shared().get(local(peer), w.shared, copy, target);
  const auto until = patience();
  in_pieces(copy, kNoLimit, Strided::kMaxLoops, [&](const StridedCopy& piece) {
    if (get_nest(peer, window, piece, target.data(), until)) return;
    fail_waiting(fmt::format("rank {}: get of {} bytes from window \"{}\" of rank {}", rank().value(),
                             bytes_of_copy(piece), w.name, peer.value()));
  });
}

// False when a rank is lost or the deadline has passed; then nothing will be written to the target any more.
bool MessageEndpoint::get_nest(RankId peer, WindowId window, const StridedCopy& copy, std::byte* target,
                               Clock::time_point deadline) {
  StridedLoops loops;
  const Strided source = strided_end(copy, End::source, nullptr, loops);
  MessageHead head = head_of(MessageKind::get, window, source, nullptr);
  if (!may_send(peer)) return false;
  getting_.target = strided_end(copy, End::target, target, getting_.loops);
  getting_.has_arrived = getting_.is_there = false;
  ++getting_.number;
  head.number = getting_.number;
  send_counted(peer, head, as_bytes(source));
  if (serve_until([&] { return getting_.is_there; }, deadline)) return true;
  ++getting_.number;  // an answer that comes after all goes nowhere
  if (getting_.has_arrived && !serve_until([&] { return getting_.is_there; }, Clock::now() + kGraceOfPayloads, true)) {
    give_up(peer);
  }
  return false;
}

// For when a payload of the peer is under way to memory that is the caller's again.
void MessageEndpoint::give_up(RankId peer) {
  const std::string_view why = "it gave up a get that was under way";
  send(peer, {.kind = MessageKind::failed}, std::as_bytes(std::span(why)));
  wire_.drop(peer);
  lost(peer, "a get from it was given up");
}

void MessageEndpoint::accumulate(RankId peer, WindowId window, const StridedCopy& copy,
                                 std::span<const std::byte> source, CopyKernel combine, Clock::time_point deadline) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("accumulate", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  const auto what = [&] {
    return fmt::format("rank {}: accumulate into window \"{}\" of rank {}, where others are at it", rank().value(),
                       w.name, peer.value());
  };
  if (!take_turn(peer, deadline)) fail_waiting(what());
  if (peer == rank()) {
    combine(w.memory.data(), source.data(), copy);
  } else if (is_neighbour(peer)) {
    shared().accumulate(local(peer), w.shared, copy, source, combine, deadline);
  } else {
    in_pieces(copy, kPiece, Strided::kMaxLoops, [&](const StridedCopy& piece) {
      if (!join_piece(peer, window, piece, source.data(), combine, deadline)) fail_waiting(what());
    });
  }
  end_turn(peer);
}

// Gets what is there, joins it here and puts it back. The staging is free again when the next piece comes: what was put
// from it has been acted on before the peer answers the next get.
bool MessageEndpoint::join_piece(RankId peer, WindowId window, const StridedCopy& piece, const std::byte* source,
                                 CopyKernel combine, Clock::time_point deadline) {
  staging_.resize(static_cast<std::size_t>(kPiece));
  std::array<Stride, Strided::kMaxLoops> back_loops, get_loops, put_loops, join_loops;
  const StridedCopy there_to_here = reversed(piece, back_loops);
  if (!get_nest(peer, window, from_source_to_block(there_to_here, get_loops), staging_.data(), deadline)) return false;
  combine(staging_.data(), source, from_source_to_block(piece, join_loops));
  put_nest(peer, window, reversed(from_source_to_block(there_to_here, get_loops), put_loops), staging_.data());
  return true;
}

bool MessageEndpoint::take_turn(RankId peer, Clock::time_point deadline) {
  progress();  // a rank that only takes turns at itself must hear of the others that want theirs
  if (!serve_until([&] { return open_puts_ == 0; }, deadline)) return false;  // the staging may be among them
  has_turn_ = false;
  ++turn_number_;
  if (peer == rank()) {
    turns_wanted_.push_back({peer, turn_number_});
    pass_turn();
  } else {
    send_counted(peer, {.kind = MessageKind::lock, .value = turn_number_});
  }
  if (serve_until([&] { return has_turn_; }, deadline)) return true;
  ++turn_number_;  // a turn that comes after all is given back
  return false;
}

void MessageEndpoint::end_turn(RankId peer) {
  if (peer != rank()) return send_counted(peer, {.kind = MessageKind::unlock});
  is_turn_taken_ = false;
  pass_turn();
}

// --- signals

void MessageEndpoint::notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) {
  check_peer(peer);
  Signal& s = signal_of(signal);
  check_slot(s, peer, slot);
  if (peer == rank()) return apply(s, slot, value, update);
  if (is_neighbour(peer)) return shared().notify(local(peer), s.shared, slot, value, update);
  send_counted(peer, {.kind = MessageKind::notify,
                      .detail = static_cast<std::uint8_t>(update),
                      .id = signal.value,
                      .at = slot,
                      .value = value});
}

void MessageEndpoint::apply(Signal& signal, Index slot, std::uint64_t value, Update update) {
  if (options_.neighbours) return shared().notify(local(rank()), signal.shared, slot, value, update);
  std::uint64_t& cell = signal.cells[static_cast<std::size_t>(slot)];
  cell = update == Update::set ? value : cell + value;
}

std::uint64_t MessageEndpoint::value_of(const Signal& signal, Index slot) const {
  return options_.neighbours ? shared().peek(signal.shared, slot) : signal.cells[static_cast<std::size_t>(slot)];
}

void MessageEndpoint::wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) {
  const Signal& s = signal_of(signal);
  check_slot(s, rank(), slot);
  std::uint64_t seen = 0;
  const auto ready = [&] {
    seen = value_of(s, slot);
    return until == Until::equal ? seen == value : seen >= value;
  };
  if (serve_until(ready, deadline)) return;
  fail_waiting(fmt::format("rank {}: wait on signal \"{}\" slot {} for {} {}, seen {}", rank().value(), s.name, slot,
                           until == Until::equal ? "==" : ">=", value, seen));
}

std::uint64_t MessageEndpoint::peek(SignalId signal, Index slot) const {
  const Signal& s = signal_of(signal);
  check_slot(s, rank(), slot);
  return value_of(s, slot);
}

void MessageEndpoint::fence() {
  if (open_puts_ == 0) return;
  if (serve_until([&] { return open_puts_ == 0; }, patience())) return;
  fail_waiting(fmt::format("rank {}: fence, with {} puts on their way", rank().value(), open_puts_));
}

void MessageEndpoint::progress() {
  for (int i = 0; i < kLooksBetweenClocks && wire_.progress(*this); ++i) {
  }
}

void MessageEndpoint::check_peers() const {
  if (!lost_.empty()) fail(Code::peer_lost, "rank {}: lost {}", rank().value(), lost_);
}

// --- sending

// False where nothing can be sent any more; otherwise the peer takes one more counted message.
bool MessageEndpoint::may_send(RankId to) {
  Peer& peer = peer_of(to);
  if (peer.is_lost) return false;
  const auto has_room = [&] { return peer.sent - peer.confirmed < Inbox::kWindow || peer.is_lost; };
  if (has_room() || serve_until(has_room, patience())) return !peer.is_lost;
  fail_waiting(fmt::format("rank {}: rank {} does not take what it was sent: {} messages are on their way",
                           rank().value(), to.value(), Inbox::kWindow));
}

void MessageEndpoint::send_counted(RankId to, const MessageHead& head, std::span<const std::byte> more,
                                   const Strided& payload, std::uint64_t ticket) {
  if (!may_send(to)) return;
  ++peer_of(to).sent;
  send(to, head, more, payload, ticket);
}

void MessageEndpoint::send(RankId to, MessageHead head, std::span<const std::byte> more, const Strided& payload,
                           std::uint64_t ticket) {
  Peer& peer = peer_of(to);
  if (peer.is_lost) return;
  head.acted = peer.told = peer.inbox.acted();
  MessageHeader header(head);
  header.append(more.data(), more.size());
  wire_.send(to, header.bytes(), payload, ticket);
}

void MessageEndpoint::send_to_all(const MessageHead& head, std::string_view text) {
  for (Index r = 0; r < ranks(); ++r) {
    if (RankId(r) != rank()) send(RankId(r), head, std::as_bytes(std::span(text)));
  }
}

std::uint64_t MessageEndpoint::take_outgoing(bool is_put) {
  if (free_outgoing_.empty()) {
    free_outgoing_.push_back(outgoing_.size());
    outgoing_.push_back(std::make_unique<Outgoing>());
  }
  const std::uint64_t ticket = free_outgoing_.back();
  free_outgoing_.pop_back();
  outgoing_[ticket]->is_put = is_put;
  ++open_payloads_;
  if (is_put) ++open_puts_;
  return ticket;
}

// --- waiting

// Until all counted messages of this rank have been acted on.
bool MessageEndpoint::quiesce(Clock::time_point deadline) {
  bool is_quiet = true;
  for (Index r = 0; r < ranks(); ++r) {
    const Peer& peer = peer_of(RankId(r));
    if (peer.sent == peer.confirmed || peer.is_lost) continue;
    is_quiet = false;
    send(RankId(r), {.kind = MessageKind::confirm});
  }
  const auto all_confirmed = [&] {
    return std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.sent == p.confirmed || p.is_lost; });
  };
  return is_quiet || serve_until(all_confirmed, deadline);
}

void MessageEndpoint::fail_waiting(const std::string& what) const {
  if (!lost_.empty()) fail(Code::peer_lost, "{}: lost {}", what, lost_);
  fail(Code::timeout, "{}: deadline passed{}", what, unheard());
}

// With neighbours there are two things to sleep on: each in turn, and not for long.
void MessageEndpoint::rest(Clock::time_point deadline) {
  if (options_.neighbours == nullptr) return wire_.sleep(deadline);
  look_for_lost_neighbours();
  const auto until = std::min(deadline, Clock::now() + kTurnOfSleep);
  sleeps_on_wire_ = !sleeps_on_wire_;
  sleeps_on_wire_ ? wire_.sleep(until) : options_.neighbours->sleep(until);
}

void MessageEndpoint::look_for_lost_neighbours() {
  if (!lost_.empty()) return;
  const std::string lost = options_.neighbours->lost();
  if (!lost.empty()) remember_lost(lost);
}

// Of collective calls, before which all are asked to say what they have acted on.
std::string MessageEndpoint::unconfirmed() const {
  std::string behind;
  for (std::size_t r = 0; r < peers_.size(); ++r) {
    const Peer& peer = peers_[r];
    if (peer.sent != peer.confirmed && !peer.is_lost)
      behind += fmt::format("; rank {} has not acted on all that it was sent", r);
  }
  return behind;
}

std::string MessageEndpoint::unheard() const {
  std::string silent;
  for (Index r = 0; r < ranks(); ++r) {
    if (RankId(r) == rank() || peers_[static_cast<std::size_t>(r)].heard_in == blocking_calls_) continue;
    silent += fmt::format("{}{}", silent.empty() ? "; nothing came meanwhile from rank " : ", ", r);
  }
  return silent;
}

bool MessageEndpoint::leave(const RankOutcome& outcome, Clock::time_point deadline) noexcept {
  try {
    const bool has_failed = outcome.end != RankOutcome::End::returned;
    if (has_failed) deadline = std::min(deadline, Clock::now() + kLastWords);
    send_to_all({.kind = has_failed ? MessageKind::failed : MessageKind::left}, outcome.message);
    const auto is_done = [](const Peer& p) { return p.is_lost || (p.has_left && p.inbox.is_empty()); };
    const auto all_done = [&] {
      for (std::size_t r = 0; r < peers_.size(); ++r)
        if (static_cast<Index>(r) != rank().value() && !is_done(peers_[r])) return false;
      return open_payloads_ == 0;
    };
    return serve_until(all_done, deadline, true) && !has_failed && lost_.empty();
  } catch (...) {  // a wire that is broken, no memory for text: the others learn of this rank's end by themselves
    return false;
  }
}

}  // namespace reshard::fabric
