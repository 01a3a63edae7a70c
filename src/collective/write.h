// The algorithms: each writes the operations of one rank. docs/design/collectives.md has their rounds and bytes.
#pragma once

#include "collective/draft.h"
#include "collective/job.h"

namespace reshard::collective {

// How many phases a run has; the same on all ranks.
Index rounds_of(const Job& job, Algorithm algorithm);
// Bytes of the mailbox of a rank, and of the staging of its own.
Index mailbox_bytes(const Job& job, Algorithm algorithm, RankId rank);
Index staging_bytes(const Job& job, Algorithm algorithm, RankId rank);

// One round. Everybody puts what is for a peer into a half of its mailbox and tells it; what has come is copied to the
// output, or folded. Halves take turns, which suffices: a rank that comes to run k + 2 has been told of run k + 1 by
// all who write to it or read from it, and they told it when they were done with run k.
struct Eager {
  static Index rounds(const Job&) { return 1; }
  static Index mailbox(const Job& job, RankId rank);
  static Index staging(const Job&, RankId) { return 0; }
  static void write(const Job& job, RankId me, Index half, Draft& draft);
};

// Two rounds: "my input is there, my output is free", then "I have read yours, yours is complete". In between bytes go
// straight from inputs to outputs; terms come in tiles that stay in the cache until they are folded. Terms of other
// hosts wait in the mailbox, which takes a round more.
struct Direct {
  static Index rounds(const Job& job);
  static Index mailbox(const Job& job, RankId rank);
  static Index staging(const Job& job, RankId rank);
  static void write(const Job& job, RankId me, Index half, Draft& draft);
};

// For several hosts: what several ranks of one need crosses the wire once. Every rank has a partner on each other host,
// which takes what it sends there and hands it on to its neighbours, who read it; broadcasts go from host to host in a
// binomial tree. Terms are folded by host first, in a type that rounds nothing, then in the order of hosts. Rows of an
// all_to_all are needed by one rank each: there a host bundles all that it has for another into one message.
struct TwoLevel {
  static bool can_do(const Job& job);
  static Index rounds(const Job& job);
  static Index mailbox(const Job& job, RankId rank);
  static Index staging(const Job& job, RankId rank);
  static void write(const Job& job, RankId me, Index half, Draft& draft);
};

}  // namespace reshard::collective
