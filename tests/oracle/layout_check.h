// What the library says of a layout, against the oracle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "oracle/ownership.h"

namespace reshard::oracle {

// All that is known of a layout. Worth keeping when many plans share one.
struct Side {
  Ownership ownership;
  std::vector<std::uint64_t> owners;      // per element, as bits
  std::map<Index, LocalStorage> storage;  // as the library says; compared with the oracle by `layout_faults`
};
Side side_of(const Layout& layout);

// Every difference between what the library says about a layout (region, storage, bytes) and the oracle.
std::vector<std::string> layout_faults(const Layout& layout, const Side& side);

}  // namespace reshard::oracle
