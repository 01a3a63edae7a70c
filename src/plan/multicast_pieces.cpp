#include "plan/multicast_pieces.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/fail.h"
#include "plan/copies.h"

namespace reshard {
namespace {

constexpr Index kMostCopies = Index{1} << 22;

// Numbers the shards of a layout: ranks that differ only in axes that replicate have the same.
class NumberedShards {
 public:
  explicit NumberedShards(const Layout& layout) : mesh_(layout.mesh()), free_(free_axes(layout)) {}

  Index number_of(RankId rank) const {
    auto coordinate = mesh_.coordinate_of(rank);
    if (!coordinate)
      fail(Code::invalid_argument, "a transfer names rank {}, which is not in the mesh {}", rank.value(), mesh_.text());
    for (const int axis : free_) (*coordinate)[static_cast<std::size_t>(axis)] = 0;
    return mesh_.ordinal_at(*coordinate);
  }
  std::vector<RankId> ranks(Index number) const {
    const Index width = width_of(mesh_, free_);
    if (width > kMostCopies) fail(Code::unsupported, "{} copies of one shard are more than {}", width, kMostCopies);
    Coordinate coordinate = mesh_.coordinate_at(number);
    std::vector<RankId> ranks;
    for (Index at = 0; at < width; ++at) {
      set_axes(mesh_, free_, at, coordinate);
      ranks.push_back(mesh_.rank_at(coordinate));
    }
    std::ranges::sort(ranks);
    return ranks;
  }

 private:
  const Mesh& mesh_;
  std::vector<int> free_;
};

}  // namespace

PlanPieces pieces_of(const Plan& plan) {
  for (const Layout* side : {&plan.source(), &plan.target()})
    if (side->has_partial())
      fail(Code::unsupported, "{} is a pending reduction: forwarding moves values; reduce it first", side->text());
  const NumberedShards sources(plan.source()), targets(plan.target());
  struct Member {
    Index target, source;
    std::size_t transfer;
  };
  std::vector<Member> members;
  for (std::size_t k = 0; k < plan.transfers().size(); ++k) {
    const Transfer& transfer = plan.transfers()[k];
    members.push_back({targets.number_of(transfer.target), sources.number_of(transfer.source), k});
  }
  std::ranges::stable_sort(members, {}, [](const Member& m) { return std::tuple(m.target, m.source); });
  PlanPieces result;
  std::map<Index, Index> known;  // source shard -> place of its holders
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Member& member = members[k];
    if (k == 0 || member.target != members[k - 1].target || member.source != members[k - 1].source) {
      const auto [entry, fresh] = known.try_emplace(member.source, std::ssize(result.holders));
      if (fresh) result.holders.push_back(sources.ranks(member.source));
      result.pieces.push_back({member.target, entry->second, member.transfer, {}, {}});
    }
    PlanPiece& piece = result.pieces.back();
    (plan.transfers()[member.transfer].is_local() ? piece.kept : piece.sent).push_back(member.transfer);
  }
  return result;
}

}  // namespace reshard
