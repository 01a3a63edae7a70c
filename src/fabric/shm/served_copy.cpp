#include "fabric/shm/served_copy.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

constexpr std::chrono::minutes kServicePatience{2};  // of calls that have no deadline

RankId owner_of(std::uint64_t asked) { return RankId(static_cast<Index>(asked & 0xffff)); }

}  // namespace

ServedCopy::ServedCopy(WorldState& world, RankId here, Arena& arena, Index offset, Watch* watch)
    : world_(world), here_(here), duties_{watch, this}, serving_(static_cast<std::size_t>(world.ranks())) {
  for (Index r = 0; r < world.ranks(); ++r) {
    channels_.push_back(reinterpret_cast<Channel*>(arena.file(RankId(r)).base() + offset));
  }
}

void ServedCopy::expose(WindowId window, std::span<std::byte> memory) {
  const auto id = static_cast<std::size_t>(window.value);
  if (exposed_.size() <= id) exposed_.resize(id + 1);
  exposed_[id] = memory;
}

// What an asker has given up is not gone on with either.
void ServedCopy::conceal(WindowId window) {
  exposed_[static_cast<std::size_t>(window.value)] = {};
  for (std::size_t r = 0; r < serving_.size(); ++r) {
    if (serving_[r].is_open && serving_[r].window == window.value) answer(RankId(static_cast<Index>(r)), true);
  }
}

// --- at the owner

void ServedCopy::serve() {
  // Pairs with the fetch_add in ask().
  if (world_.rank(here_).requests.load(std::memory_order_seq_cst) != requests_seen_) look_for_requests();
  for (Index r = 0; open_count_ > 0 && r < world_.ranks(); ++r) {
    if (serving_[static_cast<std::size_t>(r)].is_open) go_on(RankId(r));
  }
}

void ServedCopy::look_for_requests() {
  requests_seen_ = world_.rank(here_).requests.load(std::memory_order_seq_cst);  // pairs with the fetch_add in ask()
  for (Index r = 0; r < world_.ranks(); ++r) {
    Serving& serving = serving_[static_cast<std::size_t>(r)];
    const std::uint64_t asked = channel(RankId(r)).asked.load(std::memory_order_acquire);  // pairs with ask()
    if (asked == 0 || asked == serving.asked || owner_of(asked) != here_) continue;
    serving.asked = asked;
    begin(channel(RankId(r)), serving);
    if (!serving.is_open) answer(RankId(r), true);
  }
}

void ServedCopy::begin(Channel& channel, Serving& serving) {
  const Channel::Request& request = channel.request;
  const auto window = static_cast<std::size_t>(request.window);
  if (window >= exposed_.size() || exposed_[window].data() == nullptr) return;
  std::copy(request.loops.begin(), request.loops.end(), serving.loops.begin());
  serving.walk = StridedWalk({.base = exposed_[window].data() + request.offset,
                              .row_bytes = request.row_bytes,
                              .loops = std::span(serving.loops).first(request.loop_count)});
  serving.is_put = request.is_put;
  serving.window = request.window;
  serving.is_open = true;
  ++open_count_;
}

void ServedCopy::go_on(RankId asker) {
  Channel& channel = this->channel(asker);
  Serving& serving = serving_[static_cast<std::size_t>(asker.value())];
  // Own counter; the other's acquires, and pairs with its store in transfer().
  auto& done = serving.is_put ? channel.drained : channel.filled;
  const std::uint64_t before = done.load(std::memory_order_relaxed);
  std::uint64_t count = before;
  const std::uint64_t end = serving.is_put ? channel.filled.load(std::memory_order_acquire)
                                           : channel.drained.load(std::memory_order_acquire) + Channel::kChunks;
  for (; count < end && serving.walk.left() > 0; ++count) {
    std::byte* const chunk = channel.chunks[count % Channel::kChunks].data();
    const Index bytes = std::min(Channel::kChunkBytes, serving.walk.left());
    if (serving.is_put) {
      serving.walk.scatter(chunk, bytes);
    } else {
      serving.walk.gather(chunk, bytes);
    }
    done.store(count + 1, std::memory_order_seq_cst);  // pairs with the load in transfer()
    world_.rank(asker).bell.ring_sleepers();
  }
  if (serving.walk.left() == 0) answer(asker, false);
}

void ServedCopy::answer(RankId asker, bool is_refused) {
  Serving& serving = serving_[static_cast<std::size_t>(asker.value())];
  if (serving.is_open) --open_count_;
  serving.is_open = false;
  Channel& channel = this->channel(asker);
  channel.is_refused.store(is_refused, std::memory_order_relaxed);
  channel.answered.store(serving.asked, std::memory_order_seq_cst);  // pairs with the load in transfer()
  world_.rank(asker).bell.ring_sleepers();
}

// --- at the asker

void ServedCopy::get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) {
  in_pieces(copy, std::numeric_limits<Index>::max(), Strided::kMaxLoops, [&](const StridedCopy& piece) {
    StridedLoops here, there;
    transfer(from, false, strided_end(piece, End::source, nullptr, there),
             strided_end(piece, End::target, target, here));
  });
}

void ServedCopy::put(const PrivatePart& to, const StridedCopy& copy, const std::byte* source) {
  in_pieces(copy, std::numeric_limits<Index>::max(), Strided::kMaxLoops, [&](const StridedCopy& piece) {
    StridedLoops here, there;
    transfer(to, true, strided_end(piece, End::target, nullptr, there),
             strided_end(piece, End::source, const_cast<std::byte*>(source), here));
  });
}

void ServedCopy::transfer(const PrivatePart& part, bool is_put, const Strided& there, const Strided& here) {
  const auto deadline = Clock::now() + kServicePatience;
  Channel& mine = channel(here_);
  ask(part, is_put, there);
  auto& done = is_put ? mine.filled : mine.drained;
  StridedWalk walk(here);
  std::uint64_t count = done.load(std::memory_order_relaxed);
  const auto is_answered = [&] { return mine.answered.load(std::memory_order_seq_cst) == asked_; };
  const auto end = [&] {  // acquires; pairs with the stores in go_on()
    return is_put ? mine.drained.load(std::memory_order_seq_cst) + Channel::kChunks
                  : mine.filled.load(std::memory_order_seq_cst);
  };
  while (walk.left() > 0) {
    wait(
        part, [&] { return count < end() || is_answered(); }, deadline);
    if (count >= end()) break;  // refused
    std::byte* const chunk = mine.chunks[count % Channel::kChunks].data();
    const Index bytes = std::min(Channel::kChunkBytes, walk.left());
    if (is_put) {
      walk.gather(chunk, bytes);
    } else {
      walk.scatter(chunk, bytes);
    }
    done.store(++count, std::memory_order_seq_cst);  // pairs with the load in go_on()
    world_.call(part.owner);
  }
  wait(part, is_answered, deadline);
  if (!mine.is_refused.load(std::memory_order_relaxed)) return;
  is_broken_ = true;
  fail(Code::io, "rank {}: rank {} no longer has window id {}, exposed in place", world_.name(here_),
       world_.name(part.owner), part.window.value);
}

void ServedCopy::ask(const PrivatePart& part, bool is_put, const Strided& there) {
  if (is_broken_) {
    fail(Code::peer_lost, "rank {}: an earlier transfer with memory exposed in place was given up", world_.name(here_));
  }
  Channel& mine = channel(here_);
  // there.base counts from null: what is told is an offset.
  mine.request = {.window = part.window.value,
                  .is_put = is_put,
                  .offset = static_cast<Index>(reinterpret_cast<std::intptr_t>(there.base)),
                  .row_bytes = there.row_bytes,
                  .loop_count = static_cast<std::uint32_t>(there.loops.size())};
  std::copy(there.loops.begin(), there.loops.end(), mine.request.loops.begin());
  asked_ = (((asked_ >> 16) + 1) << 16) | static_cast<std::uint64_t>(part.owner.value());
  mine.asked.store(asked_, std::memory_order_release);  // pairs with the load in look_for_requests()
  world_.rank(part.owner).requests.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in serve()
  world_.call(part.owner);
}

template <class Ready>
void ServedCopy::wait(const PrivatePart& part, const Ready& ready, Clock::time_point deadline) {
  const auto is_over = [&] { return ready() || world_.lost() >= 0; };
  world_.rank(here_).bell.wait(is_over, deadline, world_.spins(), duties_);
  if (ready()) return;
  is_broken_ = true;
  const auto what = fmt::format("rank {}: transfer with window id {} of rank {}, exposed in place", world_.name(here_),
                                part.window.value, world_.name(part.owner));
  if (world_.lost() >= 0) fail(Code::peer_lost, "{}: lost {}", what, world_.describe_lost());
  fail(Code::timeout, "{}: the owner has not served it in {} s", what, std::chrono::seconds(kServicePatience).count());
}

}  // namespace reshard::fabric
