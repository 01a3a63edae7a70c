// Whether rounds are what they claim to be, counted anew from the messages.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "reshard/rounds.h"

namespace reshard::oracle {

// Every fault of `rounds` as rounds of `messages`, whose ends lie at places `place_of(rank)`: a place that sends or
// receives twice in a round, a message in no round or in two, other than greatest-degree many rounds, wrong sums.
// `together`: all messages between two places are one exchange.
template <class Place, class PlaceOf>
std::vector<std::string> rounds_faults(const Rounds<Place>& rounds, const std::vector<RankMessage>& messages,
                                       bool together, PlaceOf place_of) {
  std::vector<std::string> faults;
  std::vector<int> times(messages.size(), 0);
  const auto count = [&](const std::vector<Index>& positions, Place source, Place target) {
    Index bytes = 0;
    for (const Index k : positions) {
      const RankMessage& message = messages.at(static_cast<std::size_t>(k));
      ++times[static_cast<std::size_t>(k)];
      bytes += message.bytes;
      if (place_of(message.source) != source || place_of(message.target) != target)
        faults.push_back("message " + std::to_string(k) + " goes between other places");
    }
    return bytes;
  };
  Index local_bytes = 0;
  for (const Index k : rounds.local) {
    const Place place = place_of(messages.at(static_cast<std::size_t>(k)).source);
    local_bytes += count({k}, place, place);
  }
  if (local_bytes != rounds.local_bytes) faults.push_back("local bytes are wrong");

  std::map<Place, Index> sent, received;
  for (std::size_t r = 0; r < rounds.rounds.size(); ++r) {
    const Round<Place>& round = rounds.rounds[r];
    std::set<Place> senders, receivers;
    Index bytes = 0, longest = 0;
    for (const Exchange<Place>& exchange : round.exchanges) {
      const auto where = [&] {
        return "round " + std::to_string(r) + ", " + std::to_string(exchange.source.value()) + " to " +
               std::to_string(exchange.target.value()) + ": ";
      };
      if (exchange.source == exchange.target) faults.push_back(where() + "stays at its place");
      if (!senders.insert(exchange.source).second) faults.push_back(where() + "the source sends twice");
      if (!receivers.insert(exchange.target).second) faults.push_back(where() + "the target receives twice");
      if (count(exchange.messages, exchange.source, exchange.target) != exchange.bytes)
        faults.push_back(where() + "its bytes are wrong");
      bytes += exchange.bytes;
      longest = std::max(longest, exchange.bytes);
      sent[exchange.source] += exchange.bytes;
      received[exchange.target] += exchange.bytes;
    }
    if (bytes != round.bytes || longest != round.longest) faults.push_back("round " + std::to_string(r) + ": sums");
  }
  for (std::size_t k = 0; k < times.size(); ++k)
    if (times[k] != 1)
      faults.push_back("message " + std::to_string(k) + " is in " + std::to_string(times[k]) + " places");

  Index greatest_bytes = 0;
  for (const auto& side : {sent, received})
    for (const auto& [place, bytes] : side) greatest_bytes = std::max(greatest_bytes, bytes);
  if (greatest_bytes != rounds.greatest_bytes) faults.push_back("greatest bytes are wrong");

  std::set<std::tuple<Place, Place, std::size_t>> links;
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const Place source = place_of(messages[k].source), target = place_of(messages[k].target);
    if (source != target) links.insert({source, target, together ? 0 : k});
  }
  std::map<Place, std::size_t> out, in;
  std::size_t degree = 0;
  for (const auto& [source, target, k] : links) degree = std::max({degree, ++out[source], ++in[target]});
  if (degree != rounds.rounds.size())
    faults.push_back(std::to_string(rounds.rounds.size()) + " rounds for a greatest degree of " +
                     std::to_string(degree));
  return faults;
}

// Every fault of `rounds` as rounds of chunks of `messages`: a rank that sends or receives twice in a round, a byte in
// no chunk or in two, a cut that is no multiple of the least chunk, wrong sums, more time or rounds than promised.
inline std::vector<std::string> chunk_faults(const ChunkRounds& rounds, const std::vector<RankMessage>& messages) {
  std::vector<std::string> faults;
  std::vector<Index> passed(messages.size(), 0);
  for (std::size_t r = 0; r < rounds.rounds.size(); ++r) {
    std::set<RankId> senders, receivers;
    Index longest = 0;
    for (const Chunk& chunk : rounds.rounds[r].chunks) {
      const std::string where = "round " + std::to_string(r) + ", message " + std::to_string(chunk.message) + ": ";
      const RankMessage& message = messages.at(static_cast<std::size_t>(chunk.message));
      Index& begin = passed[static_cast<std::size_t>(chunk.message)];
      if (chunk.source != message.source || chunk.target != message.target) faults.push_back(where + "other ranks");
      if (!senders.insert(chunk.source).second) faults.push_back(where + "the source sends twice");
      if (!receivers.insert(chunk.target).second) faults.push_back(where + "the target receives twice");
      if (chunk.begin != begin || chunk.bytes < 1) faults.push_back(where + "begins elsewhere or is empty");
      begin += chunk.bytes;
      if (chunk.bytes % rounds.least != 0 && begin != message.bytes) faults.push_back(where + "is cut elsewhere");
      longest = std::max(longest, chunk.bytes);
    }
    if (!std::ranges::is_sorted(rounds.rounds[r].chunks, {}, &Chunk::source)) faults.push_back("sources do not ascend");
    if (longest != rounds.rounds[r].longest || longest == 0) faults.push_back("round " + std::to_string(r) + ": sum");
  }

  std::vector<Index> local;
  Index local_bytes = 0, remote = 0;
  std::map<RankId, Index> sent, received, sent_whole, received_whole;  // whole: in multiples of the least chunk
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const RankMessage& message = messages[k];
    const bool stays = message.source == message.target;
    if (passed[k] != (stays ? 0 : message.bytes))
      faults.push_back("message " + std::to_string(k) + ": " + std::to_string(passed[k]) + " bytes are in rounds");
    if (stays) {
      local.push_back(static_cast<Index>(k));
      local_bytes += message.bytes;
      continue;
    }
    if (message.bytes == 0) continue;
    ++remote;
    const Index whole = ((message.bytes - 1) / rounds.least + 1) * rounds.least;
    sent[message.source] += message.bytes;
    received[message.target] += message.bytes;
    sent_whole[message.source] += whole;
    received_whole[message.target] += whole;
  }
  if (local != rounds.local || local_bytes != rounds.local_bytes) faults.push_back("local messages are wrong");
  const auto greatest = [](const std::map<RankId, Index>& a, const std::map<RankId, Index>& b) {
    Index most = 0;
    for (const auto& loads : {a, b})
      for (const auto& [rank, load] : loads) most = std::max(most, load);
    return most;
  };
  if (greatest(sent, received) != rounds.greatest_bytes) faults.push_back("greatest bytes are wrong");
  if (rounds.length() < rounds.greatest_bytes) faults.push_back("takes less than the lower bound");
  if (rounds.length() > greatest(sent_whole, received_whole))
    faults.push_back("takes " + std::to_string(rounds.length()) + " for a greatest load of " +
                     std::to_string(greatest(sent_whole, received_whole)));
  if (std::ssize(rounds.rounds) > remote + std::ssize(sent) + std::ssize(received))
    faults.push_back(std::to_string(rounds.rounds.size()) + " rounds");
  return faults;
}

}  // namespace reshard::oracle
