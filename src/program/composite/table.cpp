#include "program/composite/table.h"

#include <algorithm>

namespace reshard {
std::span<const CompositeKind> composite_kinds() {
  static const std::vector<Protocol> two_rounds{Protocol::epoch, Protocol::credits_2};
  static const std::vector<Protocol> any{Protocol::epoch, Protocol::credits_2, Protocol::credits_1, Protocol::parity};
  static const std::vector<CompositeKind> kinds{
      {"all_gather", {"input", "target", "signal"}, {"protocol"}, any, write_all_gather},
      {"all_reduce", {"target", "signal"}, {"op", "mode", "output", "protocol"}, any, write_all_reduce},
      {"all_to_all", {"input", "target", "signal"}, {"protocol"}, any, write_all_to_all},
      {"all_to_all_v",
       {"input", "target", "send_counts", "recv_counts", "signal"},
       {"protocol"},
       two_rounds,
       write_all_to_all_v},
      {"barrier", {"signal"}, {"protocol"}, any, write_barrier},
      {"broadcast", {"target", "signal", "root"}, {"protocol"}, any, write_broadcast},
      {"indexed_all_to_all_v",
       {"input", "target", "send_counts", "recv_counts", "index", "signal"},
       {"workers", "protocol"},
       two_rounds,
       write_indexed_all_to_all_v},
      {"redistribute",
       {"input", "target", "signal", "from", "to"},
       {"protocol"},
       {Protocol::epoch, Protocol::credits_2, Protocol::credits_1},
       write_redistribute},
      {"reduce_scatter", {"target", "signal"}, {"op", "output", "protocol"}, any, write_reduce_scatter},
  };
  return kinds;
}

const CompositeKind& checked_kind(const CompositeArguments& arguments) {
  const auto kinds = composite_kinds();
  const auto kind = std::ranges::find(kinds, arguments.name(), &CompositeKind::name);
  if (kind == kinds.end()) {
    std::string names;
    for (const CompositeKind& known : kinds) names += (names.empty() ? "" : ", ") + std::string(known.name);
    arguments.refuse("no composite has this name; there are {}", names);
  }
  arguments.require_names(kind->required, kind->optional);
  const Protocol protocol = arguments.protocol();
  if (std::ranges::find(kind->protocols, protocol) == kind->protocols.end()) {
    std::string names;
    for (const Protocol known : kind->protocols) names += (names.empty() ? "" : ", ") + std::string(name_of(known));
    arguments.refuse("{} has no form of the protocol {}; it has {}", kind->name, name_of(protocol), names);
  }
  return *kind;
}

}  // namespace reshard
