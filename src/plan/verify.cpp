// Proves a plan right from the two layouts alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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
  auto segment = std::ranges::partition_point(segments, [&](const Segment& s) { return s.local + s.length <= local; });
  for (; segment != segments.end() && segment->local < local + length; ++segment) {
    const LocalIndex begin = std::max(segment->local, local);
    const LocalIndex end = std::min(segment->local + segment->length, local + length);
    runs.push_back({begin, segment->global + (begin - segment->local), end - begin});
  }
  return runs;
}

bool overlap(const Segments& a, const Segments& b) {
  if (a.empty() || b.empty()) return false;
  const auto ends_before = [](GlobalIndex place) {
    return [place](const Segment& s) { return s.global + s.length <= place; };
  };
  auto x = std::ranges::partition_point(a, ends_before(b.front().global));
  auto y = std::ranges::partition_point(b, ends_before(a.front().global));
  while (x != a.end() && y != b.end()) {
    const GlobalIndex x_end = x->global + x->length, y_end = y->global + y->length;
    if (x->global < y_end && y->global < x_end) return true;
    x_end < y_end ? ++x : ++y;
  }
  return false;
}

// What a transfer writes: global segments per dimension.
using Box = std::vector<Segments>;

bool overlap(const Box& a, const Box& b) {
  for (std::size_t dim = 0; dim < a.size(); ++dim)
    if (!overlap(a[dim], b[dim])) return false;
  return true;
}

// The dimension along which the boxes begin at the most places.
std::size_t widest_dim(const std::vector<Box>& boxes) {
  std::size_t widest = 0, most = 0;
  for (std::size_t dim = 0; dim < boxes.front().size(); ++dim) {
    std::set<GlobalIndex> begins;
    for (const Box& box : boxes) begins.insert(box[dim].front().global);
    if (begins.size() > most) widest = dim, most = begins.size();
  }
  return widest;
}

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
    std::vector<Box> written;  // per transfer
    bool sound = true;
    for (const std::size_t k : transfers) {
      Box box;
      sound = check_transfer(k, wanted, box) && sound;
      written.push_back(std::move(box));
    }
    if (!sound || !check_disjoint(rank, transfers, written)) return;
    Index covered = 0;  // of disjoint parts of what is wanted: it fits
    for (const std::size_t k : transfers) covered += plan_.transfers()[k].elements();
    if (covered != wanted.elements())
      fault("rank {}: {} of {} target elements are written", rank.value(), covered, wanted.elements());
  }

  // Fills `box` with the target elements in global indices.
  bool check_transfer(std::size_t k, const Region& wanted, Box& box) {
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

  void check_needed(const std::string& name, const Transfer& transfer, const Box& box) {
    const Region& held = source_region(transfer.target);
    if (held.held && overlap(held.dims, box))
      fault("{}: rank {} already holds some of these elements", name, transfer.target.value());
  }

  // Sweeps along one dimension: only boxes that meet there are compared along the others.
  bool check_disjoint(RankId rank, const std::vector<std::size_t>& transfers, const std::vector<Box>& written) {
    if (written.size() < 2) return true;
    if (written.front().empty()) return written_twice(rank, transfers, 0, 1);  // 0-d: one element
    const std::size_t dim = widest_dim(written);
    struct Begin {
      GlobalIndex begin, end;
      std::size_t box;
    };
    std::vector<Begin> begins;
    for (std::size_t k = 0; k < written.size(); ++k)
      for (const Segment& segment : written[k][dim])
        begins.push_back({segment.global, segment.global + segment.length, k});
    std::ranges::sort(begins, {}, &Begin::begin);
    std::vector<Begin> open;
    for (const Begin& next : begins) {
      std::erase_if(open, [&](const Begin& earlier) { return earlier.end <= next.begin; });
      for (const Begin& earlier : open)
        if (overlap(written[earlier.box], written[next.box]))
          return written_twice(rank, transfers, std::min(earlier.box, next.box), std::max(earlier.box, next.box));
      open.push_back(next);
    }
    return true;
  }

  // One pair a rank: the others mostly follow from it.
  bool written_twice(RankId rank, const std::vector<std::size_t>& transfers, std::size_t i, std::size_t j) {
    fault("rank {}: transfers {} and {} write the same elements", rank.value(), transfers[i], transfers[j]);
    return false;
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
