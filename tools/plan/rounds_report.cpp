#include "plan/rounds_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/numbers.h"
#include "output/table.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRounds = 16;
constexpr std::size_t kExchanges = 8;  // of one round

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
  return {{"greatest_bytes", rounds.greatest_bytes},
          {"length", rounds.length()},
          {"local_messages", rounds.local.size()},
          {"local_bytes", rounds.local_bytes},
          {"rounds", std::move(list)}};
}

}  // namespace

std::string rounds_text(const Rounds<RankId>& rounds) { return text_of(rounds, "rank"); }
std::string rounds_text(const Rounds<HostId>& rounds) { return text_of(rounds, "host"); }
Json rounds_json(const Rounds<RankId>& rounds) { return json_of(rounds); }
Json rounds_json(const Rounds<HostId>& rounds) { return json_of(rounds); }

}  // namespace reshard::cli
