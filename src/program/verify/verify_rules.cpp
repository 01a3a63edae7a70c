#include "program/verify/verify_rules.h"

#include <vector>

namespace reshard {

std::span<const VerifyRule> verify_rules() {
  static const std::vector<VerifyRule> rules{
      {"names", "every name is declared once, before its use, and no variable hides another name", "declare or rename",
       find_names},
      {"unused", "every buffer and view is used, every output written", "drop it, or write it", find_unused},
      {"signals", "every signal is both notified and awaited", "add the other half, or drop it",
       find_one_sided_signals},
      {"unreachable", "no loop or block is empty on every rank of every P", "correct its bounds or condition",
       find_unreachable},
      {"divergent", "no composite stands under bounds or conditions that may differ from rank to rank",
       "move the composite out", find_divergent},
      {"roles", "targets of put and sources of get are windows, all else is the rank's own; waits too",
       "declare it as a window, or stage it in one", find_roles},
      {"inputs", "nobody writes an input, through views neither", "write to a local buffer", find_written_inputs},
      {"dtypes", "both sides have one dtype unless cast, operations fit it, counts and indices are integers",
       "say `cast`, or declare another dtype", find_dtypes},
      {"dimensions", "slices select no more dimensions than there are, elements, slots and rules name each",
       "name as many as declared", find_dimensions},
      {"owner", "a signal whose rounds a composite counts is left alone by hand-written statements",
       "a signal for each", find_shared_owners},
      {"protocols", "composites on one signal use it by one protocol, and in one mode", "a signal for each",
       find_protocols},
      {"composite", "arguments of composites fit (composites.md)", "as the message says"},
      {"placement", "extents are not negative, views lie inside what they view and are aligned",
       "correct the declaration, or require another P"},
      {"values", "expressions have values: no division by zero, no overflow", "correct the expression"},
      {"bounds", "slices stay inside their buffers, slots inside their signals, peers inside the world",
       "stay inside, or declare it larger"},
      {"shapes", "both sides of `<-` select as many elements", "select as many on both sides"},
      {"aliasing", "source and target share no bytes of one allocation, through any number of views",
       "go through a local buffer", nullptr, find_idle_moves},
      {"unwritten", "outputs and local memory are read only after the call has written them", "fill it first", nullptr,
       find_unwritten},
      {"verdict", "a require that needs no memory fails on all ranks or on none",
       "require what is the same on all ranks"},
      {"counters", "counters are not set to, nor awaited at, what is below zero", "add a negative number with `+=`"},
      {"mixing", "a slot is either set or added to", "one of `=` and `+=`", nullptr, find_mixing},
      {"shared", "no two peers set one slot to the same value in one call", "a slot for each rank, or add", nullptr,
       find_shared_cells},
      {"stale", "what a wait asks for is not there already from earlier calls",
       "a value that grows with `call`, or counters that go back", nullptr, find_stale},
      {"pairing", "every wait can pass by some notification, every notification is awaited",
       "notify the slot that is awaited, as often", nullptr, find_unpaired},
      {"contract", "signals declared by a protocol go back, or grow, as it says", "take back what was added", nullptr,
       find_broken_contracts},
      {"width", "counters are wide enough for what they hold, and for many calls", "declare the signal wider", nullptr,
       find_narrow},
      {"fence", "a fence stands between a put and the notification that the reader of it waits for", "place a `fence`",
       nullptr, find_unfenced},
  };
  return rules;
}

}  // namespace reshard
