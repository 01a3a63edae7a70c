// Rounds: messages in an order in which no place sends twice or receives twice at once.
//
// A round is a matching: every place sends at most one of its messages and receives at most one. The fewest rounds
// there can be is the greatest number of messages that one place sends or receives, and that many always suffice
// (König), also where several messages go between the same two places. Everything is derived from the messages alone,
// so every rank finds the same rounds.
//
// Where ranks share a host and its link, rounds are made between hosts: what ranks of one host send to ranks of another
// is one exchange, and what stays on a host is in no round.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "reshard/plan.h"

namespace reshard {

// A host, numbered by whoever says which ranks it has.
using HostId = Position<struct HostSpace>;

struct RankMessage {
  RankId source;
  RankId target;
  Index bytes = 0;
  friend bool operator==(const RankMessage&, const RankMessage&) = default;
};

// One per transfer, in their order, copies of a rank to itself included.
std::vector<RankMessage> messages_of(const Plan& plan);

// What goes from one place to another in one round.
template <class Place>
struct Exchange {
  Place source;
  Place target;
  Index bytes = 0;
  std::vector<Index> messages;  // positions in the list given, ascending: one between ranks, or all between two hosts
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

template <class Place>
struct Round {
  std::vector<Exchange<Place>> exchanges;  // by ascending source
  Index bytes = 0;                         // of all exchanges
  Index longest = 0;                       // bytes of the largest
  friend bool operator==(const Round&, const Round&) = default;
};

template <class Place>
struct Rounds {
  std::vector<Round<Place>> rounds;
  std::vector<Index> local;  // messages that stay at their place
  Index local_bytes = 0;
  Index greatest_bytes = 0;  // sent or received by one place: no order of messages takes less
  // Bytes until the last round ends if every round waits for its largest exchange.
  Index length() const {
    Index sum = 0;
    for (const Round<Place>& round : rounds) sum += round.longest;
    return sum;
  }
  friend bool operator==(const Rounds&, const Rounds&) = default;
};

// Cost: O(E (V + D)) for E messages, V places and D rounds, mostly O(E); memory O(E).
// Throws Error(invalid_argument) for negative bytes, or more than 2^63-1 of them together.
Rounds<RankId> rank_rounds(std::span<const RankMessage> messages);
// Ranks [k h, (k+1) h) share host k. Throws Error(invalid_argument) for h < 1.
Rounds<HostId> host_rounds(std::span<const RankMessage> messages, Index ranks_per_host);
Rounds<HostId> host_rounds(std::span<const RankMessage> messages, const std::function<HostId(RankId)>& host_of);

}  // namespace reshard
