#include "fabric/host/host_endpoint.h"

#include <new>

#include "base/checked.h"
#include "base/fail.h"
#include "fabric/host/row_copy.h"

namespace reshard::fabric {

HostEndpoint::HostEndpoint(WorldState& world, RankId rank, WindowStore& store, CopyKernel copy, Watch* watch)
    : world_(world),
      rank_(rank),
      store_(store),
      copy_(copy ? copy : copy_rows),
      watch_(watch),
      agreement_(world, rank, watch) {}

template <class Element>
int HostEndpoint::create(Table<Element>& table, Collective call, std::string_view name, Index size,
                         Clock::time_point deadline) {
  const int id = static_cast<int>(table.size());
  std::byte* memory = nullptr;
  Index bytes = 0;
  std::string failure;
  try {
    if (size < 0) fail(Code::invalid_argument, "size {} is negative", size);
    bytes = checked_mul(size, static_cast<Index>(sizeof(Element)), "bytes of a window or signal");
    memory = store_.allocate(bytes);
  } catch (const Error& error) {
    failure = error.what();  // told to all ranks, which throw it together
  }
  auto entry = std::make_unique<Symmetric<Element>>();
  try {
    const auto offers = agreement_.agree({call, id, name, size, store_.place_of(memory), failure}, deadline);
    for (std::size_t r = 0; r < offers.size(); ++r) {
      const RankId rank(static_cast<Index>(r));
      std::byte* const base = rank == rank_ ? memory : store_.find(rank, offers[r]->place);
      entry->base.push_back(reinterpret_cast<Element*>(base));
      entry->size.push_back(offers[r]->size);
    }
  } catch (...) {
    store_.release(memory, bytes);  // no peer has used it: none got its address
    throw;
  }
  entry->name = name;
  table.push_back(std::move(entry));
  return id;
}

template <class Element>
void HostEndpoint::destroy(Table<Element>& table, Collective call, int id, Clock::time_point deadline) {
  std::unique_ptr<Symmetric<Element>>& entry = table[static_cast<std::size_t>(id)];
  agreement_.agree({.call = call, .id = id, .name = entry->name}, deadline);
  const auto here = static_cast<std::size_t>(rank_.value());
  store_.release(reinterpret_cast<std::byte*>(entry->base[here]),
                 entry->size[here] * static_cast<Index>(sizeof(Element)));
  entry.reset();
}

WindowId HostEndpoint::create_window(std::string_view name, Index bytes, Clock::time_point deadline) {
  return {create(windows_, Collective::create_window, name, bytes, deadline)};
}

SignalId HostEndpoint::create_signal(std::string_view name, Index slots, Clock::time_point deadline) {
  return {create(signals_, Collective::create_signal, name, slots, deadline)};
}

WindowId HostEndpoint::expose_window(std::string_view name, std::span<std::byte>, Exposure, Clock::time_point) {
  fail(Code::unsupported, "rank {}: window \"{}\": this fabric cannot make a window of memory that exists",
       this->name(rank_), name);
}

void HostEndpoint::destroy_window(WindowId window, Clock::time_point deadline) {
  window_of(window);
  destroy(windows_, Collective::destroy_window, window.value, deadline);
}

void HostEndpoint::destroy_signal(SignalId signal, Clock::time_point deadline) {
  signal_of(signal);
  destroy(signals_, Collective::destroy_signal, signal.value, deadline);
}

std::span<std::byte> HostEndpoint::memory(WindowId window) {
  const Window& w = window_of(window);
  const auto here = static_cast<std::size_t>(rank_.value());
  return {w.base[here], static_cast<std::size_t>(w.size[here])};
}

Index HostEndpoint::window_bytes(WindowId window, RankId rank) const {
  check_peer(rank);
  return window_of(window).size[static_cast<std::size_t>(rank.value())];
}

void HostEndpoint::get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("get", peer, w, copy, source_range(copy), target_range(copy), target.size());
  if (source_range(copy).is_empty) return;
  copy_(target.data(), w.base[static_cast<std::size_t>(peer.value())], copy);
}

void HostEndpoint::put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("put", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  copy_(w.base[static_cast<std::size_t>(peer.value())], source.data(), copy);
}

void HostEndpoint::accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                              CopyKernel combine, Clock::time_point deadline) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("accumulate", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  Gate& gate = world_.rank(peer).accumulating;
  if (!gate.enter([&] { return world_.lost() >= 0; }, deadline, world_.spins(), watch_)) {
    const auto what = fmt::format("rank {}: accumulate into window \"{}\" of rank {}, where others are at it",
                                  name(rank_), w.name, name(peer));
    if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
    fail(Code::timeout, "{}: deadline passed", what);
  }
  combine(w.base[static_cast<std::size_t>(peer.value())], source.data(), copy);
  gate.leave();
}

void HostEndpoint::notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) {
  check_peer(peer);
  std::atomic<std::uint64_t>& counter = cell(signal_of(signal), peer, slot).value;
  // seq_cst: releases the puts before it, and is ordered with the look at the peer's sleepers after it.
  // Both pair with the load in wait().
  if (update == Update::set) {
    counter.store(value, std::memory_order_seq_cst);
  } else {
    counter.fetch_add(value, std::memory_order_seq_cst);
  }
  world_.rank(peer).bell.ring_sleepers();
}

void HostEndpoint::wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) {
  const Signal& s = signal_of(signal);
  const std::atomic<std::uint64_t>& counter = cell(s, rank_, slot).value;
  std::uint64_t seen = 0;
  const auto satisfied = [&] {
    seen = counter.load(std::memory_order_seq_cst);  // acquires; pairs with the updates in notify()
    return until == Until::equal ? seen == value : seen >= value;
  };
  bool is_satisfied = false;
  const auto ready = [&] { return (is_satisfied = satisfied()) || world_.lost() >= 0; };
  world_.rank(rank_).bell.wait(ready, deadline, world_.spins(), watch_);
  if (!is_satisfied && !satisfied()) wait_failed(s, slot, value, until, seen);
}

std::uint64_t HostEndpoint::peek(SignalId signal, Index slot) const {
  return cell(signal_of(signal), rank_, slot).value.load(std::memory_order_acquire);  // pairs with notify()
}

void HostEndpoint::check_peers() const {
  if (watch_ != nullptr) watch_->look();
  if (world_.lost() >= 0) fail(Code::peer_lost, "rank {}: lost {}", name(rank_), world_.describe_lost());
}

const HostEndpoint::Window& HostEndpoint::window_of(WindowId id) const {
  if (id.value >= 0 && static_cast<std::size_t>(id.value) < windows_.size()) {
    if (const auto& window = windows_[static_cast<std::size_t>(id.value)]) return *window;
  }
  fail(Code::invalid_argument, "rank {}: window id {} is unknown: never created, or destroyed", name(rank_), id.value);
}

const HostEndpoint::Signal& HostEndpoint::signal_of(SignalId id) const {
  if (id.value >= 0 && static_cast<std::size_t>(id.value) < signals_.size()) {
    if (const auto& signal = signals_[static_cast<std::size_t>(id.value)]) return *signal;
  }
  fail(Code::invalid_argument, "rank {}: signal id {} is unknown: never created, or destroyed", name(rank_), id.value);
}

SignalCell& HostEndpoint::cell(const Signal& signal, RankId rank, Index slot) const {
  const auto r = static_cast<std::size_t>(rank.value());
  if (slot >= 0 && slot < signal.size[r]) return signal.base[r][slot];
  fail(Code::invalid_argument, "rank {}: signal \"{}\" of rank {} has {} slots, no slot {}", name(rank_), signal.name,
       name(rank), signal.size[r], slot);
}

void HostEndpoint::check_peer(RankId peer) const {
  if (peer.value() >= 0 && peer.value() < world_.ranks()) return;
  fail(Code::invalid_argument, "rank {}: peer {} is not one of the world's {} ranks", name(rank_), peer.value(),
       world_.ranks());
}

void HostEndpoint::check_copy(std::string_view call, RankId peer, const Window& window, const StridedCopy& copy,
                              ByteRange in_window, ByteRange in_local, std::size_t local_bytes) const {
  if (!is_well_formed(copy)) {
    fail(Code::invalid_argument, "rank {}: {} with window \"{}\" of rank {}: a count or row length is negative",
         name(rank_), call, window.name, name(peer));
  }
  const Index bytes = window.size[static_cast<std::size_t>(peer.value())];
  if (!in_window.within(bytes)) {
    fail(Code::invalid_argument,
         "rank {}: {} at offset {}, length {}, reaches outside window \"{}\" of rank {}, which has {} bytes",
         name(rank_), call, in_window.begin, in_window.end - in_window.begin, window.name, name(peer), bytes);
  }
  if (!in_local.within(static_cast<Index>(local_bytes))) {
    fail(
        Code::invalid_argument,
        "rank {}: {} with window \"{}\" of rank {}: offset {}, length {}, reaches outside the local memory of {} bytes",
        name(rank_), call, window.name, name(peer), in_local.begin, in_local.end - in_local.begin, local_bytes);
  }
}

void HostEndpoint::wait_failed(const Signal& signal, Index slot, std::uint64_t value, Until until,
                               std::uint64_t seen) const {
  const auto what = fmt::format("rank {}: wait on signal \"{}\" slot {} for {} {}, seen {}", name(rank_), signal.name,
                                slot, until == Until::equal ? "==" : ">=", value, seen);
  if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
  fail(Code::timeout, "{}: deadline passed", what);
}

}  // namespace reshard::fabric
