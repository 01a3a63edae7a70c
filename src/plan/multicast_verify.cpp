// Proves hops right. What a hop moves, its first sender could have sent directly: a plan of these direct transfers must
// be right. And whoever forwards must have been sent the same before, and store it at the same places.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reshard/multicast.h"

namespace reshard {
namespace {

constexpr std::size_t kGreatestMulticastReport = 100;

class HopVerifier {
 public:
  explicit HopVerifier(const Multicast& multicast) : multicast_(multicast) {}

  std::vector<Fault> run() {
    std::vector<Transfer> direct;
    for (std::size_t k = 0; k < multicast_.hops().size(); ++k) {
      if (!check(k)) break;
      Hop first = multicast_.hops()[k];
      first.from = origin_[k];
      first.after = -1;
      direct.push_back(multicast_.transfer(first));
    }
    if (!faults_.empty()) return std::move(faults_);
    std::ranges::stable_sort(direct, {}, [](const Transfer& t) { return std::pair(t.target, t.source); });
    for (Fault& fault : verify(Plan(multicast_.source(), multicast_.target(), {}, std::move(direct))))
      faults_.push_back({"as direct transfers: " + fault.message});
    return std::move(faults_);
  }

 private:
  template <class... Args>
  bool fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back({fmt::format(format, std::forward<Args>(args)...)});
    return faults_.size() < kGreatestMulticastReport;
  }

  // False when nothing more should be looked at.
  bool check(std::size_t k) {
    const Hop& hop = multicast_.hops()[k];
    origin_.push_back(hop.from);
    if (hop.piece < 0 || hop.piece >= std::ssize(multicast_.pieces()) || hop.chunk < 0 || hop.chunk >= hop.chunks)
      return fault("hop {}: there is no chunk {} of {} of piece {}", k, hop.chunk, hop.chunks, hop.piece) && false;
    if (hop.after < 0) return true;
    if (hop.after >= static_cast<Index>(k))
      return fault("hop {} waits for hop {}, which is not before it", k, hop.after) && false;
    const Hop& before = multicast_.hops()[static_cast<std::size_t>(hop.after)];
    origin_.back() = origin_[static_cast<std::size_t>(hop.after)];
    if (before.to != hop.from)
      return fault("hop {}: rank {} forwards what hop {} brought to rank {}", k, hop.from.value(), hop.after,
                   before.to.value());
    const bool whole = before.chunks == 1 || (before.chunk == hop.chunk && before.chunks == hop.chunks);
    if (before.piece != hop.piece || !whole)
      return fault("hop {}: rank {} forwards chunk {}/{} of piece {}, but hop {} brought chunk {}/{} of piece {}", k,
                   hop.from.value(), hop.chunk, hop.chunks, hop.piece, hop.after, before.chunk, before.chunks,
                   before.piece);
    if (wanted(hop.from) != wanted(hop.to))
      return fault("hop {}: ranks {} and {} want different elements, so one cannot forward to the other", k,
                   hop.from.value(), hop.to.value());
    return true;
  }

  const Region& wanted(RankId rank) {
    const auto [entry, fresh] = wanted_.try_emplace(rank);
    if (fresh) entry->second = multicast_.target().region(rank);
    return entry->second;
  }

  const Multicast& multicast_;
  std::vector<RankId> origin_;  // per hop: the rank whose source buffer the data came from
  std::map<RankId, Region> wanted_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> verify(const Multicast& multicast) { return HopVerifier(multicast).run(); }

}  // namespace reshard
