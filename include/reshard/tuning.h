// Which algorithm a collective operation takes: a table by operation, number of ranks and hosts, and bytes.
//
// The table that ships was measured by `reshard tune`, which makes one for another machine. All ranks of a world must
// use the same; if they do not, the operation is refused when it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

enum class CollectiveKind : std::uint8_t { all_to_all, all_gather, broadcast, reduce_scatter, all_reduce };
std::string_view name_of(CollectiveKind kind);
std::optional<CollectiveKind> collective_named(std::string_view name);

// What they do is in docs/design/collectives.md.
enum class Algorithm : std::uint8_t {
  eager,      // into mailboxes of the peers, and from there: one round, one copy more
  direct,     // straight between inputs and outputs: two rounds
  two_level,  // each byte crosses the wire between two hosts once
};
std::string_view name_of(Algorithm algorithm);
std::optional<Algorithm> algorithm_named(std::string_view name);

struct TuningRow {
  CollectiveKind kind = CollectiveKind::all_to_all;
  Index ranks = 0;
  Index hosts = 1;
  Index most_bytes = 0;  // of input or output per rank, whichever is more; the last row of a group has no end
  Algorithm algorithm = Algorithm::direct;
  friend bool operator==(const TuningRow&, const TuningRow&) = default;
};

// Thread rule: immutable.
class Tuning {
 public:
  // Measured where this was developed.
  static Tuning shipped();
  // The file that RESHARD_TUNING names, or what ships. Throws Error(io) that names the file when it cannot be read.
  static Tuning of_environment();
  // A row a line, "all_reduce 2 1 16384 eager", the last of a group with "more" in place of bytes; `#` begins a
  // comment. Throws Error(invalid_argument) that names the line.
  static Tuning parse(std::string_view text);
  // In any order. Throws Error(invalid_argument) for two rows that say different things of one case.
  explicit Tuning(std::vector<TuningRow> rows);

  // By the group of the greatest number of ranks and hosts that is not greater than these, else of the least.
  // Without rows of the kind for one host, or for several, by rule: direct on one; on several eager for little, direct
  // for one rank on each, two_level else.
  Algorithm choose(CollectiveKind kind, Index ranks, Index hosts, Index bytes) const;
  // Sorted.
  const std::vector<TuningRow>& rows() const { return rows_; }
  // That parse reads.
  std::string text() const;

 private:
  std::vector<TuningRow> rows_;
};

}  // namespace reshard
