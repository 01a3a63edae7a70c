#include <fmt/format.h>

#include "reshard/halo.h"

namespace reshard {

std::string HaloEdge::text() const {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::zero: return "zero";
    case Kind::constant: return fmt::format("constant({})", value);
    case Kind::clamp: return "clamp";
    case Kind::mirror: return "mirror";
    case Kind::periodic: return "periodic";
    case Kind::pole: break;
  }
  return fmt::format("pole({}{})", longitude, flips ? ", flips" : "");
}

std::string Halo::text() const {
  std::string text;
  for (const HaloDim& d : dims)
    text += fmt::format("{}{}: {}+{} {}", text.empty() ? "" : ", ", d.dim, d.lo, d.hi, d.edge.text());
  return text;
}

}  // namespace reshard
