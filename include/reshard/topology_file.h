// A topology as a YAML file (JSON reads as well); the form is in topology.h.
//
// Rates: "50 GB/s", "400 Gb/s" (bits), "2 GiB/s", or plain bytes per second. Alphas: "5 us", "2 ms", "1.5 s", or plain
// seconds. `holds` is a number of nodes of the level below, or a list of ranges ("[0-7, 8-11 14]"), or a mapping from
// names to ranges.
#pragma once

#include <string>
#include <string_view>

#include "reshard/topology.h"

namespace reshard {

// Throws Error(invalid_argument) that names `source`, line and key.
Topology topology_from_yaml(std::string_view yaml, std::string_view source);
// Throws Error(io) as well.
Topology load_topology(const std::string& path);

}  // namespace reshard
