// The text form of plans.
#include <fmt/format.h>

#include <iterator>

#include "reshard/plan.h"

namespace reshard {

std::string Plan::text() const {
  std::string out =
      fmt::format("plan {}\nsource {}\ntarget {}\n", name_of(options_.policy), source_.text(), target_.text());
  const auto end = std::back_inserter(out);
  for (const Transfer& transfer : transfers_) {
    fmt::format_to(end, "{} -> {} [", transfer.source.value(), transfer.target.value());
    for (std::size_t dim = 0; dim < transfer.dims.size(); ++dim) {
      if (dim > 0) out += ", ";
      for (std::size_t k = 0; k < transfer.dims[dim].size(); ++k) {
        const Span& span = transfer.dims[dim][k];
        const Index source = span.source.value(), target = span.target.value();
        fmt::format_to(end, "{}{}:{}>{}:{}", k > 0 ? " " : "", source, source + span.length, target,
                       target + span.length);
      }
    }
    fmt::format_to(end, "] {} bytes\n", transfer.elements() * bytes_of(source_.dtype()));
  }
  return out;
}

}  // namespace reshard
