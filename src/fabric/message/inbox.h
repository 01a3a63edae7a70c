// The counted messages of one sender, acted on in the order sent: none before the payloads of those before it are
// there.
#pragma once

#include <vector>

#include "fabric/message/protocol.h"

namespace reshard::fabric {

class Inbox {
 public:
  // As many as a sender may have on their way: what bounds the memory of the receiver. Turns that nobody waits for any
  // more are ended beyond it.
  static constexpr std::uint64_t kWindow = 64;

  struct Entry {
    MessageHead head;
    bool is_there = false;
    StridedLoops loops;  // of the payload's place
  };

  bool is_empty() const { return first_ == end_; }
  bool is_full() const { return end_ - first_ == kCapacity; }
  // The number of the next entry, for place().
  std::uint64_t end() const { return end_; }
  // How many have been acted on.
  std::uint64_t acted() const { return first_; }

  // Precondition: not full.
  Entry& push(const MessageHead& head) {
    if (entries_.empty()) entries_.resize(kCapacity);  // once: ranks that never send cost nothing
    Entry& entry = at(end_++);
    entry.head = head;
    entry.is_there = head.kind != MessageKind::put;
    return entry;
  }
  // Precondition: not empty.
  Entry& front() { return at(first_); }
  void pop() { ++first_; }
  void set_there(std::uint64_t number) { at(number).is_there = true; }

 private:
  static constexpr std::uint64_t kCapacity = 2 * kWindow;

  Entry& at(std::uint64_t number) { return entries_[number % kCapacity]; }

  std::vector<Entry> entries_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace reshard::fabric
