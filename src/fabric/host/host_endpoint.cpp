#include "fabric/host/host_endpoint.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/checked.h"
#include "base/fail.h"
#include "fabric/host/row_copy.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

constexpr Index kStaging = Index{64} << 10;

// Between the target of a copy and a block of its rows, in the order of its loops.
enum class Packing {
  fetch,     // the target into the block
  join,      // the source onto the block
  put_back,  // the block into the target
};

StridedCopy packed(const StridedCopy& copy, std::array<Stride, Strided::kMaxLoops>& loops, Packing how) {
  Index step = copy.row_bytes;
  for (std::size_t i = copy.loops.size(); i-- > 0;) {
    const Stride& loop = copy.loops[i];
    if (how == Packing::fetch) loops[i] = {loop.count, loop.target_bytes, step};
    if (how == Packing::join) loops[i] = {loop.count, loop.source_bytes, step};
    if (how == Packing::put_back) loops[i] = {loop.count, step, loop.target_bytes};
    step *= loop.count;
  }
  return {.source_offset = how == Packing::fetch  ? copy.target_offset
                           : how == Packing::join ? copy.source_offset
                                                  : 0,
          .target_offset = how == Packing::put_back ? copy.target_offset : 0,
          .row_bytes = copy.row_bytes,
          .loops = std::span<const Stride>(loops).first(copy.loops.size())};
}

}  // namespace

HostEndpoint::HostEndpoint(const HostMeans& means)
    : world_(means.world),
      rank_(means.rank),
      store_(means.store),
      copy_(means.copy ? means.copy : copy_rows),
      private_memory_(means.private_memory),
      duties_{means.watch, means.private_memory == nullptr ? nullptr : means.private_memory->service()},
      agreement_(means.world, means.rank, duties_) {}

template <class Element>
HostEndpoint::Part HostEndpoint::allocate(Index size) {
  if (size < 0) fail(Code::invalid_argument, "size {} is negative", size);
  return {store_.allocate(checked_mul(size, static_cast<Index>(sizeof(Element)), "bytes of a window or signal")), size};
}

HostEndpoint::Part HostEndpoint::expose(std::span<std::byte> memory, Exposure how) {
  return {memory.data(), static_cast<Index>(memory.size()), store_.expose(memory, how)};
}

template <class Element>
void HostEndpoint::give_back(const Part& part) {
  if (part.exposed) {
    store_.conceal({part.memory, static_cast<std::size_t>(part.size)}, *part.exposed);
  } else {
    store_.release(part.memory, part.size * static_cast<Index>(sizeof(Element)));
  }
}

template <class Element, class Provide>
int HostEndpoint::create(Table<Symmetric<Element>>& table, Collective call, std::string_view name,
                         const Provide& provide, Clock::time_point deadline) {
  const int id = static_cast<int>(table.size());
  Part mine;
  std::string failure;
  try {
    mine = provide();
  } catch (const Error& error) {
    failure = error.what();  // told to all ranks, which throw it together
  }
  const auto exposed = mine.exposed.value_or(WindowStore::Exposed{.place = store_.place_of(mine.memory)});
  auto entry = std::make_unique<Symmetric<Element>>();
  try {
    const auto offers =
        agreement_.agree({call, id, name, mine.size, exposed.place, exposed.is_private, failure}, deadline);
    for (std::size_t r = 0; r < offers.size(); ++r) {
      const Offer& offer = *offers[r];
      const RankId rank(static_cast<Index>(r));
      const bool is_elsewhere = offer.is_private || offer.size == 0;
      std::byte* const theirs = is_elsewhere ? nullptr : store_.find(rank, offer.place);
      entry->base.push_back(reinterpret_cast<Element*>(rank == rank_ ? mine.memory : theirs));
      entry->size.push_back(offer.size);
      entry->address.push_back(offer.place);
    }
  } catch (...) {
    give_back<Element>(mine);  // no peer has used it: none got its place
    throw;
  }
  entry->name = name;
  entry->exposed = mine.exposed;
  table.push_back(std::move(entry));
  return id;
}

template <class Element>
void HostEndpoint::destroy(Table<Symmetric<Element>>& table, Collective call, int id, Clock::time_point deadline) {
  std::unique_ptr<Symmetric<Element>>& entry = table[static_cast<std::size_t>(id)];
  agreement_.agree({.call = call, .id = id, .name = entry->name}, deadline);
  const auto here = static_cast<std::size_t>(rank_.value());
  give_back<Element>({reinterpret_cast<std::byte*>(entry->base[here]), entry->size[here], entry->exposed});
  entry.reset();
}

WindowId HostEndpoint::create_window(std::string_view name, Index bytes, Clock::time_point deadline) {
  return {create(
      windows_, Collective::create_window, name, [&] { return allocate<std::byte>(bytes); }, deadline)};
}

SignalId HostEndpoint::create_signal(std::string_view name, Index slots, Clock::time_point deadline) {
  return {create(
      signals_, Collective::create_signal, name, [&] { return allocate<SignalCell>(slots); }, deadline)};
}

WindowId HostEndpoint::expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                                     Clock::time_point deadline) {
  const auto call = how == Exposure::shared ? Collective::expose_shared : Collective::expose_in_place;
  // Peers may come with the first transfer before this rank has seen that all have agreed.
  const WindowId id{static_cast<int>(windows_.size())};
  if (private_memory_ != nullptr) {
    private_memory_->expose(id, memory);
    staging_.resize(static_cast<std::size_t>(kStaging));
  }
  try {
    create(
        windows_, call, name, [&] { return expose(memory, how); }, deadline);
  } catch (...) {
    if (private_memory_ != nullptr) private_memory_->conceal(id);
    throw;
  }
  return id;
}

void HostEndpoint::destroy_window(WindowId window, Clock::time_point deadline) {
  const bool is_exposed = window_of(window).exposed.has_value();
  destroy(windows_, Collective::destroy_window, window.value, deadline);
  if (is_exposed && private_memory_ != nullptr) private_memory_->conceal(window);
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

std::byte* HostEndpoint::peer_memory(WindowId window, RankId peer) {
  check_peer(peer);
  const Window& w = window_of(window);
  return is_private(w, peer) ? nullptr : w.base[static_cast<std::size_t>(peer.value())];
}

void HostEndpoint::get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("get", peer, w, copy, source_range(copy), target_range(copy), target.size());
  if (source_range(copy).is_empty) return;
  if (is_private(w, peer)) return private_memory_->get(private_part(peer, window), copy, target.data());
  copy_(target.data(), w.base[static_cast<std::size_t>(peer.value())], copy);
}

void HostEndpoint::put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("put", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  if (is_private(w, peer)) return private_memory_->put(private_part(peer, window), copy, source.data());
  copy_(w.base[static_cast<std::size_t>(peer.value())], source.data(), copy);
}

void HostEndpoint::accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                              CopyKernel combine, Clock::time_point deadline) {
  check_peer(peer);
  const Window& w = window_of(window);
  check_copy("accumulate", peer, w, copy, target_range(copy), source_range(copy), source.size());
  if (source_range(copy).is_empty) return;
  Gate& gate = world_.rank(peer).accumulating;
  if (!gate.enter([&] { return world_.lost() >= 0; }, deadline, world_.spins(), duties_)) {
    const auto what = fmt::format("rank {}: accumulate into window \"{}\" of rank {}, where others are at it",
                                  name(rank_), w.name, name(peer));
    if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
    fail(Code::timeout, "{}: deadline passed", what);
  }
  const Gate::Leave leave(gate);
  if (is_private(w, peer)) return accumulate_privately(peer, window, copy, source.data(), combine);
  combine(w.base[static_cast<std::size_t>(peer.value())], source.data(), copy);
}

void HostEndpoint::accumulate_privately(RankId peer, WindowId window, const StridedCopy& copy, const std::byte* source,
                                        CopyKernel combine) {
  const PrivatePart part = private_part(peer, window);
  in_pieces(copy, kStaging, Strided::kMaxLoops, [&](const StridedCopy& piece) {
    std::array<Stride, Strided::kMaxLoops> fetch, join, back;
    private_memory_->get(part, packed(piece, fetch, Packing::fetch), staging_.data());
    combine(staging_.data(), source, packed(piece, join, Packing::join));
    private_memory_->put(part, packed(piece, back, Packing::put_back), staging_.data());
  });
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
  world_.rank(rank_).bell.wait(ready, deadline, world_.spins(), duties_);
  if (!is_satisfied && !satisfied()) wait_failed(s, slot, value, until, seen);
}

std::uint64_t HostEndpoint::peek(SignalId signal, Index slot) const {
  return cell(signal_of(signal), rank_, slot).value.load(std::memory_order_acquire);  // pairs with notify()
}

void HostEndpoint::check_peers() const {
  if (duties_.watch != nullptr) duties_.watch->look();
  if (world_.lost() >= 0) fail(Code::peer_lost, "rank {}: lost {}", name(rank_), world_.describe_lost());
}

void HostEndpoint::leave(Clock::time_point deadline) {
  const auto is_reached_here = [](const auto& window) {
    return window != nullptr && window->exposed && window->exposed->is_private;
  };
  const bool shall_stay = duties_.service != nullptr || std::ranges::any_of(windows_, is_reached_here);
  world_.leave(rank_, shall_stay, duties_, deadline);
}

PrivatePart HostEndpoint::private_part(RankId peer, WindowId window) const {
  return {peer, window, window_of(window).address[static_cast<std::size_t>(peer.value())]};
}

const HostEndpoint::Window& HostEndpoint::window_of(WindowId id) const {
  return entry_of(windows_, id.value, "window", name(rank_));
}

const HostEndpoint::Signal& HostEndpoint::signal_of(SignalId id) const {
  return entry_of(signals_, id.value, "signal", name(rank_));
}

SignalCell& HostEndpoint::cell(const Signal& signal, RankId rank, Index slot) const {
  const auto r = static_cast<std::size_t>(rank.value());
  check_slot(name(rank_), signal.name, name(rank), signal.size[r], slot);
  return signal.base[r][slot];
}

void HostEndpoint::check_peer(RankId peer) const { fabric::check_peer(name(rank_), peer, world_.ranks()); }

void HostEndpoint::check_copy(std::string_view call, RankId peer, const Window& window, const StridedCopy& copy,
                              ByteRange in_window, ByteRange in_local, std::size_t local_bytes) const {
  const WindowEnd end{window.name, name(peer), window.size[static_cast<std::size_t>(peer.value())]};
  check_transfer(name(rank_), call, end, copy, in_window, in_local, local_bytes);
}

void HostEndpoint::wait_failed(const Signal& signal, Index slot, std::uint64_t value, Until until,
                               std::uint64_t seen) const {
  const auto what = fmt::format("rank {}: wait on signal \"{}\" slot {} for {} {}, seen {}", name(rank_), signal.name,
                                slot, until == Until::equal ? "==" : ">=", value, seen);
  if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
  fail(Code::timeout, "{}: deadline passed", what);
}

}  // namespace reshard::fabric
