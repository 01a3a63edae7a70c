// A program: per rank, an ordered list of operations on windows and signals. What an executor runs.
//
// Windows and signals are named by number; each exists on every rank (a window may have another size, or none, on
// each). Operations move n-dimensional strided blocks in bytes, so a program needs no layout to run.
//
// Ordering: what a rank `put`s to a peer is visible there before a `notify` to the same peer that follows a `fence`;
// nothing else is promised. `notify` releases, `wait` acquires.
//
// Thread rule: immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reshard/index.h"
#include "reshard/plan.h"

namespace reshard {

// One loop of a strided copy, in bytes. Nested: the first is the slowest.
struct Loop {
  Index count = 0;
  Index source_stride = 0;
  Index target_stride = 0;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Copies prod(counts) rows of `row_bytes` contiguous bytes each, from source_offset on to target_offset on.
struct Block {
  Index source_offset = 0;
  Index target_offset = 0;
  Index row_bytes = 0;
  std::vector<Loop> loops = {};
  Index bytes() const;
  friend bool operator==(const Block&, const Block&) = default;
};

// One end of a reduction: a place in a window of the rank that runs it, and one stride per loop, in bytes.
struct Operand {
  int window = 0;
  Index offset = 0;
  std::vector<Index> strides = {};
  friend bool operator==(const Operand&, const Operand&) = default;
};

// For prod(counts) elements: result = terms[0] op terms[1] op .., in that order. The first loop is the slowest.
struct Reduction {
  std::vector<Index> counts = {};
  Operand result = {};
  std::vector<Operand> terms = {};
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

// reduce folds terms that lie on the rank itself; fill writes the identity of an op, or a number, to the target ends of
// its blocks; cast is a reduction of one term of another dtype; deferred stands for operations that follow from what
// memory holds once it is reached.
enum class OpCode { copy, put, get, notify, wait, fence, reduce, fill, cast, deferred };
enum class NotifyOp { set, add };
enum class WaitCompare { equal, greater_equal };

// One integer of the memory of the rank that runs, as it is at that moment.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  virtual Index integer(int window, Index offset, Dtype dtype) = 0;
};

struct Operation;

// Operations known only once memory is read. Immutable; shared between copies of a program.
class Deferred {
 public:
  virtual ~Deferred() = default;
  // Appends what to do, which may hold deferred operations again. Throws Error(invalid_argument) where the program
  // requires what does not hold: the call then fails on this rank.
  virtual void expand(MemoryReader& memory, std::vector<Operation>& operations) const = 0;
};

struct Operation {
  OpCode code = OpCode::fence;
  RankId peer = {};  // put, get: the other end; notify: whose signal
  // copy, put, get: windows at the source and at the target end.
  int source_window = 0;
  int target_window = 0;
  std::vector<Block> blocks = {};
  // notify, wait. `per_run` is added to `value` once for every run before this one: run k (from 0) uses
  // value + k * per_run, so that signals only ever grow.
  int signal = 0;
  Index slot = 0;
  std::uint64_t value = 0;
  std::uint64_t per_run = 0;
  NotifyOp notify_op = NotifyOp::set;
  WaitCompare compare = WaitCompare::greater_equal;
  // reduce, fill. avg is the sum divided by `divisor`. Unless the dtype is folded in a wider type (plan.h, partial
  // layouts), every step rounds.
  ReduceOp reduce_op = ReduceOp::sum;
  Dtype dtype = Dtype::f32;
  Index divisor = 1;
  std::vector<Reduction> reductions = {};
  // put: the target becomes target reduce_op source, element by element of `dtype`, atomically against other such puts.
  bool accumulate = false;
  // fill: this number instead of an identity.
  std::optional<Index> number = {};
  // cast: of the term; `dtype` is of the result.
  Dtype source_dtype = Dtype::f32;
  // deferred.
  std::shared_ptr<const Deferred> deferred = {};
  // As its author wrote it, with numbers in place of names: "put data@1[0] <- x[1]". Empty in programs of plans.
  std::string label = {};
  friend bool operator==(const Operation&, const Operation&) = default;
};

// Peers reach windows only. Inputs are given by the caller, anew for every call, and never written; outputs are the
// caller's as well; local memory belongs to the program and is not kept between calls.
enum class BufferRole { window, input, output, local };

// How the users of a signal take turns, and what its slots hold between calls (docs/design/programs.md):
//   epoch      counters only grow, each call by the same number
//   credits-2  two rounds, ready and done; back to where they started when the call ends
//   credits-1  one round; the same, but the data window is not free yet
//   parity     one round that only grows, over two windows used in turn
enum class Protocol { epoch, credits_2, credits_1, parity };

struct WindowSpec {
  std::string name;
  std::vector<Index> bytes;  // per rank of the world
  BufferRole role = BufferRole::window;
  Dtype dtype = Dtype::u8;                      // for printing
  std::vector<std::vector<Index>> shapes = {};  // per rank, for printing; empty: bytes
  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

struct SignalSpec {
  std::string name;
  Index slots = 0;
  int bits = 64;                          // a counter wraps there
  std::optional<Protocol> protocol = {};  // what its slots must hold between calls; none: nothing is promised
  std::vector<std::vector<std::uint64_t>> starts = {};  // per rank and slot, before the first call; empty: 0
  bool is_by_rank = false;  // slot r of every rank is notified by rank r alone: for errors, which then name it
  friend bool operator==(const SignalSpec&, const SignalSpec&) = default;
};

struct Program {
  std::string name;
  Index ranks = 0;  // of the world
  std::vector<WindowSpec> windows = {};
  std::vector<SignalSpec> signals = {};
  std::vector<std::vector<Operation>> operations = {};  // per rank
  // One operation a line, per rank. Stable.
  std::string text() const;
  friend bool operator==(const Program&, const Program&) = default;
};

// The blocks that carry `transfer` from a buffer stored as `source` to one stored as `target`. Regular runs of spans
// become loops, contiguous dimensions become one row.
std::vector<Block> blocks_of(const Transfer& transfer, Index element_bytes, const LocalStorage& source,
                             const LocalStorage& target);

// Which ranks share memory, for programs of plans: there the one who needs bytes fetches them, which is one copy and no
// work for the other. Between hosts, where a read costs a request and an answer, the owner sends them.
class RankHosts {
 public:
  // Nothing is known: bytes are fetched.
  RankHosts() = default;
  // Number of the host of each rank.
  explicit RankHosts(std::vector<Index> host_of) : host_of_(std::move(host_of)) {}
  bool are_together(RankId a, RankId b) const { return !host_of_.empty() && of(a) == of(b); }
  bool are_apart(RankId a, RankId b) const { return !host_of_.empty() && of(a) != of(b); }

 private:
  Index of(RankId rank) const { return host_of_[static_cast<std::size_t>(rank.value())]; }
  std::vector<Index> host_of_;
};

// A plan as a program of one-sided reads. Windows: 0 = "source", 1 = "target"; signals: 0 = "ready", 1 = "done", one
// slot per rank. Each rank tells its readers that its source may be read, reads what it needs straight into the target
// window (one copy, no staging), tells the owners it is done, and waits until all its readers are done: when a run
// returns, the rank's target is complete and its source may be overwritten. Between ranks that are apart it is the
// reader that tells the owner that its target may be written, and the owner that puts, and says when it is done. Cost:
// each rank runs one get per sending peer, or a put per peer it sends to, and two notifications and two waits per peer
// pair. A plan that reduces has a third window, 2 = "staging", of at most PlanOptions::staging_limit bytes a rank, in
// which terms wait to be folded; it belongs to the rank alone and may serve any program next. Where the terms of a part
// do not fit together they come piece by piece, one get and one reduce each; the rank's own term is read where it is.
// Terms to be reduced are always fetched.
Program redistribute_program(const Plan& plan, Index world_ranks, const RankHosts& hosts = {});
// Only the operations of `rank`, made without the whole plan; operations of other ranks are empty.
Program redistribute_program(const Layout& source, const Layout& target, RankId rank, Index world_ranks,
                             const PlanOptions& = {}, const RankHosts& hosts = {});

}  // namespace reshard
