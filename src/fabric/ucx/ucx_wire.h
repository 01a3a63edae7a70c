// A wire of UCX's active messages.
//
// A message goes in pieces of up to kPiece bytes, each an active message that UCX sends eagerly: it packs the strided
// payload into its own segment when that is free, and the receiver's callback scatters the segment to where it belongs.
// So neither side gives UCX memory beyond a call, dropping a peer is safe at any time, and nothing is staged. Over TCP
// that beats rendezvous (docs/design/fabrics.md). Each piece has a number, so nothing relies on the order in which UCX
// delivers.
//
// Endpoints are made when a peer is first sent to, or heard of, and report the end of a peer's process or connection.
#pragma once

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/message/strided.h"
#include "fabric/ucx/ucx_worker.h"

namespace reshard::fabric {

struct UcxWireOptions {
  RankId rank = {};
  Index ranks = 1;
  std::chrono::milliseconds silence = std::chrono::seconds(10);
  // For what has been sent to be received, as the wire ends.
  std::chrono::milliseconds linger = std::chrono::seconds(2);
};

class UcxWire final : public Wire {
 public:
  static constexpr Index kPiece = 60 << 10;  // with headers less than a segment

  explicit UcxWire(const UcxWireOptions& options);
  UcxWire(const UcxWire&) = delete;
  UcxWire& operator=(const UcxWire&) = delete;
  ~UcxWire() override;

  // For any store: what connect() of the others takes.
  std::string address() const;
  // Before the first message. One address for each rank. Reaches for nobody yet.
  // Throws Error(invalid_argument) for an address that is none.
  void connect(const std::vector<std::string>& addresses);
  // A peer that was lost or dropped has come back as another process. Messages start anew in both directions.
  void reconnect(RankId peer, const std::string& address);

  RankId rank() const override { return options_.rank; }
  Index ranks() const override { return options_.ranks; }
  void send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) override;
  bool progress(WireEvents& events) override;
  void sleep(Clock::time_point until) override;
  void drop(RankId peer) override;

 private:
  // In front of the header of a message in each active message.
  struct PieceHead {
    std::uint64_t life = 0;  // of the sender, so that what a lost process has sent is not taken for its successor's
    std::uint64_t number = 0;
    Index payload_bytes = kMore;  // of the message that starts here
    std::int32_t from = 0;
    std::int32_t header_bytes = 0;
  };
  static constexpr Index kMore = -1;         // the message has started in an earlier piece
  static constexpr Index kWithdrawn = -2;    // it has, and the rest will not come
  static constexpr std::size_t kFlying = 4;  // pieces of one peer that UCX has at a time

  struct Message {
    std::array<std::byte, kMaxHeader> header;
    std::size_t header_bytes = 0;
    std::array<Strided::Loop, Strided::kMaxLoops> loops;
    Strided payload;
    Index bytes = 0;
    Index cut = 0;  // given to UCX, in pieces
    std::uint64_t ticket = 0;
    std::size_t flying = 0;
    bool is_withdrawn = false;  // before all of it was cut
    Message* next = nullptr;
    // Where packing is: UCX asks for the bytes in order, and may start over.
    StridedWalk walk;
    Index packed = 0;
  };
  struct Peer;
  struct Piece {
    UcxWire* wire = nullptr;
    Peer* peer = nullptr;
    Message* message = nullptr;   // null: free
    Index begin = 0, bytes = 0;   // of the payload
    std::vector<std::byte> kept;  // the bytes, if the payload may no longer be read
    std::array<std::byte, sizeof(PieceHead) + kMaxHeader> head;
  };
  struct Held {
    std::vector<std::byte> head;
    std::vector<std::byte> data;
  };
  struct Peer {
    UcxWire* wire = nullptr;
    RankId rank = {};
    std::string address;
    std::uint64_t life = 0;
    ucp_ep_h endpoint = nullptr;
    bool open = false;    // has an address, and is neither lost nor dropped
    std::string trouble;  // why it is lost
    bool met = false;     // in just_met_
    // Outwards: messages of which something is to be cut yet, as a list.
    Message* first = nullptr;
    Message* last = nullptr;
    bool busy = false;  // in busy_
    std::array<Piece, kFlying> pieces;
    std::size_t flying = 0;
    std::uint64_t next_number = 0;
    // Inwards.
    std::uint64_t expected = 0;
    StridedWalk target;
    std::uint64_t ticket = 0;
    bool unwanted = false;  // the message that is arriving has no place: whoever was told of it threw
    std::map<std::uint64_t, Held> held;
  };
  static ucs_status_t on_message(void* wire, const void* head, size_t head_bytes, void* data, size_t bytes,
                                 const ucp_am_recv_param_t* param);
  static void on_piece_sent(void* request, ucs_status_t status, void* piece);
  static void on_trouble(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void* pack_start(void* context, const void* piece, size_t count);
  static size_t pack_bytes(void* piece);
  static size_t pack(void* piece, size_t offset, void* to, size_t limit);

  Peer& peer_of(RankId rank) { return *peers_[static_cast<std::size_t>(rank.value())]; }
  void set_address(Peer& peer, const std::string& address);
  void open_endpoint(Peer& peer);
  void close_endpoint(Peer& peer);
  void close(Peer& peer);
  void trouble(Peer& peer, std::string_view why);
  void keep_request(ucs_status_ptr_t request);
  void await_requests(Clock::time_point deadline);
  bool free_requests();

  Message& queue_message(Peer& peer);
  void discard_messages(Peer& peer);
  void withdraw_payloads(Peer& peer);
  bool drain();
  void end_message(Peer& peer, Message& message);
  bool cut_pieces(Peer& peer);
  void send_piece(Peer& peer, Message& message);
  void piece_sent(Piece& piece);
  static void read_payload(Message& message, Index begin, std::byte* to, Index bytes);

  void accept(Peer& peer, const PieceHead& head, std::span<const std::byte> header, std::span<const std::byte> data);
  void begin_message(Peer& peer, const PieceHead& head, std::span<const std::byte> header);
  bool accept_held();
  bool tell_trouble();
  bool tell_sent();
  // What events throw must not pass through UCX: it waits until progress() ends.
  template <class Tell>
  bool tell(const Tell& tell_events);

  UcxWireOptions options_;
  UcxWorker worker_;
  std::uint64_t life_;
  ucp_datatype_t strided_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::unique_ptr<Message>> messages_;
  Message* unused_ = nullptr;
  struct Sent {
    RankId to;
    std::uint64_t ticket;
  };
  std::vector<Sent> sent_, told_;
  std::vector<Peer*> busy_;  // with messages that are not cut yet
  std::vector<Peer*> in_trouble_, just_met_;
  std::size_t held_ = 0;          // pieces that came before their turn
  std::vector<void*> requests_;   // of UCX, to flush and to close
  WireEvents* events_ = nullptr;  // inside progress()
  std::exception_ptr failure_;
};

}  // namespace reshard::fabric
