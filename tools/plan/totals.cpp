#include <algorithm>

#include "plan/report.h"

namespace reshard::cli {

void Totals::count(const Layout& source, Index times) {
  tensors += times;
  tensor_bytes += source.bytes() * times;
}

void Totals::add(const Plan& plan, const Certificate& certificate, Index times) {
  sent += certificate.sent * times;
  needed += certificate.needed * times;
  copied += certificate.copied * times;
  messages += certificate.messages * times;
  for (const RankBytes& rank : certificate.ranks) {
    RankBytes& total = ranks[rank.rank];
    total.rank = rank.rank;
    total.sent += rank.sent * times;
    total.received += rank.received * times;
    total.copied += rank.copied * times;
    total.needed += rank.needed * times;
  }
  const Index bytes_each = bytes_of(plan.source().dtype());
  for (const Transfer& transfer : plan.transfers()) {
    if (transfer.is_local()) continue;
    const auto [entry, fresh] = pairs.try_emplace({transfer.source, transfer.target}, 0);
    entry->second += transfer.elements() * bytes_each * times;
    if (!fresh) continue;
    ++ranks[transfer.source].messages_out;
    ++ranks[transfer.target].messages_in;
  }
}

void Totals::add(const BatchPlan& plan, const BatchCertificate& certificate) {
  for (const BatchClass& c : plan.classes()) count(plan.source(c), c.count);
  sent += certificate.totals.sent;
  needed += certificate.totals.needed;
  copied += certificate.totals.copied;
  messages += certificate.transfers;
  for (const RankBytes& rank : certificate.totals.ranks) {
    RankBytes& total = ranks[rank.rank];
    total.rank = rank.rank;
    total.sent += rank.sent;
    total.received += rank.received;
    total.copied += rank.copied;
    total.needed += rank.needed;
  }
  for (const RankMessage& pair : certificate.pairs) {
    const auto [entry, fresh] = pairs.try_emplace({pair.source, pair.target}, 0);
    entry->second += pair.bytes;
    if (!fresh) continue;
    ++ranks[pair.source].messages_out;
    ++ranks[pair.target].messages_in;
  }
}

std::vector<RankMessage> Totals::packed() const {
  std::vector<RankMessage> packed;
  for (const auto& [pair, bytes] : pairs) packed.push_back({pair.first, pair.second, bytes});
  return packed;
}

Index ranks_of_either(const Mesh& a, const Mesh& b) {
  Index ranks = a.size();
  for (Index ordinal = 0; ordinal < b.size(); ++ordinal) ranks += !a.contains(b.rank_at_ordinal(ordinal));
  return ranks;
}

double Totals::imbalance(Index RankBytes::*bytes, Index ranks_of_side) const {
  Index total = 0, greatest = 0;
  for (const auto& [rank, entry] : ranks) {
    total += entry.*bytes;
    greatest = std::max(greatest, entry.*bytes);
  }
  return total == 0 ? 1
                    : static_cast<double>(greatest) * static_cast<double>(ranks_of_side) / static_cast<double>(total);
}

std::vector<RankBytes> Totals::busiest(Index RankBytes::*bytes, std::size_t count) const {
  std::vector<RankBytes> busiest;
  for (const auto& [rank, entry] : ranks)
    if (entry.*bytes > 0) busiest.push_back(entry);
  std::ranges::stable_sort(busiest, std::greater{}, bytes);
  busiest.resize(std::min(busiest.size(), count));
  return busiest;
}

}  // namespace reshard::cli
