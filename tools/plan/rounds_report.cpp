#include "plan/rounds_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRounds = 16;
constexpr std::size_t kExchanges = 8;               // of one round
constexpr Index kGreatestCutting = Index{1} << 22;  // messages times rounds up to which cutting is tried

// The same exchanges cut into chunks of 1 MiB or more, in at most four times the rounds; nothing if there are too many.
template <class Place>
std::optional<ChunkRounds> in_chunks(const Rounds<Place>& rounds) {
  std::vector<RankMessage> messages;
  for (const Round<Place>& round : rounds.rounds)
    for (const Exchange<Place>& exchange : round.exchanges)
      messages.push_back({RankId(exchange.source.value()), RankId(exchange.target.value()), exchange.bytes});
  const Index most = 4 * std::ssize(rounds.rounds);
  if (most > 0 && std::ssize(messages) > kGreatestCutting / most) return std::nullopt;
  return weighted_rounds(messages, {.most_rounds = most});
}

template <class Place>
std::string exchanges_text(const Round<Place>& round) {
  std::string out;
  for (std::size_t k = 0; k < std::min(round.exchanges.size(), kExchanges); ++k)
    out +=
        fmt::format("{}{}→{}", k == 0 ? "" : " ", round.exchanges[k].source.value(), round.exchanges[k].target.value());
  if (round.exchanges.size() > kExchanges) out += fmt::format(" +{}", round.exchanges.size() - kExchanges);
  return out;
}

template <class Place>
std::string text_of(const Rounds<Place>& rounds, std::string_view place) {
  if (rounds.rounds.empty()) return fmt::format("\nNo rounds: nothing leaves its {}.\n", place);
  std::string out = fmt::format(
      "\n{} between {}s, the fewest: no {} sends twice or receives twice in one\n"
      "   a {} sends or receives at most {}; waiting for the largest of each round, the rounds take {}\n",
      count_text(std::ssize(rounds.rounds), "round"), place, place, place, bytes_text(rounds.greatest_bytes),
      bytes_text(rounds.length()));
  if (const auto cut = in_chunks(rounds); cut && cut->length() < rounds.length())
    out += fmt::format("   cut into chunks of {} or more, {} take {}\n", bytes_text(cut->least),
                       count_text(std::ssize(cut->rounds), "round"), bytes_text(cut->length()));
  Table table({"round>", "at once>", "bytes>", "largest>", fmt::format("{} → {}", place, place)});
  for (std::size_t k = 0; k < std::min(rounds.rounds.size(), kRounds); ++k) {
    const Round<Place>& round = rounds.rounds[k];
    table.row({fmt::format("{}", k + 1), count_text(std::ssize(round.exchanges)), bytes_text(round.bytes),
               bytes_text(round.longest), exchanges_text(round)});
  }
  out += table.text();
  if (const Index more = std::ssize(rounds.rounds) - static_cast<Index>(kRounds); more > 0)
    out += fmt::format("   and {} (--json has all)\n", count_text(more, "more round"));
  return out;
}

template <class Place>
Json json_of(const Rounds<Place>& rounds) {
  Json list = Json::array();
  for (const Round<Place>& round : rounds.rounds) {
    Json exchanges = Json::array();
    for (const Exchange<Place>& exchange : round.exchanges)
      exchanges.push_back({{"source", exchange.source.value()},
                           {"target", exchange.target.value()},
                           {"bytes", exchange.bytes},
                           {"messages", exchange.messages.size()}});
    list.push_back({{"bytes", round.bytes}, {"largest", round.longest}, {"exchanges", std::move(exchanges)}});
  }
  Json json = {{"greatest_bytes", rounds.greatest_bytes},
               {"length", rounds.length()},
               {"local_messages", rounds.local.size()},
               {"local_bytes", rounds.local_bytes},
               {"rounds", std::move(list)}};
  if (const auto cut = in_chunks(rounds))
    json["in_chunks"] = {{"least", cut->least}, {"rounds", cut->rounds.size()}, {"length", cut->length()}};
  return json;
}

}  // namespace

std::string rounds_text(const Rounds<RankId>& rounds) { return text_of(rounds, "rank"); }
std::string rounds_text(const Rounds<HostId>& rounds) { return text_of(rounds, "host"); }
Json rounds_json(const Rounds<RankId>& rounds) { return json_of(rounds); }
Json rounds_json(const Rounds<HostId>& rounds) { return json_of(rounds); }

}  // namespace reshard::cli
