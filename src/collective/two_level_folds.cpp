#include <algorithm>

#include "base/checked.h"
#include "collective/two_level.h"

namespace reshard::collective {
namespace {

constexpr Index kLineBytes = 64;
constexpr Index kTermsBytes = Index{1} << 19;  // of all tiles together: they stay in the second cache
constexpr Index kShortestTile = 1024;          // elements
constexpr Index kTermsRead = 3;                // of a reduce_scatter: what I wanted to read at you
constexpr Index kPartsCame = 3;                // of an all_reduce
constexpr Index kColumnHere = 4;
constexpr Index kColumnRead = 5;

// An average is a sum until all are there.
Folding partial(const Job& job, Dtype wide) {
  return {.dtype = wide, .op = job.folding->op == ReduceOp::avg ? ReduceOp::sum : job.folding->op};
}

// [first, first + count) in tiles.
template <class F>
void each_tile(Index count, Index tile, F f) {
  for (Index first = 0; first < count; first += tile) f(first, std::min(tile, count - first));
}

}  // namespace

Dtype wide_dtype(Dtype dtype) {
  const bool is_narrow_float =
      dtype == Dtype::f8e4m3 || dtype == Dtype::f8e5m2 || dtype == Dtype::f16 || dtype == Dtype::bf16;
  return is_narrow_float ? Dtype::f32 : dtype;
}

FoldByHost::FoldByHost(const Job& job, RankId me)
    : job_(job), me_(me), hosts_(job), dtype_(job.folding->dtype), wide_(wide_dtype(dtype_)) {
  const auto terms = static_cast<Index>(hosts_.members(hosts_.of(me)).size());
  tile_ = std::max(kShortestTile, kTermsBytes / (terms * (bytes_of(dtype_) + bytes_of(wide_))));
}

Spot FoldByHost::widened(Index place) const {
  const auto terms = static_cast<Index>(hosts_.members(hosts_.of(me_)).size());
  return {kStaging, terms * tile_ * bytes_of(dtype_) + place * tile_ * bytes_of(wide_)};
}

Spot FoldByHost::kept(Index wide_element) const {
  const auto terms = static_cast<Index>(hosts_.members(hosts_.of(me_)).size());
  return {kStaging, widened(terms).offset + wide_element * bytes_of(wide_)};
}

Index FoldByHost::staging(Index wide_elements) const { return kept(wide_elements).offset; }

void FoldByHost::fold_host(Index first, Index count, Spot result, Draft& draft) const {
  const std::vector<RankId>& members = hosts_.members(hosts_.of(me_));
  const Index bytes = bytes_of(dtype_);
  for (const RankId rank : hosts_.neighbours(me_))
    draft.get(rank, {kInput, first * bytes}, raw(hosts_.place(rank)), count * bytes);
  std::vector<Spot> terms;
  for (const RankId rank : members) {
    const Index place = hosts_.place(rank);
    const Spot term = rank == me_ ? Spot{kInput, first * bytes} : raw(place);
    if (wide_ != dtype_) draft.cast(term, dtype_, widened(place), wide_, count);
    terms.push_back(wide_ != dtype_ ? widened(place) : term);
  }
  draft.fold(result, terms, count, partial(job_, wide_), 1);
}

void FoldByHost::fold_hosts(const std::vector<Spot>& partials, Spot result, Index count, Draft& draft) const {
  const Folding last{.dtype = wide_, .op = job_.folding->op};
  const Spot target = wide_ != dtype_ ? widened(0) : result;
  draft.fold(target, partials, count, last, job_.ranks);
  if (wide_ != dtype_) draft.cast(target, wide_, result, dtype_, count);
}

ReduceScatterByHost::ReduceScatterByHost(const Job& job, RankId me)
    : job_(job), me_(me), hosts_(job), folder_(job, me), neighbours_(hosts_.neighbours(me)) {}

std::vector<RankId> ReduceScatterByHost::served() const {
  std::vector<RankId> served;
  for (const Index host : hosts_.others(hosts_.of(me_)))
    for (const RankId rank : hosts_.members(host))
      if (server(hosts_.of(me_), rank) == me_) served.push_back(rank);
  return served;
}

// Where another host's partial result lies in a mailbox.
Index ReduceScatterByHost::slot(Index host, Index elements) const { return host * folder_.wide_bytes(elements); }

Index ReduceScatterByHost::mailbox() const { return slot(hosts_.count(), job_.part(me_)); }

Index ReduceScatterByHost::staging() const {
  Index elements = folder_.tile();
  for (const RankId rank : served()) elements += job_.part(rank);
  return folder_.staging(elements);
}

void ReduceScatterByHost::serve(Draft& draft) const {
  const std::vector<RankId> ranks = served();
  Index kept = folder_.tile();
  for (const RankId rank : ranks) {
    each_tile(job_.part(rank), folder_.tile(), [&](Index first, Index count) {
      folder_.fold_host(job_.part_begin(rank) + first, count, folder_.kept(kept + first), draft);
    });
    draft.await(rank, kBegin);
    draft.put(rank, folder_.kept(kept), {kMailbox, slot(hosts_.of(me_), job_.part(rank))},
              folder_.wide_bytes(job_.part(rank)));
    kept += job_.part(rank);
  }
  draft.fence();
  for (const RankId rank : ranks) draft.tell(rank, kCame);
}

void ReduceScatterByHost::fold(Draft& draft) const {
  const Index part = job_.part(me_);
  each_tile(part, folder_.tile(), [&](Index first, Index count) {
    folder_.fold_host(job_.part_begin(me_) + first, count, folder_.kept(0), draft);
    std::vector<Spot> partials;
    for (Index host = 0; host < hosts_.count(); ++host)
      partials.push_back(host == hosts_.of(me_) ? folder_.kept(0)
                                                : Spot{kMailbox, slot(host, part) + folder_.wide_bytes(first)});
    folder_.fold_hosts(partials, {kOutput, first * bytes_of(job_.folding->dtype)}, count, draft);
  });
}

void ReduceScatterByHost::write(Draft& draft) const {
  for (const RankId peer : neighbours_) draft.tell(peer, kBegin);
  for (const Index host : hosts_.others(hosts_.of(me_))) draft.tell(server(host, me_), kBegin);
  for (const RankId peer : neighbours_) draft.await(peer, kBegin);
  serve(draft);
  for (const Index host : hosts_.others(hosts_.of(me_))) draft.await(server(host, me_), kCame);
  fold(draft);
  for (const RankId peer : neighbours_) draft.tell(peer, kTermsRead);
  for (const RankId peer : neighbours_) draft.await(peer, kTermsRead);
}

AllReduceByHost::AllReduceByHost(const Job& job, RankId me)
    : job_(job),
      me_(me),
      hosts_(job),
      host_(hosts_.of(me)),
      place_(hosts_.place(me)),
      element_(bytes_of(job.folding->dtype)),
      folder_(job, me),
      neighbours_(hosts_.neighbours(me)) {}

AllReduceByHost::Range AllReduceByHost::part(Index place, Index host) const {
  const Index elements = job_.input_bytes.front() / element_, parts = hosts_.columns() * hosts_.count();
  const Index line = std::max<Index>(1, kLineBytes / element_);
  const Index most = ceil_div(ceil_div(elements, parts), line) * line;
  const Index number = place * hosts_.count() + host;
  const Index begin = std::min(elements, number * most);
  return {begin, std::min(elements, (number + 1) * most) - begin};
}

AllReduceByHost::Range AllReduceByHost::column(Index place) const {
  const Range last = part(place, hosts_.count() - 1);
  const Index begin = part(place, 0).begin;
  return {begin, last.begin + last.count - begin};
}

// Partial results of my part, a slot for each host.
Index AllReduceByHost::mailbox() const {
  return has_column() ? hosts_.count() * folder_.wide_bytes(part(place_, host_).count) : 0;
}

Index AllReduceByHost::staging() const { return has_column() ? folder_.staging(column(place_).count) : 0; }

void AllReduceByHost::fold_column(Draft& draft) const {
  const Range mine = column(place_);
  for (Index host = 0; host < hosts_.count(); ++host) {
    const Range to = part(place_, host);
    each_tile(to.count, folder_.tile(), [&](Index first, Index count) {
      folder_.fold_host(to.begin + first, count, folder_.kept(to.begin - mine.begin + first), draft);
    });
  }
  for (const Index host : hosts_.others(host_)) {
    const Range to = part(place_, host);
    draft.await(hosts_.member(host, place_), kBegin);
    draft.put(hosts_.member(host, place_), folder_.kept(to.begin - mine.begin),
              {kMailbox, host_ * folder_.wide_bytes(to.count)}, folder_.wide_bytes(to.count));
  }
  draft.fence();
  for (const Index host : hosts_.others(host_)) draft.tell(hosts_.member(host, place_), kCame);
}

void AllReduceByHost::fold_part(Draft& draft) const {
  const Range mine = part(place_, host_);
  const Index kept = mine.begin - column(place_).begin;
  for (const Index host : hosts_.others(host_)) draft.await(hosts_.member(host, place_), kCame);
  each_tile(mine.count, folder_.tile(), [&](Index first, Index count) {
    std::vector<Spot> partials;
    for (Index host = 0; host < hosts_.count(); ++host)
      partials.push_back(host == host_
                             ? folder_.kept(kept + first)
                             : Spot{kMailbox, host * folder_.wide_bytes(mine.count) + folder_.wide_bytes(first)});
    folder_.fold_hosts(partials, {kOutput, (mine.begin + first) * element_}, count, draft);
  });
  const Spot result{kOutput, mine.begin * element_};
  for (const Index host : hosts_.others(host_))
    draft.put(hosts_.member(host, place_), result, result, mine.count * element_);
  draft.fence();
  for (const Index host : hosts_.others(host_)) draft.tell(hosts_.member(host, place_), kPartsCame);
  for (const Index host : hosts_.others(host_)) draft.await(hosts_.member(host, place_), kPartsCame);
}

void AllReduceByHost::write(Draft& draft) const {
  for (const RankId peer : neighbours_) draft.tell(peer, kBegin);
  if (has_column())
    for (const Index host : hosts_.others(host_)) draft.tell(hosts_.member(host, place_), kBegin);
  for (const RankId peer : neighbours_) draft.await(peer, kBegin);
  if (has_column()) {
    fold_column(draft);
    fold_part(draft);
  }
  for (const RankId peer : neighbours_) draft.tell(peer, kColumnHere);
  for (const RankId peer : neighbours_) {
    draft.await(peer, kColumnHere);
    if (hosts_.place(peer) >= hosts_.columns()) continue;
    const Range there = column(hosts_.place(peer));
    const Spot spot{kOutput, there.begin * element_};
    draft.get(peer, spot, spot, there.count * element_);
  }
  for (const RankId peer : neighbours_) draft.tell(peer, kColumnRead);
  for (const RankId peer : neighbours_) draft.await(peer, kColumnRead);
}

}  // namespace reshard::collective
