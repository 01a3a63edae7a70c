// A world: ranks that hold tensors together and move them between layouts.
//
//   thread_ranks(4, [&](World& world) {
//     Tensor a = world.allocate(layout("f32[8,8] on (r=4) {0: r}"));
//     stamp(a);
//     Tensor b = redistribute(world, a, layout("f32[8,8] on (y=2, x=2) {0: y, 1: x}"));
//     expect_stamped(b);
//   });
//
// Collective calls (construction, allocate, redistribute, barrier) are made by every rank of the world, in the same
// order, with equal arguments. Before anything is done the ranks compare what they are about to do; if they disagree,
// all throw the same Error(invalid_argument) that quotes the first two that do, and the world can go on. After a
// timeout or a lost peer the world cannot go on, and every later call says so.
//
// Thread rule: confined to its rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "reshard/executor.h"
#include "reshard/fabric.h"
#include "reshard/layout.h"
#include "reshard/plan.h"
#include "reshard/tensor.h"
#include "reshard/topology.h"

namespace reshard {

struct WorldOptions {
  // Of every collective call.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  // Decides how replicas are forwarded; the same on every rank. Without it, ranks of one host share memory and hosts
  // are joined by one network, as the fabric says.
  std::optional<Topology> topology = {};
};

class World {
 public:
  // Collective.
  explicit World(Endpoint& endpoint, WorldOptions options = {});
  ~World();

  RankId rank() const;
  Index ranks() const;
  Endpoint& endpoint();
  std::chrono::milliseconds timeout() const;
  // The same on every rank, or the one with the least gives up first.
  void set_timeout(std::chrono::milliseconds timeout);

  // Collective. Zeroed. Throws Error(invalid_argument) when the mesh names a rank that the world does not have.
  Tensor allocate(const Layout& layout, std::string name = "tensor");
  // Collective. A tensor over memory of the caller that is there already: at least layout.local_bytes(rank) bytes,
  // which keep what they hold, and must stay until the tensor is gone on all ranks and one more collective call has
  // been made, or the world has ended. See Exposure for the two ways. Throws Error(invalid_argument) on all ranks when
  // the memory of one is too short, or not aligned to its elements.
  Tensor adopt(const Layout& layout, std::span<std::byte> memory, Exposure how, std::string name = "tensor");
  // Collective. Fills `target` with the elements of `source`; bytes of the target's buffer that belong to no element
  // keep their contents. When it returns the target is complete and the source may be changed. Planned on the first
  // call with these layouts and options, then cached. What several ranks of a far host want crosses to it once. Throws
  // before a byte moves when shapes or dtypes differ, or the two are one tensor. Pending values are reduced as stages()
  // says; a tensor between two stages, and the staging of its terms, are kept with what is cached.
  Traffic move(const Tensor& source, Tensor& target, const PlanOptions& options = {});
  // Collective.
  void barrier();

  // Plans kept for later calls.
  Index cached_programs() const;

 private:
  friend class BatchMove;
  friend class Collective;
  friend class Barrier;
  friend class BoundOp;
  friend class HaloExchange;
  friend class LinearOp;
  friend class ProgramRun;
  // Collective. `act` once all ranks agree on `call` and none has thrown in `prepare`.
  void together(const std::string& call, const std::function<void()>& prepare,
                const std::function<void(Clock::time_point)>& act);
  void check_own(const Tensor& tensor) const;
  // One that takes a source to a target as redistribute_program() does: what its errors begin with, all that it depends
  // on beside the two layouts, and the program of this rank.
  struct OwnProgram {
    std::string name;
    std::string key;
    Index rounds = 1;  // of its signals
    std::function<Program(const RankHosts&)> make;
  };
  // Collective. As move(), by another program than that of a plan; made on the first call, then cached.
  Traffic move_by(const OwnProgram& program, const Tensor& source, Tensor& target);
  const RankHosts& hosts() const;
  // Throws once the world cannot go on, which give_up() makes so.
  void check_whole(const std::string& call) const;
  void give_up(const std::string& why);
  // A counter for each rank, which every program that uses them brings forward by 1 for each of its rounds; and the
  // number that the next `rounds` rounds begin at, which is the same on every rank.
  SignalId turns() const;
  std::uint64_t take_turns(Index rounds);
  struct State;
  std::unique_ptr<State> state_;
};

// Collective. A new tensor with the elements of `source`, laid out as `target`.
Tensor redistribute(World& world, const Tensor& source, const Layout& target, const PlanOptions& options = {});
// Collective. Into an existing tensor; see World::move.
Traffic redistribute(World& world, const Tensor& source, Tensor& target, const PlanOptions& options = {});

// Runs `body` on `ranks` threads of this process and returns when all have ended. If any threw, throws the error of
// the first rank whose error is a cause: not a timeout or a lost peer, which follow from another rank's fault.
void thread_ranks(Index ranks, const std::function<void(World&)>& body, WorldOptions options = {});
// The same on processes made by fork, joined by shared memory. What `body` changes stays in its process. The calling
// process must have no other threads.
void process_ranks(Index ranks, const std::function<void(World&)>& body, WorldOptions options = {});

}  // namespace reshard
