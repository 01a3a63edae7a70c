// How an m2m map is found by marking and recapturing, step by step: every cell of the common grid is tagged with the
// rank that holds it and where, the whole is gathered, cut again by the target, and the tags read.
#pragma once

#include <string>
#include <vector>

#include "explain/explained.h"
#include "reshard/m2m.h"

namespace reshard::cli {

// A cell as one source rank tags it.
struct Mark {
  RankId rank;
  CellIndex index;   // in the shard
  CellIndex middle;  // in the whole
  Index tag = 0;
};

// A tag as one target rank reads it.
struct Reading {
  RankId target;
  CellIndex index;
  Index tag = 0;
  RankId source;
  CellIndex source_index;
};

struct Trace {
  M2MMap map;           // in closed form; equal to what the readings say
  Explained explained;  // with pending terms taken as copies
  Index base = 0;       // of the tags
  std::vector<Mark> marks;
  std::vector<Reading> readings;
};

// Throws what m2m_map throws, and Error(unsupported) for more than 2^16 cells or tags past 64 bits.
Trace traced(const Layout& source, const Layout& target);

std::string trace_text(const Trace& trace, const ShowOptions& options);
std::string trace_json(const Trace& trace);

}  // namespace reshard::cli
