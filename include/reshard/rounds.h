// Rounds: messages in an order in which no place sends twice or receives twice at once.
//
// A round is a matching: every place sends at most one of its messages and receives at most one. The fewest rounds
// there can be is the greatest number of messages that one place sends or receives, and that many always suffice
// (König), also where several messages go between the same two places. Everything is derived from the messages alone,
// so every rank finds the same rounds.
//
// Where ranks share a host and its link, rounds are made between hosts: what ranks of one host send to ranks of another
// is one exchange, and what stays on a host is in no round.
//
// A round lasts as long as its longest message. Where messages differ in length, weighted_rounds() cuts them so that no
// time is lost at the busiest rank.
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

struct ChunkOptions {
  // Messages are cut at multiples of this many bytes, so only the end of a message may be shorter.
  Index least = Index{1} << 20;
  // 0: as many as it takes. Else `least` is doubled until no more are needed.
  Index most_rounds = 0;
};

// A stretch of one message.
struct Chunk {
  RankId source;
  RankId target;
  Index message = 0;  // its position in the list given
  Index begin = 0;    // bytes of the message before it
  Index bytes = 0;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct ChunkRound {
  std::vector<Chunk> chunks;  // by ascending source
  Index longest = 0;          // bytes of the longest
  friend bool operator==(const ChunkRound&, const ChunkRound&) = default;
};

struct ChunkRounds {
  std::vector<ChunkRound> rounds;
  std::vector<Index> local;  // messages of a rank to itself
  Index local_bytes = 0;
  Index greatest_bytes = 0;  // sent or received by one rank: no order takes less
  Index least = 0;           // what messages were cut at multiples of
  // Bytes until the last round ends if every round waits for its longest chunk.
  Index length() const {
    Index sum = 0;
    for (const ChunkRound& round : rounds) sum += round.longest;
    return sum;
  }
  friend bool operator==(const ChunkRounds&, const ChunkRounds&) = default;
};

// Rounds of chunks; messages without bytes are in none (Birkhoff and von Neumann, without the padding: a matching that
// holds every rank with the greatest load left, for as long as it can).
// With messages counted as whole multiples of c = `least` of the result, length() is at most the greatest load of a
// rank; that is greatest_bytes itself if c divides every message, as 1 does, and else exceeds it by less than c for
// each message of one rank. There are at most as many rounds as messages and ranks, each rank counted once as sender
// and once as receiver; and as few as the greatest number of messages at one rank once c is the longest message. Cost:
// O(E + V) for each round, mostly; memory O(E). Throws Error(invalid_argument) for negative bytes, more than 2^63-1 of
// them together, `least` below 1, or fewer `most_rounds` than one rank has messages.
ChunkRounds weighted_rounds(std::span<const RankMessage> messages, const ChunkOptions& = {});

}  // namespace reshard
