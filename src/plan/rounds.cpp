#include "reshard/rounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/edge_colouring.h"
#include "plan/message_check.h"
#include "plan/numbering.h"

namespace reshard {
namespace {

template <class Place>
std::vector<Link> links_of(const std::vector<Exchange<Place>>& exchanges, Index& greatest_bytes) {
  Numbering<Place> senders, receivers;
  for (const Exchange<Place>& exchange : exchanges) {
    senders.add(exchange.source);
    receivers.add(exchange.target);
  }
  senders.close();
  receivers.close();
  std::vector<Link> links;
  std::vector<Index> sent(senders.size()), received(receivers.size());
  for (const Exchange<Place>& exchange : exchanges) {
    links.push_back({senders.number(exchange.source), receivers.number(exchange.target)});
    greatest_bytes = std::max(greatest_bytes, sent[links.back().sender] += exchange.bytes);
    greatest_bytes = std::max(greatest_bytes, received[links.back().receiver] += exchange.bytes);
  }
  return links;
}

// The largest come first: they tend to share rounds, and a round lasts as long as its largest.
template <class Place>
void rounds_of(std::vector<Exchange<Place>> exchanges, Rounds<Place>& result) {
  std::ranges::stable_sort(exchanges, std::greater{}, &Exchange<Place>::bytes);
  const LinkColours colours = colour_links(links_of(exchanges, result.greatest_bytes));
  result.rounds.resize(static_cast<std::size_t>(colours.count));
  for (std::size_t k = 0; k < exchanges.size(); ++k) {
    Round<Place>& round = result.rounds[colours.of_link[k]];
    round.bytes += exchanges[k].bytes;
    round.longest = std::max(round.longest, exchanges[k].bytes);
    round.exchanges.push_back(std::move(exchanges[k]));
  }
  for (Round<Place>& round : result.rounds) std::ranges::sort(round.exchanges, {}, &Exchange<Place>::source);
}

// Messages that leave their place, one exchange each, or one for all between two places.
template <class Place, class PlaceOf>
Rounds<Place> make_rounds(std::span<const RankMessage> messages, bool together, const PlaceOf& place_of) {
  check_messages(messages);
  Rounds<Place> result;
  std::vector<Exchange<Place>> exchanges;
  std::map<std::pair<Place, Place>, std::size_t> known;
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const Place source = place_of(messages[k].source), target = place_of(messages[k].target);
    if (source == target) {
      result.local.push_back(static_cast<Index>(k));
      result.local_bytes += messages[k].bytes;
      continue;
    }
    std::size_t at = exchanges.size();
    if (together) at = known.try_emplace({source, target}, at).first->second;
    if (at == exchanges.size()) exchanges.push_back({source, target, 0, {}});
    exchanges[at].bytes += messages[k].bytes;
    exchanges[at].messages.push_back(static_cast<Index>(k));
  }
  rounds_of(std::move(exchanges), result);
  return result;
}

}  // namespace

void check_messages(std::span<const RankMessage> messages) {
  Index total = 0;
  for (const RankMessage& message : messages) {
    if (message.bytes < 0)
      fail(Code::invalid_argument, "rounds: the message from rank {} to rank {} has {} bytes; give 0 or more",
           message.source.value(), message.target.value(), message.bytes);
    total = checked_add(total, message.bytes, "bytes of all messages");
  }
}

std::vector<RankMessage> messages_of(const Plan& plan) {
  std::vector<RankMessage> messages;
  const Index bytes_each = bytes_of(plan.source().dtype());
  for (const Transfer& transfer : plan.transfers())
    messages.push_back({transfer.source, transfer.target, transfer.elements() * bytes_each});
  return messages;
}

Rounds<RankId> rank_rounds(std::span<const RankMessage> messages) {
  return make_rounds<RankId>(messages, false, [](RankId rank) { return rank; });
}

Rounds<HostId> host_rounds(std::span<const RankMessage> messages, Index ranks_per_host) {
  if (ranks_per_host < 1) fail(Code::invalid_argument, "rounds: {} ranks per host; give at least 1", ranks_per_host);
  return make_rounds<HostId>(messages, true, [&](RankId rank) { return HostId(rank.value() / ranks_per_host); });
}

Rounds<HostId> host_rounds(std::span<const RankMessage> messages, const std::function<HostId(RankId)>& host_of) {
  return make_rounds<HostId>(messages, true, host_of);
}

}  // namespace reshard
