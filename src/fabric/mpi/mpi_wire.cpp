#include "fabric/mpi/mpi_wire.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "fabric/mpi/mpi_calls.h"

namespace reshard::fabric {
namespace {

constexpr int kHeaderTag = 1;
constexpr int kPayloadTag = 2;
constexpr int kYieldsBeforeNaps = 100;
constexpr auto kLinger = std::chrono::seconds(1);  // of what has been sent, as the wire ends
constexpr auto kLongestNap = std::chrono::microseconds(50);

int as_mpi(RankId rank) { return static_cast<int>(rank.value()); }

}  // namespace

MpiWire::MpiWire(MPI_Comm communicator) : communicator_(communicator) {
  int rank = 0, ranks = 0;
  check_mpi(MPI_Comm_rank(communicator_, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator_, &ranks), "MPI_Comm_size");
  rank_ = RankId(rank);
  peers_ = std::vector<Peer>(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < kHeadersPosted && ranks > 1; ++i) {
    Transfer& slot = posted_.emplace_back();
    slot.memory = std::make_unique<std::byte[]>(kFrameBytes);
    check_mpi(MPI_Recv_init(slot.memory.get(), kFrameBytes, MPI_BYTE, MPI_ANY_SOURCE, kHeaderTag, communicator_,
                            &slot.request),
              "MPI_Recv_init");
    check_mpi(MPI_Start(&slot.request), "MPI_Start");
  }
}

MpiWire::~MpiWire() {
  const auto until = Clock::now() + kLinger;
  while (!busy_frames_.empty() && Clock::now() < until)
    if (!finish_header_sends()) sched_yield();
  for (const std::size_t index : busy_frames_) give_up(frames_[index], false);
  for (Index r = 0; r < ranks(); ++r) drop(RankId(r));
  for (Transfer& slot : posted_) give_up(slot, true);
  while (!free_given_up() && Clock::now() < until) sched_yield();
  // Theirs until the process ends.
  for (Transfer& transfer : given_up_) static_cast<void>(transfer.memory.release());
}

// What MPI says of a call for a peer. False: it has failed, and the peer is lost.
bool MpiWire::went(int result, RankId peer, std::string_view what) {
  if (result == MPI_SUCCESS) return true;
  Peer& failed = peer_of(peer);
  if (!failed.is_dropped && failed.trouble.empty()) {
    failed.trouble = fmt::format("{}: {}", what, mpi_text(result));
    in_trouble_.push_back(peer);
  }
  return false;
}

bool MpiWire::is_over(MPI_Request& request, RankId peer, std::string_view what) {
  int done = 0;
  return went(MPI_Test(&request, &done, MPI_STATUS_IGNORE), peer, what) && done != 0;
}

void MpiWire::give_up(Transfer& transfer, bool is_receive) {
  if (transfer.request == MPI_REQUEST_NULL) return;
  if (is_receive) MPI_Cancel(&transfer.request);
  given_up_.push_back({std::exchange(transfer.request, MPI_REQUEST_NULL), std::move(transfer.memory)});
}

// Those that are over. Returns whether none is left.
bool MpiWire::free_given_up() {
  std::erase_if(given_up_, [](Transfer& transfer) {
    int done = 0;
    if (MPI_Test(&transfer.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done == 0) return false;
    if (transfer.request != MPI_REQUEST_NULL) MPI_Request_free(&transfer.request);  // one that could be started again
    return true;
  });
  return given_up_.empty();
}

void MpiWire::send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) {
  naps_ = 0;
  const Frame frame{static_cast<std::uint32_t>(header.size()), payload.bytes()};
  const bool is_small = frame.payload_bytes <= kSmall;
  if (peer_of(to).is_dropped) {
    if (frame.payload_bytes > 0) told_.push_back({to, ticket});
    return;
  }
  const std::size_t index = free_frame();
  HeaderSend& frame_of = frames_[index];
  frame_of.to = to;
  std::byte* const bytes = frame_of.memory.get();
  std::memcpy(bytes, &frame, sizeof frame);
  std::memcpy(bytes + sizeof frame, header.data(), header.size());
  std::size_t length = sizeof frame + header.size();
  if (is_small && frame.payload_bytes > 0) {
    StridedWalk(payload).gather(bytes + length, frame.payload_bytes);
    length += static_cast<std::size_t>(frame.payload_bytes);
    told_.push_back({to, ticket});
  }
  const int sent =
      MPI_Isend(bytes, static_cast<int>(length), MPI_BYTE, as_mpi(to), kHeaderTag, communicator_, &frame_of.request);
  (went(sent, to, "MPI_Isend of a header") ? busy_frames_ : free_frames_).push_back(index);
  if (is_small) return;
  enqueue(to, true, payload, ticket);
}

void MpiWire::enqueue(RankId peer, bool is_out, const Strided& rows, std::uint64_t ticket) {
  Stream& stream = is_out ? peer_of(peer).out : peer_of(peer).in;
  const Index bytes = rows.bytes();
  stream.push({StridedWalk(rows), bytes, bytes, ticket});
  if (!peer_of(peer).is_active) active_.push_back(peer);
  peer_of(peer).is_active = true;
  begin_pieces(peer, stream, is_out);
}

// Room in front is used again before more is taken.
void MpiWire::Stream::push(const Payload& payload) {
  if (ending > 0 && payloads.size() == payloads.capacity()) {
    payloads.erase(payloads.begin(), payloads.begin() + static_cast<std::ptrdiff_t>(ending));
    beginning -= ending;
    ending = 0;
  }
  payloads.push_back(payload);
}

void MpiWire::Stream::clear() {
  payloads.clear();
  ending = beginning = first = count = 0;
}

std::size_t MpiWire::free_frame() {
  if (free_frames_.empty()) finish_header_sends();
  if (free_frames_.empty()) {
    free_frames_.push_back(frames_.size());
    frames_.emplace_back();
    busy_frames_.reserve(frames_.size());
    free_frames_.reserve(frames_.size());
  }
  const std::size_t index = free_frames_.back();
  free_frames_.pop_back();
  if (frames_[index].memory == nullptr) frames_[index].memory = std::make_unique<std::byte[]>(kFrameBytes);
  return index;
}

bool MpiWire::finish_header_sends() {
  const std::size_t before = busy_frames_.size();
  std::erase_if(busy_frames_, [&](std::size_t index) {
    if (!is_over(frames_[index].request, frames_[index].to, "sending a header")) return false;
    free_frames_.push_back(index);
    return true;
  });
  return busy_frames_.size() < before;
}

bool MpiWire::progress(WireEvents& events) {
  bool has_moved = receive_headers(events);
  if (tell_sent(events)) has_moved = true;
  for (std::size_t i = 0; i < active_.size();) {
    const RankId rank = active_[i];
    Peer& peer = peer_of(rank);
    if (move_stream(rank, peer.out, true, events)) has_moved = true;
    if (move_stream(rank, peer.in, false, events)) has_moved = true;
    peer.is_active = !peer.out.is_idle() || !peer.in.is_idle();
    if (peer.is_active) {
      ++i;
    } else {
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (!busy_frames_.empty()) finish_header_sends();
  if (!given_up_.empty()) free_given_up();
  if (tell_trouble(events)) has_moved = true;
  if (has_moved) naps_ = 0;
  return has_moved;
}

bool MpiWire::tell_sent(WireEvents& events) {
  if (told_.empty()) return false;
  for (std::size_t i = 0; i < told_.size(); ++i) {
    const Told told = told_[i];  // being told may send
    events.sent(told.to, told.ticket);
  }
  told_.clear();
  return true;
}

// Last: what a peer has sent before it was lost has arrived.
bool MpiWire::tell_trouble(WireEvents& events) {
  if (in_trouble_.empty()) return false;
  for (const RankId peer : std::exchange(in_trouble_, {})) {
    if (peer_of(peer).is_dropped) continue;
    const std::string why = std::exchange(peer_of(peer).trouble, {});
    drop(peer);
    events.lost(peer, why);
  }
  return true;
}

// In the order posted, which is the order in which MPI matches what one sender sent.
bool MpiWire::receive_headers(WireEvents& events) {
  bool has_received = false;
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    Transfer& slot = posted_[next_posted_];
    MPI_Status status;
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    int done = 0;
    const int result = MPI_Test(&slot.request, &done, &status);
    const RankId from(status.MPI_SOURCE);
    const bool is_known = from >= RankId(0) && from < RankId(ranks());
    if (!is_known) check_mpi(result, "receiving a header");
    const bool is_good = is_known && went(result, from, "receiving a header");
    if (done == 0) break;
    has_received = true;
    if (is_good) receive(from, {slot.memory.get(), kFrameBytes}, events);
    check_mpi(MPI_Start(&slot.request), "MPI_Start");
    next_posted_ = (next_posted_ + 1) % posted_.size();
  }
  return has_received;
}

void MpiWire::receive(RankId from, std::span<const std::byte> bytes, WireEvents& events) {
  Frame frame;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  if (peer_of(from).is_dropped) return;
  const auto header = bytes.subspan(sizeof frame, frame.header_bytes);
  const WireEvents::Place place = events.arrived(from, header, frame.payload_bytes);
  if (frame.payload_bytes == 0) return;
  if (frame.payload_bytes <= kSmall) {
    StridedWalk(place.target).scatter(header.data() + header.size(), frame.payload_bytes);
    events.finished(from, place.ticket);
    return;
  }
  enqueue(from, false, place.target, place.ticket);
}

// Both ends cut alike: every payload into pieces of kPiece, the last one shorter.
void MpiWire::begin_pieces(RankId peer, Stream& stream, bool is_out) {
  while (stream.count < kPiecesOnTheirWay && stream.beginning < stream.payloads.size()) {
    Payload& payload = stream.payloads[stream.beginning];
    Piece& piece = stream.pieces[(stream.first + stream.count) % kPiecesOnTheirWay];
    piece.bytes = std::min(kPiece, payload.to_begin);
    if (piece.memory == nullptr) piece.memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(kPiece));
    std::byte* const memory = piece.memory.get();
    if (is_out) payload.rows.gather(memory, piece.bytes);
    payload.to_begin -= piece.bytes;
    const int bytes = static_cast<int>(piece.bytes);
    const int begun =
        is_out ? MPI_Isend(memory, bytes, MPI_BYTE, as_mpi(peer), kPayloadTag, communicator_, &piece.request)
               : MPI_Irecv(memory, bytes, MPI_BYTE, as_mpi(peer), kPayloadTag, communicator_, &piece.request);
    if (!went(begun, peer, is_out ? "MPI_Isend of a payload" : "MPI_Irecv of a payload")) return;
    ++stream.count;
    if (payload.to_begin == 0) ++stream.beginning;
  }
}

bool MpiWire::move_stream(RankId peer, Stream& stream, bool is_out, WireEvents& events) {
  bool has_moved = false;
  while (stream.count > 0 &&
         is_over(stream.pieces[stream.first].request, peer, is_out ? "sending a payload" : "receiving a payload")) {
    has_moved = true;
    end_piece(peer, stream, is_out, events);
  }
  return has_moved;
}

void MpiWire::end_piece(RankId peer, Stream& stream, bool is_out, WireEvents& events) {
  Payload& payload = stream.payloads[stream.ending];
  const Piece& piece = stream.pieces[stream.first];
  if (!is_out) payload.rows.scatter(piece.memory.get(), piece.bytes);
  payload.to_end -= piece.bytes;
  stream.first = (stream.first + 1) % kPiecesOnTheirWay;
  --stream.count;
  const bool is_all = payload.to_end == 0;
  const std::uint64_t ticket = payload.ticket;
  if (is_all && ++stream.ending == stream.payloads.size()) stream.clear();
  begin_pieces(peer, stream, is_out);
  if (is_all) is_out ? events.sent(peer, ticket) : events.finished(peer, ticket);
}

void MpiWire::sleep(Clock::time_point until) {
  if (++naps_ < kYieldsBeforeNaps) {
    sched_yield();
    return;
  }
  const auto nap = std::min(kLongestNap, std::chrono::microseconds((naps_ - kYieldsBeforeNaps) / 4 + 1));
  std::this_thread::sleep_until(std::min(until, Clock::now() + nap));
}

void MpiWire::drop(RankId peer) {
  Peer& gone = peer_of(peer);
  gone.is_dropped = true;
  for (Piece& piece : gone.in.pieces) give_up(piece, true);
  for (Piece& piece : gone.out.pieces) give_up(piece, false);
  gone.in.clear();
  for (std::size_t i = gone.out.ending; i < gone.out.payloads.size(); ++i)
    told_.push_back({peer, gone.out.payloads[i].ticket});
  gone.out.clear();
}

}  // namespace reshard::fabric
