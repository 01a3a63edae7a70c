// Collective operations: planned once for a world, run many times.
//
//   thread_ranks(4, [&](World& world) {
//     AllReduce sum(world, 1 << 20, Dtype::f32);
//     for (;;) {
//       fill(sum.input<float>());
//       sum.run();
//       use(sum.output<float>());
//     }
//   });
//
// Making one and running it are collective: every rank of the world does the same, in the same order, with the same
// arguments where nothing else is said. They are compared when an operation is made; if ranks disagree, or one cannot
// do it, all throw the same Error(invalid_argument), and the world can go on. A run compares nothing: ranks that run
// different operations end with a timeout. When run() returns, the output is complete and the input may be changed.
// From its first run on an operation allocates nothing.
//
// Input and output lie in windows, which the operation makes, or which are the caller's: then bytes go straight
// between those of the caller. Sizes may be 0, and differ between ranks where an operation says so; one rank is a
// world too. An operation's own memory goes back once it is gone on every rank.
//
// Reductions fold the terms of all ranks in the order of ranks, 8- and 16-bit floats in f32 with one rounding at the
// end: results do not depend on timing, and are the same on all ranks. Across hosts, where a host folds its own ranks
// first (two_level), they may differ from those of one host in the last bit.
//
// Thread rule: confined to the rank of its world, which must outlive it.
// Errors of run(): Error(timeout) past the world's timeout, Error(peer_lost); the world cannot go on after either.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reshard/dtype.h"
#include "reshard/executor.h"
#include "reshard/reduce_op.h"
#include "reshard/tuning.h"
#include "reshard/world.h"

namespace reshard {

namespace collective {
struct Request;
}

struct CollectiveOptions {
  // Of the caller, instead of windows of the operation: the same window on every rank, with at least the bytes that
  // each needs, which stays for as long as the operation. Tensor::window(), say. AllReduce and Broadcast may have one
  // for both.
  std::optional<WindowId> input = {}, output = {};
  // Instead of Tuning::of_environment().
  const Tuning* tuning = nullptr;
  // Instead of what the table says.
  std::optional<Algorithm> algorithm = {};
};

class Collective {
 public:
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  ~Collective();

  // Collective. Traffic counts what this rank moved: executor.h.
  Traffic run();

  // Of this rank; peers reach both while it runs. They stay where they are.
  std::span<std::byte> input();
  std::span<std::byte> output();
  template <class T>
  std::span<T> input() {
    return elements<T>(input());
  }
  template <class T>
  std::span<T> output() {
    return elements<T>(output());
  }
  Algorithm algorithm() const;

 protected:
  Collective(World& world, const collective::Request& request, const CollectiveOptions& options);

 private:
  template <class T>
  static std::span<T> elements(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  void bind(const Program& program, bool in_place, const CollectiveOptions& options);
  struct State;
  std::unique_ptr<State> state_;
};

// Row s of the output, `bytes_per_peer` long, is row `me` of the input of rank s.
class AllToAll : public Collective {
 public:
  AllToAll(World& world, Index bytes_per_peer, const CollectiveOptions& options = {});
};

// The same with rows of any length, one after the other: `bytes_to` has one number for each rank, and differs between
// ranks.
class AllToAllV : public Collective {
 public:
  AllToAllV(World& world, const std::vector<Index>& bytes_to, const CollectiveOptions& options = {});
  // Where the row to rank `peer` begins in the input, and that from it in the output; of size ranks + 1.
  const std::vector<Index>& input_offsets() const { return input_offsets_; }
  const std::vector<Index>& output_offsets() const { return output_offsets_; }

 private:
  AllToAllV(const std::vector<Index>& lengths, World& world, const CollectiveOptions& options);
  std::vector<Index> input_offsets_, output_offsets_;
};

// Row s of the output, `bytes` long, is the input of rank s.
class AllGather : public Collective {
 public:
  AllGather(World& world, Index bytes, const CollectiveOptions& options = {});
};

// The same with rows of any length, one after the other: `bytes` differs between ranks.
class AllGatherV : public Collective {
 public:
  AllGatherV(World& world, Index bytes, const CollectiveOptions& options = {});
  // Where row s begins; of size ranks + 1.
  const std::vector<Index>& output_offsets() const { return offsets_; }

 private:
  AllGatherV(const std::vector<Index>& lengths, World& world, const CollectiveOptions& options);
  std::vector<Index> offsets_;
};

// The output of every rank is the input of `root`. Has one window for both unless the caller gives them: what the root
// writes to input() is in output() too.
class Broadcast : public Collective {
 public:
  Broadcast(World& world, Index bytes, RankId root, const CollectiveOptions& options = {});
};

// The output is part `me` of the inputs of all ranks, folded element by element.
class ReduceScatter : public Collective {
 public:
  // `elements` in each part.
  ReduceScatter(World& world, Index elements, Dtype dtype, ReduceOp op = ReduceOp::sum,
                const CollectiveOptions& options = {});
  // Parts of any length, the same list on every rank.
  ReduceScatter(World& world, const std::vector<Index>& elements, Dtype dtype, ReduceOp op = ReduceOp::sum,
                const CollectiveOptions& options = {});
};

// The output is the inputs of all ranks, folded element by element.
class AllReduce : public Collective {
 public:
  AllReduce(World& world, Index elements, Dtype dtype, ReduceOp op = ReduceOp::sum,
            const CollectiveOptions& options = {});
};

// Nobody goes on before all have come. Unlike World::barrier, compares nothing.
class Barrier {
 public:
  explicit Barrier(World& world) : world_(&world) {}
  void run();

 private:
  World* world_;
};

}  // namespace reshard
