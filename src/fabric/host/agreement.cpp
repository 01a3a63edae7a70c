#include "fabric/host/agreement.h"

#include <algorithm>
#include <functional>

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

template <std::size_t N>
void store(std::array<char, N>& to, std::string_view text) {
  const std::size_t shown = std::min(text.size(), N - 1);
  std::copy_n(text.data(), shown, to.data());
  to[shown] = '\0';
}

std::string describe(const Offer& offer) {
  const bool is_cut = offer.name_bytes >= Offer::kNameShown;
  return fmt::format("{}(\"{}{}\") [id {}]", name_of(offer.call), offer.name.data(), is_cut ? "..." : "", offer.id);
}

bool is_same_call(const Offer& a, const Offer& b) {
  return a.sequence == b.sequence && a.call == b.call && a.id == b.id && a.name_bytes == b.name_bytes &&
         a.name_hash == b.name_hash;
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
  mine.name_bytes = call.name.size();
  mine.name_hash = std::hash<std::string_view>{}(call.name);
  store(mine.name, call.name);
  store(mine.failure, call.failure);
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
    fail(Code::invalid_argument,
         "ranks disagree in a collective call: rank {} calls {}, rank {} calls {}; all ranks must create and destroy "
         "the "
         "same windows and signals in the same order",
         world_.name(RankId(0)), describe(first), world_.name(RankId(static_cast<Index>(r))), describe(*offers[r]));
  }
  for (std::size_t r = 0; r < offers.size(); ++r) {
    if (offers[r]->failure[0] != '\0')
      fail(Code::io, "{}: rank {}: {}", describe(first), world_.name(RankId(static_cast<Index>(r))),
           offers[r]->failure.data());
  }
}

}  // namespace reshard::fabric
