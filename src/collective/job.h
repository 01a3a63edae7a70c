// What one collective operation is to do, on every rank: pure values, from which programs are written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reshard/dtype.h"
#include "reshard/index.h"
#include "reshard/reduce_op.h"
#include "reshard/tuning.h"

namespace reshard::collective {

// The windows of every program, by number.
inline constexpr int kInput = 0;
inline constexpr int kOutput = 1;
inline constexpr int kMailbox = 2;  // of the operation: where peers put what its rank has not asked for yet
inline constexpr int kStaging = 3;  // of the operation, and of this rank alone: where terms wait to be folded
inline constexpr int kWindows = 4;

// What one rank sends to another: from its input to the output there. In bytes.
struct Flow {
  Index source_offset = 0;
  Index target_offset = 0;
  Index bytes = 0;
};

// Terms of all ranks become one value each. The elements of the input are cut into a part for each rank, in the order
// of ranks, which folds it; where `everywhere`, all ranks get all parts, else each its own.
struct Folding {
  Dtype dtype = Dtype::f32;
  ReduceOp op = ReduceOp::sum;
  std::vector<Index> parts = {};  // elements, per rank
  bool everywhere = false;
};

struct Job {
  CollectiveKind kind = CollectiveKind::all_to_all;
  Index ranks = 1;
  std::vector<Index> host_of = {};  // per rank
  bool pulls = true;                // ranks of one host read each other's windows; else they put, as hosts do
  bool in_place = false;            // input and output are one window
  std::vector<Index> input_bytes = {}, output_bytes = {};  // per rank
  // One of the two.
  std::function<Flow(RankId from, RankId to)> flow = {};
  std::optional<Folding> folding = {};

  // By which of them bytes go from one rank to another.
  bool is_pulled(RankId from, RankId to) const { return pulls && host(from) == host(to); }
  Index host(RankId rank) const { return host_of[static_cast<std::size_t>(rank.value())]; }
  Index hosts() const;
  // That the table of algorithms goes by: what a rank has or gets, whichever is more, as the mean over ranks.
  Index bytes_per_rank() const;
  // Of the part that a rank folds, in elements and from the beginning of the input.
  Index part_begin(RankId rank) const;
  Index part(RankId rank) const { return folding->parts[static_cast<std::size_t>(rank.value())]; }
};

// All ranks but `me`, from the next one on and around: no two ranks begin with the same.
std::vector<RankId> peers_of(RankId me, Index ranks);

}  // namespace reshard::collective
