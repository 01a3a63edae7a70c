// The endpoint of the host fabrics: peers' windows are memory of this address space, signals are atomics in it. Windows
// over memory that stayed private to another process are the exception: PrivateMemory knows the way there.
//
// get, put, notify and wait allocate nothing, take no lock and look up by index; only a wait that has to sleep, and a
// notify to a sleeper, enter the kernel. accumulate takes turns, at the gate of the target rank.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/host/agreement.h"
#include "fabric/host/private_memory.h"
#include "fabric/host/window_store.h"
#include "fabric/host/world_state.h"
#include "fabric/requests.h"
#include "reshard/fabric.h"

namespace reshard::fabric {

// A line of its own per slot: slots are written by different ranks at the same time. (On two cores packed slots
// measured the same; the lines are for machines with more.)
struct alignas(64) SignalCell {
  std::atomic<std::uint64_t> value{0};
};

// What the endpoint of a rank uses. All outlive it. Its windows stay in `store` when it ends: peers may still read
// them.
struct HostMeans {
  WorldState& world;
  RankId rank;
  WindowStore& store;
  CopyKernel copy = nullptr;                // null: a plain loop over rows
  PrivateMemory* private_memory = nullptr;  // null: the store exposes none
  Watch* watch = nullptr;                   // null: somebody else records the ranks that die
};

class HostEndpoint final : public Endpoint {
 public:
  explicit HostEndpoint(const HostMeans& means);

  RankId rank() const override { return rank_; }
  Index ranks() const override { return world_.ranks(); }
  Capabilities capabilities() const override {
    return {.load_store = true, .needs_service = duties_.service != nullptr};
  }
  Index host_of(RankId) const override { return 0; }

  WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) override;
  SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) override;
  WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                         Clock::time_point deadline) override;
  void destroy_window(WindowId window, Clock::time_point deadline) override;
  void destroy_signal(SignalId signal, Clock::time_point deadline) override;

  std::span<std::byte> memory(WindowId window) override;
  Index window_bytes(WindowId window, RankId rank) const override;
  std::byte* peer_memory(WindowId window, RankId peer) override;

  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override;
  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override;

  void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                  CopyKernel combine, Clock::time_point deadline) override;

  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override;
  void wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) override;
  std::uint64_t peek(SignalId signal, Index slot) const override;
  // Nothing to do: puts are done when they return, and notify releases them.
  void fence() override {}
  void progress() override {
    if (duties_.service != nullptr) duties_.service->serve();
  }
  void barrier(Clock::time_point deadline) override { agreement_.barrier(deadline); }
  void check_peers() const override;

  // Says that this rank asks for nothing more, and returns when no peer needs it: because it serves, or has memory that
  // stayed private. Of ranks that are processes.
  void leave(Clock::time_point deadline);

 private:
  // A window or a signal: where each rank's part lies, and how long it is, in bytes or in slots.
  template <class Element>
  struct Symmetric {
    std::string name;
    std::vector<Element*> base;  // null: it is empty, or private
    std::vector<Index> size;
    std::vector<std::uint64_t> address;                // of private parts, at their owner
    std::optional<WindowStore::Exposed> exposed = {};  // this rank's part is memory of the caller
  };
  // This rank's part of one.
  struct Part {
    std::byte* memory = nullptr;
    Index size = 0;
    std::optional<WindowStore::Exposed> exposed = {};
  };
  using Window = Symmetric<std::byte>;
  using Signal = Symmetric<SignalCell>;
  template <class Element, class Provide>
  int create(Table<Symmetric<Element>>& table, Collective call, std::string_view name, const Provide& provide,
             Clock::time_point deadline);
  template <class Element>
  Part allocate(Index size);
  Part expose(std::span<std::byte> memory, Exposure how);
  template <class Element>
  void give_back(const Part& part);
  template <class Element>
  void destroy(Table<Symmetric<Element>>& table, Collective call, int id, Clock::time_point deadline);

  const Window& window_of(WindowId id) const;
  const Signal& signal_of(SignalId id) const;
  SignalCell& cell(const Signal& signal, RankId rank, Index slot) const;
  Index name(RankId rank) const { return world_.name(rank); }
  void check_peer(RankId peer) const;
  static bool is_private(const Window& window, RankId peer) {
    return window.base[static_cast<std::size_t>(peer.value())] == nullptr;
  }
  PrivatePart private_part(RankId peer, WindowId window) const;
  // By pieces that are fetched, joined here, and put back.
  void accumulate_privately(RankId peer, WindowId window, const StridedCopy& copy, const std::byte* source,
                            CopyKernel combine);
  void check_copy(std::string_view call, RankId peer, const Window& window, const StridedCopy& copy,
                  ByteRange in_window, ByteRange in_local, std::size_t local_bytes) const;
  [[noreturn]] void wait_failed(const Signal& signal, Index slot, std::uint64_t value, Until until,
                                std::uint64_t seen) const;

  WorldState& world_;
  RankId rank_;
  WindowStore& store_;
  CopyKernel copy_;
  PrivateMemory* private_memory_;
  Duties duties_;
  Agreement agreement_;
  Table<Window> windows_;
  Table<Signal> signals_;
  std::vector<std::byte> staging_;  // for accumulate_privately; there once a window is exposed in place
};

}  // namespace reshard::fabric
