#include "fabric/host/agreement.h"

#include "base/fail.h"

namespace reshard::fabric {
namespace {

std::string_view name_of(Collective call) {
  switch (call) {
    case Collective::none: return "nothing";
    case Collective::create_window: return "create_window";
    case Collective::expose_shared: return "expose_window, shared";
    case Collective::expose_in_place: return "expose_window, in place";
    case Collective::create_signal: return "create_signal";
    case Collective::destroy_window: return "destroy_window";
    case Collective::destroy_signal: return "destroy_signal";
  }
  return "unknown";
}

std::string describe(const Offer& offer) { return offer.text.described(name_of(offer.call), offer.id); }

bool is_same_call(const Offer& a, const Offer& b) {
  return a.sequence == b.sequence && a.call == b.call && a.id == b.id && a.text.has_same_name(b.text);
}

}  // namespace

// Two offers per rank suffice: nobody can be two calls ahead, because the barrier of call n + 1 opens only when all
// ranks have read the offers of call n.
std::vector<const Offer*> Agreement::agree(const CollectiveCall& call, Clock::time_point deadline) {
  const std::uint64_t sequence = ++calls_;
  Offer& mine = world_.rank(rank_).offers[sequence % 2];
  mine.sequence = sequence;
  mine.call = call.call;
  mine.id = call.id;
  mine.size = call.size;
  mine.place = call.place;
  mine.is_private = call.is_private;
  mine.text = OfferText(call.name, call.failure);
  barrier(deadline);
  std::vector<const Offer*> offers;
  offers.reserve(static_cast<std::size_t>(world_.ranks()));
  for (Index r = 0; r < world_.ranks(); ++r) offers.push_back(&world_.rank(RankId(r)).offers[sequence % 2]);
  check(offers);
  return offers;
}

void Agreement::barrier(Clock::time_point deadline) { world_.barrier(rank_, ++barriers_, duties_, deadline); }

void Agreement::check(const std::vector<const Offer*>& offers) const {
  const Offer& first = *offers.front();
  for (std::size_t r = 1; r < offers.size(); ++r) {
    if (is_same_call(first, *offers[r])) continue;
    throw Error(Code::invalid_argument, disagreement(world_.name(RankId(0)), describe(first),
                                                     world_.name(RankId(static_cast<Index>(r))), describe(*offers[r])));
  }
  for (std::size_t r = 0; r < offers.size(); ++r) {
    if (offers[r]->text.has_failed())
      fail(Code::io, "{}: rank {}: {}", describe(first), world_.name(RankId(static_cast<Index>(r))),
           offers[r]->text.failure.data());
  }
}

}  // namespace reshard::fabric
