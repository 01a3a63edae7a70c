// Proves a plan right from the two layouts alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/lift.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

constexpr std::size_t kGreatestReport = 100;  // faults; a broken plan of a large mesh has as many as transfers

// What a transfer writes: global segments per dimension, ascending.
using Box = std::vector<Segments>;

// Walks the elements of one rank's memory, run by run; at its end where it holds nothing.
class Walk {
 public:
  Walk(const Segments& segments, LocalIndex local)
      : segment_(std::ranges::partition_point(segments, [&](const Segment& s) { return s.local + s.length <= local; })),
        end_(segments.end()),
        local_(local) {}
  bool holds() const { return segment_ != end_ && segment_->local <= local_; }
  GlobalIndex global() const { return segment_->global + (local_ - segment_->local); }
  // Elements from here on that lie side by side.
  Index run() const { return segment_->length - (local_ - segment_->local); }
  void step(Index length) {
    local_ += length;
    if (local_ == segment_->local + segment_->length) ++segment_;
  }

 private:
  Segments::const_iterator segment_, end_;
  LocalIndex local_;
};

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

bool overlap(const Box& a, const Box& b) {
  for (std::size_t dim = 0; dim < a.size(); ++dim)
    if (!overlap(a[dim], b[dim])) return false;
  return true;
}

// The dimension along which the boxes begin at the most places.
std::size_t widest_dim(std::span<const Box> boxes) {
  std::size_t widest = 0;
  std::ptrdiff_t most = 0;
  std::vector<GlobalIndex> begins;
  for (std::size_t dim = 0; dim < boxes.front().size(); ++dim) {
    begins.clear();
    for (const Box& box : boxes) begins.push_back(box[dim].front().global);
    std::ranges::sort(begins);
    const std::ptrdiff_t places = std::ranges::unique(begins).begin() - begins.begin();
    if (places > most) widest = dim, most = places;
  }
  return widest;
}

// A transfer that a rank receives.
struct Receipt {
  RankId rank;
  std::size_t transfer;
};
using Receipts = std::span<const Receipt>;

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  std::vector<Fault> run() {
    std::vector<Receipt> receipts;
    for (const Transfer& transfer : plan_.transfers())
      receipts.push_back({transfer.target, static_cast<std::size_t>(&transfer - plan_.transfers().data())});
    std::ranges::sort(receipts, {}, [](const Receipt& r) { return std::pair(r.rank, r.transfer); });
    const Mesh& mesh = plan_.target().mesh();
    std::vector<RankId> ranks;
    for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) ranks.push_back(mesh.rank_at_ordinal(ordinal));
    for (const Receipt& receipt : receipts)
      if (ranks.back() != receipt.rank) ranks.push_back(receipt.rank);
    std::ranges::sort(ranks);
    ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
    auto first = receipts.begin();
    for (const RankId rank : ranks) {
      const auto last = std::find_if(first, receipts.end(), [&](const Receipt& r) { return r.rank != rank; });
      check_rank(rank, {first, last});
      first = last;
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

  std::string name_of(std::size_t k) const {
    const Transfer& transfer = plan_.transfers()[k];
    return fmt::format("transfer {} ({} -> {})", k, transfer.source.value(), transfer.target.value());
  }

  void check_rank(RankId rank, Receipts receipts) {
    const Region wanted = plan_.target().region(rank);
    if (written_.size() < receipts.size()) written_.resize(receipts.size());
    bool sound = true;
    for (std::size_t i = 0; i < receipts.size(); ++i)
      sound = check_transfer(receipts[i].transfer, wanted, written_[i]) && sound;
    if (!sound || !check_disjoint(rank, receipts)) return;
    Index covered = 0;  // of disjoint parts of what is wanted: it fits
    for (const Receipt& receipt : receipts) covered += plan_.transfers()[receipt.transfer].elements();
    if (covered != wanted.elements())
      fault("rank {}: {} of {} target elements are written", rank.value(), covered, wanted.elements());
  }

  // Fills `box` with the target elements in global indices.
  bool check_transfer(std::size_t k, const Region& wanted, Box& box) {
    const Transfer& transfer = plan_.transfers()[k];
    const std::size_t dims = plan_.source().shape().size();
    if (transfer.dims.size() != dims) {
      fault("{}: {} dimensions for a tensor of {}", name_of(k), transfer.dims.size(), dims);
      return false;
    }
    const Region& owned = source_region(transfer.source);
    if (!owned.held) fault("{}: rank {} holds nothing of the source", name_of(k), transfer.source.value());
    if (!wanted.held) fault("{}: rank {} holds nothing of the target", name_of(k), transfer.target.value());
    if (!owned.held || !wanted.held) return false;
    box.resize(dims);
    for (std::size_t dim = 0; dim < dims; ++dim)
      if (!check_dim(k, dim, owned.dims[dim], wanted.dims[dim], box[dim])) return false;
    if (!transfer.is_local()) check_needed(k, transfer, box);
    return true;
  }

  bool check_dim(std::size_t k, std::size_t dim, const Segments& owned, const Segments& wanted, Segments& box) {
    const std::vector<Span>& spans = plan_.transfers()[k].dims[dim];
    if (spans.empty()) {
      fault("{}: nothing along dimension {}", name_of(k), dim);
      return false;
    }
    box.clear();
    for (const Span& span : spans)
      if (!check_span(k, dim, span, owned, wanted, box)) return false;
    if (spans.size() > 1) std::ranges::sort(box, {}, &Segment::global);
    for (std::size_t s = 1; s < box.size(); ++s)
      if (box[s].global < box[s - 1].global + box[s - 1].length) {
        fault("{}: dimension {}: element {} appears twice", name_of(k), dim, box[s].global.value());
        return false;
      }
    return true;
  }

  // Adds what the span writes to `box`: both ends name the same elements, in the same order.
  bool check_span(std::size_t k, std::size_t dim, const Span& span, const Segments& owned, const Segments& wanted,
                  Segments& box) {
    Index end = 0;
    if (span.length < 1 || span.source.value() < 0 || span.target.value() < 0 ||
        __builtin_add_overflow(std::max(span.source.value(), span.target.value()), span.length, &end)) {
      fault("{}: dimension {} has the impossible span {} > {} of length {}", name_of(k), dim, span.source.value(),
            span.target.value(), span.length);
      return false;
    }
    Walk from(owned, span.source), to(wanted, span.target);
    for (Index left = span.length; left > 0;) {
      if (!from.holds()) return out_of(k, dim, "source", span.source, span.length);
      if (!to.holds()) return out_of(k, dim, "target", span.target, span.length);
      if (from.global() != to.global()) {
        fault("{}: dimension {}: source [{}, {}) and target [{}, {}) name different elements", name_of(k), dim,
              span.source.value(), span.source.value() + span.length, span.target.value(),
              span.target.value() + span.length);
        return false;
      }
      const Index step = std::min({left, from.run(), to.run()});
      box.push_back({span.target + (span.length - left), to.global(), step});
      from.step(step);
      to.step(step);
      left -= step;
    }
    return true;
  }

  bool out_of(std::size_t k, std::size_t dim, std::string_view side, LocalIndex local, Index length) {
    fault("{}: dimension {}: [{}, {}) is not held by the {}", name_of(k), dim, local.value(), local.value() + length,
          side);
    return false;
  }

  void check_needed(std::size_t k, const Transfer& transfer, const Box& box) {
    const Region& held = source_region(transfer.target);
    if (held.held && overlap(held.dims, box))
      fault("{}: rank {} already holds some of these elements", name_of(k), transfer.target.value());
  }

  // Sweeps along one dimension: only boxes that meet there are compared along the others.
  bool check_disjoint(RankId rank, Receipts receipts) {
    if (receipts.size() < 2) return true;
    const std::span<const Box> written(written_.data(), receipts.size());
    if (written.front().empty()) return written_twice(rank, receipts, 0, 1);  // 0-d: one element
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
          return written_twice(rank, receipts, std::min(earlier.box, next.box), std::max(earlier.box, next.box));
      open.push_back(next);
    }
    return true;
  }

  // One pair a rank: the others mostly follow from it.
  bool written_twice(RankId rank, Receipts receipts, std::size_t i, std::size_t j) {
    fault("rank {}: transfers {} and {} write the same elements", rank.value(), receipts[i].transfer,
          receipts[j].transfer);
    return false;
  }

  const Plan& plan_;
  std::map<RankId, Region> source_regions_;
  std::vector<Box> written_;  // by the transfers of the rank at hand, as receipts; the others are left over
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
  std::optional<Lift> lifted;
  try {
    lifted = lift(plan.source(), plan.target());
  } catch (const Error& error) {
    return {{error.what()}};
  }
  if (!lifted) return Verifier(plan).run();
  // A plan of terms is right if it is right as a plan of values.
  const auto transfers = plan.transfers();
  const Plan values(lifted->source, lifted->target, plan.options(), {transfers.begin(), transfers.end()});
  return Verifier(values).run();
}

}  // namespace reshard
