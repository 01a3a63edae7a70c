// What a plan costs beside what any plan must cost.
#include <algorithm>
#include <map>

#include "base/checked.h"
#include "plan/lift.h"
#include "plan/lower_bound.h"
#include "plan/staging.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

constexpr std::string_view kAllRanks = "bytes of all ranks";

struct Load {
  Index total = 0;
  Index greatest = 0;
  Index ranks = 0;
  void add(Index bytes) {
    total = checked_add(total, bytes, kAllRanks);
    greatest = std::max(greatest, bytes);
    ++ranks;
  }
  double imbalance() const {
    return total == 0 ? 1 : static_cast<double>(greatest) * static_cast<double>(ranks) / static_cast<double>(total);
  }
};

}  // namespace

Certificate Plan::certificate() const {
  std::map<RankId, RankBytes> by_rank;
  for (const Layout* side : {&source_, &target_})
    for (Index ordinal = 0; ordinal < side->mesh().size(); ++ordinal) {
      const RankId rank = side->mesh().rank_at_ordinal(ordinal);
      by_rank[rank].rank = rank;
    }
  const std::optional<Lift> lifted = lift(source_, target_);
  const Layout& source = lifted ? lifted->source : source_;
  const Layout& target = lifted ? lifted->target : target_;
  const Index bytes_each = bytes_of(source_.dtype());
  for (const Transfer& transfer : transfers_) {
    const Index bytes = transfer.elements() * bytes_each;
    if (transfer.is_local()) {
      by_rank[transfer.source].copied += bytes;
      continue;
    }
    RankBytes& out = by_rank[transfer.source];
    out.sent = checked_add(out.sent, bytes, kAllRanks);
    ++out.messages_out;
    RankBytes& in = by_rank[transfer.target];
    in.received += bytes;
    ++in.messages_in;
  }
  Certificate certificate;
  Load out, in;
  for (auto& [rank, entry] : by_rank) {
    entry.rank = rank;
    const Region held = source.region(rank), wanted = target.region(rank);
    entry.needed = elements_missing(held, wanted) * bytes_each;
    certificate.sent = checked_add(certificate.sent, entry.sent, kAllRanks);
    certificate.needed = checked_add(certificate.needed, entry.needed, kAllRanks);
    certificate.copied = checked_add(certificate.copied, entry.copied, kAllRanks);
    certificate.messages += entry.messages_out;
    if (held.elements() > 0) out.add(entry.sent);
    if (wanted.elements() > 0) in.add(entry.received);
    if (lifted)
      certificate.peak_staging =
          std::max(certificate.peak_staging, staging_bytes(lifted->fold, target_, rank, options_.staging_limit));
    certificate.ranks.push_back(entry);
  }
  certificate.imbalance_out = out.imbalance();
  certificate.imbalance_in = in.imbalance();
  return certificate;
}

}  // namespace reshard
