// What the headers of messages hold. All ranks run on machines of one byte order.
#pragma once

#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "fabric/message/strided.h"
#include "fabric/offer_text.h"

namespace reshard::fabric {

enum class MessageKind : std::uint8_t {
  // Counted: at most kWindow of a sender's are on their way or wait for payloads before them.
  put,     // payload, for a window
  notify,  // a signal
  get,     // asks for part of a window
  lock,    // asks for the turn to accumulate here
  unlock,  // gives it back
  // Not counted: acted on as they come.
  got,        // payload, the answer to get
  granted,    // the answer to lock
  confirm,    // asks to be told when all counted messages before it have been acted on
  confirmed,  // nothing but the count that every header has
  offer,      // what a rank brings to a collective call, to rank 0
  verdict,    // what became of the collective call, from rank 0
  absent,     // who has not come to a collective call yet, from rank 0
  left,       // the sender's body has ended
  failed,     // ... by an exception
  lost,       // the sender has lost another rank
};

struct MessageHead {
  MessageKind kind = MessageKind::confirmed;
  std::uint8_t detail = 0;   // an Update, a MessageCall, a Code
  std::uint16_t loops = 0;   // that follow the head
  std::int32_t id = -1;      // of a window or signal; a rank
  Index at = 0;              // offset in a window, slot of a signal, size in an offer
  std::uint64_t value = 0;   // bytes of a row, value of a signal, number of a turn or call
  std::uint64_t number = 0;  // of a get
  std::uint64_t acted = 0;   // how many counted messages of the receiver the sender has acted on
};

// The calls that all ranks make together.
enum class MessageCall : std::uint8_t {
  barrier,
  create_window,
  expose_shared,
  expose_in_place,
  create_signal,
  destroy_window,
  destroy_signal,
};

// A header that is being written or read.
class MessageHeader {
 public:
  explicit MessageHeader(const MessageHead& head) : bytes_(sizeof head) {
    std::memcpy(data_.data(), &head, sizeof head);
  }
  // Cut where it does not fit.
  void append(const void* data, std::size_t bytes) {
    const std::size_t fits = bytes < data_.size() - bytes_ ? bytes : data_.size() - bytes_;
    if (fits > 0) std::memcpy(data_.data() + bytes_, data, fits);  // data may be null
    bytes_ += fits;
  }
  std::span<const std::byte> bytes() const { return std::span(data_).first(bytes_); }

 private:
  std::array<std::byte, Wire::kMaxHeader> data_;
  std::size_t bytes_ = 0;
};

static_assert(sizeof(MessageHead) + sizeof(StridedLoops) <= Wire::kMaxHeader);
static_assert(sizeof(MessageHead) + sizeof(OfferText) <= Wire::kMaxHeader);
static_assert(std::is_trivially_copyable_v<MessageHead> && std::is_trivially_copyable_v<OfferText>);

// What follows the head, as text.
inline std::string_view text_behind(std::span<const std::byte> header) {
  const auto text = header.subspan(sizeof(MessageHead));
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace reshard::fabric
