// A wire over an MPI communicator.
//
// Headers are messages of one tag, received in the order posted, from anybody; what is small travels with its header. A
// larger payload follows as messages of a second tag, in pieces of kPiece: the pieces of one sender are sent, received
// and matched in order, so nothing but their order tells them apart, and no count comes near 2^31.
//
// MPI can take back neither a send nor a receive that has begun, so it is given no memory but the wire's own: pieces go
// through buffers that stay in the cache, packed while the pieces before them are on their way. What MPI still has of a
// peer that is dropped keeps its buffer until it is over, if it ever is.
//
// A peer is lost when MPI says that a call for it has failed. Open MPI and MPICH say so rarely: their launchers end all
// ranks instead. MPI cannot sleep: sleep() yields, and later naps.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fabric/message/strided.h"

namespace reshard::fabric {

class MpiWire final : public Wire {
 public:
  // The communicator is the wire's own, and returns errors. Throws Error(io).
  explicit MpiWire(MPI_Comm communicator);
  // Gives headers that are on their way up to a second to leave.
  ~MpiWire() override;

  RankId rank() const override { return rank_; }
  Index ranks() const override { return static_cast<Index>(peers_.size()); }
  void send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) override;
  bool progress(WireEvents& events) override;
  void sleep(Clock::time_point until) override;
  void drop(RankId peer) override;

 private:
  static constexpr Index kSmall = 4096;  // payload that travels with its header
  // Below the 64 KiB from which Open MPI asks the receiver first, over TCP: between two namespaces of a busy machine
  // larger pieces took longer.
  static constexpr Index kPiece = Index{60} << 10;
  static constexpr std::size_t kPiecesOnTheirWay = 16;  // of one direction of one peer
  static constexpr std::size_t kHeadersPosted = 32;

  struct Frame {
    std::uint32_t header_bytes = 0;
    Index payload_bytes = 0;
  };
  static constexpr std::size_t kFrameBytes = sizeof(Frame) + kMaxHeader + kSmall;

  // What MPI is doing, and the memory it does it with.
  struct Transfer {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<std::byte[]> memory;
  };
  struct HeaderSend : Transfer {
    RankId to = {};
  };
  struct Piece : Transfer {  // without memory until used
    Index bytes = 0;
  };
  // One payload, sent or received.
  struct Payload {
    StridedWalk rows;    // up to where they have been packed, or unpacked
    Index to_begin = 0;  // bytes that no piece has yet
    Index to_end = 0;    // bytes whose pieces are not done
    std::uint64_t ticket = 0;
  };
  // The payloads of one direction of one peer, in order, and their pieces.
  struct Stream {
    std::vector<Payload> payloads;
    std::size_t ending = 0;     // the first payload that is not done; those before it are room
    std::size_t beginning = 0;  // the first payload with pieces to hand over
    std::array<Piece, kPiecesOnTheirWay> pieces;
    std::size_t first = 0;  // of the pieces on their way: a ring
    std::size_t count = 0;
    bool is_idle() const { return ending == payloads.size(); }
    void push(const Payload& payload);
    void clear();
  };
  struct Peer {
    Stream out, in;
    bool is_active = false;
    bool is_dropped = false;
    std::string trouble;  // why it is lost, until that is told
  };
  struct Told {
    RankId to;
    std::uint64_t ticket;
  };

  Peer& peer_of(RankId rank) { return peers_[static_cast<std::size_t>(rank.value())]; }
  bool went(int result, RankId peer, std::string_view what);
  bool is_over(MPI_Request& request, RankId peer, std::string_view what);
  void give_up(Transfer& transfer, bool is_receive);
  bool free_given_up();
  std::size_t free_frame();
  bool receive_headers(WireEvents& events);
  void receive(RankId from, std::span<const std::byte> bytes, WireEvents& events);
  bool finish_header_sends();
  bool tell_sent(WireEvents& events);
  bool tell_trouble(WireEvents& events);
  bool move_stream(RankId peer, Stream& stream, bool is_out, WireEvents& events);
  void begin_pieces(RankId peer, Stream& stream, bool is_out);
  void end_piece(RankId peer, Stream& stream, bool is_out, WireEvents& events);
  void enqueue(RankId peer, bool is_out, const Strided& rows, std::uint64_t ticket);

  MPI_Comm communicator_;
  RankId rank_;
  std::vector<Peer> peers_;
  std::vector<Transfer> posted_;  // receives of headers: a ring
  std::size_t next_posted_ = 0;
  std::vector<HeaderSend> frames_;
  std::vector<std::size_t> free_frames_, busy_frames_;
  std::vector<Transfer> given_up_;
  std::vector<RankId> in_trouble_;
  std::vector<Told> told_;  // payloads that went with their header
  std::vector<RankId> active_;
  int naps_ = 0;
};

}  // namespace reshard::fabric
