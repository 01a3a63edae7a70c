// Proves a plan right from the two layouts alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

constexpr std::size_t kGreatestReport = 100;  // faults; a broken plan of a large mesh has as many as transfers

// Global runs of one dimension, ascending in the order of the spans.
using Runs = std::vector<Segment>;

// What [local, local + length) of a rank's memory holds; shorter than asked where it holds nothing.
Runs global_runs(const Segments& segments, LocalIndex local, Index length) {
  Runs runs;
  for (const Segment& segment : segments) {
    const LocalIndex begin = std::max(segment.local, local);
    const LocalIndex end = std::min(segment.local + segment.length, local + length);
    if (begin < end) runs.push_back({begin, segment.global + (begin - segment.local), end - begin});
  }
  return runs;
}

bool overlap(const Segments& a, const Segments& b) { return !intersect(a, b).empty(); }

struct Ends {
  Region source;  // of the sender
  Region target;  // of the receiver
  Region held;    // source layout at the receiver
};

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  std::vector<Fault> run() {
    std::map<RankId, std::vector<std::size_t>> by_target;
    for (std::size_t k = 0; k < plan_.transfers().size(); ++k) by_target[plan_.transfers()[k].target].push_back(k);
    const Mesh& mesh = plan_.target().mesh();
    for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) by_target[mesh.rank_at_ordinal(ordinal)];
    for (const auto& [rank, transfers] : by_target) {
      check_rank(rank, transfers);
      if (faults_.size() >= kGreatestReport) break;
    }
    return std::move(faults_);
  }

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back({fmt::format(format, std::forward<Args>(args)...)});
  }

  const Region& source_region(RankId rank) {
    const auto [entry, fresh] = source_regions_.try_emplace(rank);
    if (fresh) entry->second = plan_.source().region(rank);
    return entry->second;
  }

  void check_rank(RankId rank, const std::vector<std::size_t>& transfers) {
    const Region wanted = plan_.target().region(rank);
    std::vector<std::vector<Segments>> written;  // per transfer, per dimension
    Index covered = 0;
    bool sound = true;
    for (const std::size_t k : transfers) {
      std::vector<Segments> box;
      sound = check_transfer(k, wanted, box) && sound;
      covered += plan_.transfers()[k].elements();
      written.push_back(std::move(box));
    }
    if (!sound) return;
    check_disjoint(rank, transfers, written);
    if (covered != wanted.elements())
      fault("rank {}: {} of {} target elements are written", rank.value(), covered, wanted.elements());
  }

  // Fills `box` with the target elements in global indices.
  bool check_transfer(std::size_t k, const Region& wanted, std::vector<Segments>& box) {
    const Transfer& transfer = plan_.transfers()[k];
    const std::string name = fmt::format("transfer {} ({} -> {})", k, transfer.source.value(), transfer.target.value());
    const std::size_t dims = plan_.source().shape().size();
    if (transfer.dims.size() != dims) {
      fault("{}: {} dimensions for a tensor of {}", name, transfer.dims.size(), dims);
      return false;
    }
    const Region& owned = source_region(transfer.source);
    if (!owned.held) fault("{}: rank {} holds nothing of the source", name, transfer.source.value());
    if (!wanted.held) fault("{}: rank {} holds nothing of the target", name, transfer.target.value());
    if (!owned.held || !wanted.held) return false;
    for (std::size_t dim = 0; dim < dims; ++dim)
      if (!check_dim(name, dim, transfer.dims[dim], owned.dims[dim], wanted.dims[dim], box.emplace_back()))
        return false;
    if (!transfer.is_local()) check_needed(name, transfer, box);
    return true;
  }

  bool check_dim(const std::string& name, std::size_t dim, const std::vector<Span>& spans, const Segments& owned,
                 const Segments& wanted, Segments& box) {
    if (spans.empty()) {
      fault("{}: nothing along dimension {}", name, dim);
      return false;
    }
    for (const Span& span : spans) {
      Index end = 0;
      if (span.length < 1 || span.source.value() < 0 || span.target.value() < 0 ||
          __builtin_add_overflow(std::max(span.source.value(), span.target.value()), span.length, &end)) {
        fault("{}: dimension {} has the impossible span {} > {} of length {}", name, dim, span.source.value(),
              span.target.value(), span.length);
        return false;
      }
      const Runs from = global_runs(owned, span.source, span.length);
      const Runs to = global_runs(wanted, span.target, span.length);
      if (length_of(from) != span.length) return out_of(name, dim, "source", span.source, span.length);
      if (length_of(to) != span.length) return out_of(name, dim, "target", span.target, span.length);
      if (!same_elements(from, to)) {
        fault("{}: dimension {}: source [{}, {}) and target [{}, {}) name different elements", name, dim,
              span.source.value(), span.source.value() + span.length, span.target.value(),
              span.target.value() + span.length);
        return false;
      }
      box.insert(box.end(), to.begin(), to.end());
    }
    std::ranges::sort(box, {}, &Segment::global);
    for (std::size_t k = 1; k < box.size(); ++k)
      if (box[k].global < box[k - 1].global + box[k - 1].length) {
        fault("{}: dimension {}: element {} appears twice", name, dim, box[k].global.value());
        return false;
      }
    return true;
  }

  bool out_of(const std::string& name, std::size_t dim, std::string_view side, LocalIndex local, Index length) {
    fault("{}: dimension {}: [{}, {}) is not held by the {}", name, dim, local.value(), local.value() + length, side);
    return false;
  }

  // Same global elements in the same order; runs may be split differently.
  static bool same_elements(const Runs& a, const Runs& b) {
    std::size_t i = 0, j = 0;
    Index into_a = 0, into_b = 0;
    while (i < a.size() && j < b.size()) {
      if (a[i].global + into_a != b[j].global + into_b) return false;
      const Index step = std::min(a[i].length - into_a, b[j].length - into_b);
      if ((into_a += step) == a[i].length) ++i, into_a = 0;
      if ((into_b += step) == b[j].length) ++j, into_b = 0;
    }
    return i == a.size() && j == b.size();
  }

  void check_needed(const std::string& name, const Transfer& transfer, const std::vector<Segments>& box) {
    const Region& held = source_region(transfer.target);
    bool needless = held.held;
    for (std::size_t dim = 0; needless && dim < box.size(); ++dim) needless = overlap(held.dims[dim], box[dim]);
    if (needless) fault("{}: rank {} already holds some of these elements", name, transfer.target.value());
  }

  void check_disjoint(RankId rank, const std::vector<std::size_t>& transfers,
                      const std::vector<std::vector<Segments>>& written) {
    for (std::size_t i = 0; i < written.size(); ++i)
      for (std::size_t j = i + 1; j < written.size(); ++j) {
        bool twice = true;
        for (std::size_t dim = 0; twice && dim < written[i].size(); ++dim)
          twice = overlap(written[i][dim], written[j][dim]);
        if (twice)
          fault("rank {}: transfers {} and {} write the same elements", rank.value(), transfers[i], transfers[j]);
      }
  }

  const Plan& plan_;
  std::map<RankId, Region> source_regions_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> verify(const Plan& plan) {
  if (plan.source().shape() != plan.target().shape())
    return {{fmt::format("source and target have different shapes: {} and {}", plan.source().text(),
                         plan.target().text())}};
  if (plan.source().dtype() != plan.target().dtype())
    return {{fmt::format("source and target have different dtypes: {} and {}", plan.source().text(),
                         plan.target().text())}};
  return Verifier(plan).run();
}

}  // namespace reshard
