// All composites: their arguments, their protocols, and what writes them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "program/composite/writer.h"

namespace reshard {

struct CompositeKind {
  std::string_view name;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  std::vector<Protocol> protocols;
  void (*write)(CompositeWriter&);
};

// In alphabetical order.
std::span<const CompositeKind> composite_kinds();
// Checks names of arguments and the protocol. Throws Error(invalid_argument) that quotes the composite.
const CompositeKind& checked_kind(const CompositeArguments& arguments);

// Each in a file of its own.
void write_all_gather(CompositeWriter&);
void write_all_reduce(CompositeWriter&);
void write_all_to_all(CompositeWriter&);
void write_all_to_all_v(CompositeWriter&);
void write_barrier(CompositeWriter&);
void write_broadcast(CompositeWriter&);
void write_indexed_all_to_all_v(CompositeWriter&);
void write_redistribute(CompositeWriter&);
void write_reduce_scatter(CompositeWriter&);

}  // namespace reshard
