#include "fabric/offer_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fingerprint.h"

namespace reshard::fabric {
namespace {

template <std::size_t N>
void keep(std::array<char, N>& to, std::string_view text) {
  const std::size_t shown = std::min(text.size(), N - 1);
  std::copy_n(text.data(), shown, to.data());
  to[shown] = '\0';
}

}  // namespace

OfferText::OfferText(std::string_view offered, std::string_view why)
    : name_bytes(offered.size()), name_hash(fingerprint(offered)) {
  keep(name, offered);
  keep(failure, why);
}

std::string OfferText::described(std::string_view call, int id) const {
  return fmt::format("{}(\"{}{}\") [id {}]", call, name.data(), name_bytes >= kNameShown ? "..." : "", id);
}

std::string disagreement(Index rank, std::string_view call, Index other, std::string_view other_call) {
  return fmt::format(
      "ranks disagree in a collective call: rank {} calls {}, rank {} calls {}; all ranks must create and destroy the "
      "same windows and signals in the same order",
      rank, call, other, other_call);
}

}  // namespace reshard::fabric
