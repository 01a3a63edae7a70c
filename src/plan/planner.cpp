#include "plan/planner.h"

#include <algorithm>

#include "base/fail.h"
#include "plan/staging.h"

namespace reshard {
namespace {

// Which of its equals a coordinate is.
Index free_index(const Mesh& mesh, std::span<const int> free, std::span<const Index> coordinate) {
  Index at = 0;
  for (const int axis : free) at = at * mesh.axes()[axis].size + coordinate[axis];
  return at;
}

Coordinate without_free(std::span<const int> free, Coordinate coordinate) {
  for (const int axis : free) coordinate[axis] = 0;
  return coordinate;
}

enum class Here { source, target };

Transfer transfer_of(RankId source, RankId target, const std::vector<const Share*>& shares, Here here) {
  Transfer transfer{source, target, {}};
  transfer.dims.reserve(shares.size());
  for (const Share* share : shares) {
    std::vector<Span>& spans = transfer.dims.emplace_back();
    spans.reserve(share->overlaps.size());
    for (const Overlap& overlap : share->overlaps)
      spans.push_back(here == Here::target ? Span{overlap.there, overlap.here, overlap.length}
                                           : Span{overlap.here, overlap.there, overlap.length});
  }
  return transfer;
}

// Mostly they are in order already.
void sort_by(std::vector<Transfer>& transfers, RankId Transfer::*end) {
  if (!std::ranges::is_sorted(transfers, {}, end)) std::ranges::sort(transfers, {}, end);
}

void check_plain(const Layout& layout) {
  const std::string& form = layout.spec().storage.form;
  if (!form.empty())
    fail(Code::unsupported,
         "{}: the form \"{}\" is private to its owner: move to or from a plain layout, and let the owner repack",
         layout.text(), form);
}

void check_options(const PlanOptions& options) {
  if (std::min({options.ranks_per_host, options.ranks_per_rack, options.rotation, options.staging_limit}) < 0)
    fail(Code::invalid_argument,
         "ranks per host ({}), ranks per rack ({}), rotation ({}) and staging limit ({}) must not be negative",
         options.ranks_per_host, options.ranks_per_rack, options.rotation, options.staging_limit);
  if (options.ranks_per_host > 0 && options.ranks_per_rack % options.ranks_per_host != 0)
    fail(Code::invalid_argument, "{} ranks per rack are no multiple of {} ranks per host: a host lies in one rack",
         options.ranks_per_rack, options.ranks_per_host);
}

}  // namespace

Planner::Planner(const Layout& source, const Layout& target, const PlanOptions& options)
    : lifted_(lift(source, target)),
      source_(lifted_ ? lifted_->source : source),
      target_(lifted_ ? lifted_->target : target),
      options_(options),
      source_free_(free_axes(source_)),
      has_copies_(width_of(source_.mesh(), source_free_) > 1) {
  check_plain(source);
  check_plain(target);
  check_options(options);
  if (lifted_) check_staging(lifted_->fold, source, options.staging_limit);
}

const Copies& Planner::copies_of(const Coordinate& source_coordinate) {
  Coordinate key = without_free(source_free_, source_coordinate);
  std::unique_ptr<Copies>& entry = copies_[key];
  if (!entry) entry = std::make_unique<Copies>(source_, target_, options_, key);
  return *entry;
}

std::vector<Transfer> Planner::receives(RankId rank) {
  std::vector<Transfer> transfers;
  const Region region = target_.region(rank);
  if (!region.held) return transfers;
  const Shares shares(source_, region.dims);
  Coordinate target_coordinate;
  Index copy = 0;
  if (has_copies_) {
    target_coordinate = *target_.mesh().coordinate_of(rank);
    copy = free_index(target_.mesh(), free_axes(target_), target_coordinate);
  }
  const auto own = source_.mesh().coordinate_of(rank);
  const Index own_shard = own && !shares.empty() ? shares.find(*own) : -1;
  transfers.reserve(static_cast<std::size_t>(shares.count()));
  for (Index k = 0; k < shares.count(); ++k) {
    RankId sender = rank;
    if (k != own_shard && !has_copies_) {
      sender = source_.mesh().rank_at(shares.coordinate(k));
    } else if (k != own_shard) {
      const Copies& copies = copies_of(shares.coordinate(k));
      sender = copies.sender(rank, copies.parts().find(target_coordinate), copy);
    }
    transfers.push_back(transfer_of(sender, rank, shares.along(k), Here::target));
  }
  sort_by(transfers, &Transfer::source);
  return transfers;
}

std::vector<Transfer> Planner::sends(RankId rank) {
  const auto coordinate = source_.mesh().coordinate_of(rank);
  if (!coordinate) return {};
  std::vector<Transfer> transfers = has_copies_ ? sends_of_copy(rank, *coordinate) : sends_of_all(rank, *coordinate);
  sort_by(transfers, &Transfer::target);
  return transfers;
}

// Without copies, whoever needs a part is served.
std::vector<Transfer> Planner::sends_of_all(RankId rank, const Coordinate& coordinate) {
  std::vector<Transfer> transfers;
  const Region region = source_.region_at(coordinate);
  if (!region.held) return transfers;
  const Mesh& mesh = target_.mesh();
  const std::vector<int> free = free_axes(target_);
  const Index receivers = width_of(mesh, free);
  const Shares parts(target_, region.dims);
  transfers.reserve(static_cast<std::size_t>(parts.count() * receivers));
  for (Index part = 0; part < parts.count(); ++part) {
    Coordinate receiver = parts.coordinate(part);
    for (Index copy = 0; copy < receivers; ++copy) {
      set_axes(mesh, free, copy, receiver);
      transfers.push_back(transfer_of(rank, mesh.rank_at(receiver), parts.along(part), Here::source));
    }
  }
  return transfers;
}

std::vector<Transfer> Planner::sends_of_copy(RankId rank, const Coordinate& coordinate) {
  std::vector<Transfer> transfers;
  if (!source_.region_at(coordinate).held) return transfers;
  const Copies& copies = copies_of(coordinate);
  const Shares& parts = copies.parts();
  for (Index part = 0; part < parts.count(); ++part)
    for (Index copy = 0; copy < copies.receivers_per_part(); ++copy) {
      const RankId receiver = copies.receiver(part, copy);
      if (receiver != rank) {
        const auto theirs = source_.mesh().coordinate_of(receiver);
        const bool holds_itself =
            theirs && without_free(source_free_, *theirs) == without_free(source_free_, coordinate);
        if (holds_itself || copies.sender(receiver, part, copy) != rank) continue;
      }
      transfers.push_back(transfer_of(rank, receiver, parts.along(part), Here::source));
    }
  return transfers;
}

std::vector<Transfer> plan_receives(const Layout& source, const Layout& target, RankId rank,
                                    const PlanOptions& options) {
  return Planner(source, target, options).receives(rank);
}

std::vector<Transfer> plan_sends(const Layout& source, const Layout& target, RankId rank, const PlanOptions& options) {
  return Planner(source, target, options).sends(rank);
}

}  // namespace reshard
