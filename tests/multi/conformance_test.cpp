// What every fabric must do alike: shapes of every kind, far offsets, memory that exists, hosts, counters at their
// ends.
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <set>

#include "every_fabric.h"
#include "kernel/accumulate.h"
#include "property/random.h"

namespace reshard::multi {
namespace {

class Conformance : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Conformance, {1, 2, 3, 4, 6, 7, 8});

std::byte origin_byte(RankId rank, Index place, Index epoch = 0) {
  return static_cast<std::byte>((place * 7 + rank.value() * 31 + epoch * 101 + place / 256) & 0xff);
}

// A copy with its loops, and what it does said slowly: from and to which byte.
struct Shape {
  StridedCopy copy;
  std::vector<Stride> loops;
  const StridedCopy& view() {
    copy.loops = loops;
    return copy;
  }
  std::vector<std::pair<Index, Index>> bytes() const {
    std::vector<std::pair<Index, Index>> rows{{copy.source_offset, copy.target_offset}};
    for (const Stride& loop : loops) {
      std::vector<std::pair<Index, Index>> longer;
      for (const auto& [source, target] : rows)
        for (Index i = 0; i < loop.count; ++i)
          longer.emplace_back(source + i * loop.source_bytes, target + i * loop.target_bytes);
      rows = std::move(longer);
    }
    std::vector<std::pair<Index, Index>> all;
    for (const auto& [source, target] : rows)
      for (Index i = 0; i < copy.row_bytes; ++i) all.emplace_back(source + i, target + i);
    return all;
  }
};

// Up to four loops, steps of either sign at either end, counts of 0, rows of 0 to 40 bytes, no byte written twice.
// Both ends fit into `room` bytes.
Shape random_transfer(Random& random, Index room) {
  for (;;) {
    Shape shape;
    shape.copy.row_bytes = random.one_in(8) ? 0 : random.between(1, random.one_in(2) ? 4 : 40);
    Index source = shape.copy.row_bytes, target = shape.copy.row_bytes;  // what the loops so far span
    for (Index l = random.below(5); l > 0; --l) {
      const Index count = random.one_in(12) ? 0 : random.between(1, 5);
      Stride loop{count, source + random.below(9), target + random.below(9)};
      if (random.one_in(6)) loop.source_bytes = 0;  // one row again and again
      source += std::max<Index>(count - 1, 0) * loop.source_bytes;
      target += std::max<Index>(count - 1, 0) * loop.target_bytes;
      if (random.one_in(3)) {  // from the last to the first
        shape.copy.source_offset += std::max<Index>(count - 1, 0) * loop.source_bytes;
        loop.source_bytes = -loop.source_bytes;
      }
      if (random.one_in(3)) {
        shape.copy.target_offset += std::max<Index>(count - 1, 0) * loop.target_bytes;
        loop.target_bytes = -loop.target_bytes;
      }
      shape.loops.insert(shape.loops.begin(), loop);
    }
    if (source > room || target > room) continue;
    shape.copy.source_offset += random.below(room - source + 1);
    shape.copy.target_offset += random.below(room - target + 1);
    return shape;
  }
}

void expect_bytes(const Endpoint& e, const std::string& what, std::span<const std::byte> actual,
                  const std::vector<std::byte>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_equal(e, what + ", byte " + std::to_string(i), int(actual[i]), int(expected[i]));
}

TEST_P(Conformance, StridedShapesOfEveryKind) {
  const unsigned seed = seed_from_environment();
  run([seed](Endpoint& e) {
    constexpr Index kRoom = 3000;
    const WindowId from = e.create_window("from", kRoom, in_time()), to = e.create_window("to", kRoom, in_time());
    std::vector<std::byte> local(kRoom);
    for (Index i = 0; i < kRoom; ++i) e.memory(from)[i] = origin_byte(e.rank(), i);
    Random same(seed);
    for (Index round = 1; round <= 40; ++round) {
      Shape shape = random_transfer(same, kRoom);
      const std::string what = "seed " + std::to_string(seed) + " round " + std::to_string(round);
      std::fill(local.begin(), local.end(), std::byte{0xEE});
      std::ranges::fill(e.memory(to), std::byte{0xEE});
      e.barrier(in_time());
      // What the next rank has comes here; what I have goes there.
      std::vector<std::byte> got(kRoom, std::byte{0xEE}), put(kRoom, std::byte{0xEE});
      for (const auto& [source, target] : shape.bytes()) {
        got[target] = origin_byte(next_of(e), source);
        put[target] = origin_byte(previous_of(e), source);
      }
      e.get(next_of(e), from, shape.view(), local);
      expect_bytes(e, what + " get", local, got);
      e.put(next_of(e), to, shape.view(), e.memory(from));
      e.fence();
      e.barrier(in_time());
      expect_bytes(e, what + " put", e.memory(to), put);
      e.barrier(in_time());
    }
  });
}

// A message that no buffer holds, in rows that are not dense, both ways.
TEST_P(Conformance, MoreThanOnePieceInAMessage) {
  if (ranks() > 3) return;
  run([](Endpoint& e) {
    constexpr Index kRows = 3000, kRow = 700, kPitch = 1024;
    const WindowId window = e.create_window("large", kRows * kPitch, in_time());
    std::vector<std::byte> local(kRows * kRow);
    for (Index i = 0; i < kRows * kRow; ++i) local[i] = origin_byte(e.rank(), i);
    const Stride scatter[] = {{kRows, kRow, kPitch}}, gather[] = {{kRows, kPitch, kRow}};
    e.put(next_of(e), window, {.row_bytes = kRow, .loops = scatter}, local);
    e.fence();
    e.barrier(in_time());
    for (Index r = 0; r < kRows; ++r) {
      const auto row = e.memory(window).subspan(r * kPitch, kPitch);
      for (Index i = 0; i < kRow; ++i)
        if (row[i] != origin_byte(previous_of(e), r * kRow + i)) report(e, "wrong byte in row " + std::to_string(r));
      if (std::ranges::count(row.subspan(kRow), std::byte{}) != kPitch - kRow) report(e, "a gap was written");
    }
    std::vector<std::byte> back(kRows * kRow);
    e.get(next_of(e), window, {.row_bytes = kRow, .loops = gather}, back);
    if (back != local) report(e, "what was put is not what is got");
    e.barrier(in_time());
  });
}

// Offsets past 2^31 and 2^32 on both sides of the mark. Of each window only the touched pages exist.
TEST_P(Conformance, FarOffsets) {
  if (ranks() > 2) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // their shadow of such a window is too large
#endif
  run([](Endpoint& e) {
    constexpr Index kBytes = (Index{1} << 32) + (1 << 20);
    // Memory of the caller: a window of the fabric's own may be touched as a whole when it is made.
    const auto unmap = [](std::byte* memory) { ::munmap(memory, kBytes); };
    void* const mapped =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) report(e, "no address space");
    const std::unique_ptr<std::byte, decltype(unmap)> memory(static_cast<std::byte*>(mapped), unmap);
    const WindowId window =
        e.expose_window("far", std::span(memory.get(), std::size_t(kBytes)), Exposure::in_place, in_time());
    std::vector<std::byte> row(64), got(64);
    for (const Index mark : {Index{1} << 31, Index{1} << 32}) {
      for (Index i = 0; i < 64; ++i) row[i] = origin_byte(e.rank(), i, mark >> 31);
      e.put(next_of(e), window, {.target_offset = mark - 32, .row_bytes = 64}, row);
      e.fence();
      e.barrier(in_time());
      for (Index i = 0; i < 64; ++i)
        expect_equal(e, "byte", int(memory.get()[mark - 32 + i]), int(origin_byte(previous_of(e), i, mark >> 31)));
      // Rows on both sides of it, by a step of 2^31.
      const Stride two[] = {{2, mark - 32, 32}};
      e.get(next_of(e), window, {.source_offset = 0, .row_bytes = 32, .loops = two}, got);
      for (Index i = 0; i < 32; ++i) expect_equal(e, "first row", int(got[i]), 0);
      for (Index i = 0; i < 32; ++i) expect_equal(e, "second row", int(got[32 + i]), int(row[i]));
      e.barrier(in_time());
    }
    expect_error(e, Code::invalid_argument, {"far", "rank " + std::to_string(next_of(e).value())},
                 [&] { e.put(next_of(e), window, {.target_offset = kBytes - 63, .row_bytes = 64}, row); });
    e.destroy_window(window, in_time());
  });
}

// Memory of the caller in both ways: its content is there, peers reach all of it and nothing beside it, and it stays.
TEST_P(Conformance, MemoryThatExistsBecomesAWindow) {
  run([](Endpoint& e) {
    for (const Exposure how : {Exposure::shared, Exposure::in_place}) {
      if (how == Exposure::in_place && !e.capabilities().exposes_private) continue;
      for (const Index bytes : {0, 1, 100, 4096, 10'001}) {
        std::vector<std::byte> around(bytes + 200, std::byte{0xEE});
        const std::span<std::byte> memory = std::span(around).subspan(100, bytes);
        for (Index i = 0; i < bytes; ++i) memory[i] = origin_byte(e.rank(), i);
        const WindowId window = e.expose_window("lent", memory, how, in_time());
        expect_equal(e, "bytes", e.window_bytes(window, next_of(e)), bytes);
        expect_equal(e, "address", e.memory(window).data() == memory.data() || bytes == 0, true);
        std::vector<std::byte> got(bytes);
        e.get(next_of(e), window, {.row_bytes = bytes}, got);
        for (Index i = 0; i < bytes; ++i) expect_equal(e, "byte", int(got[i]), int(origin_byte(next_of(e), i)));
        e.barrier(in_time());
        for (Index i = 0; i < bytes; ++i) got[i] = origin_byte(e.rank(), i, 1);
        e.put(next_of(e), window, {.row_bytes = bytes}, got);
        e.fence();
        e.barrier(in_time());
        expect_error(e, Code::invalid_argument, {"lent"},
                     [&] { e.put(next_of(e), window, {.target_offset = bytes, .row_bytes = 1}, std::span(around)); });
        e.destroy_window(window, in_time());
        for (Index i = 0; i < bytes; ++i)
          expect_equal(e, "byte that stays", int(memory[i]), int(origin_byte(previous_of(e), i, 1)));
        for (Index i = 0; i < 100; ++i) {
          expect_equal(e, "byte before", int(around[i]), 0xEE);
          expect_equal(e, "byte behind", int(around[100 + bytes + i]), 0xEE);
        }
      }
    }
  });
}

// All add into the window of one rank that is memory of its own.
TEST_P(Conformance, AccumulateIntoMemoryThatExists) {
  run([](Endpoint& e) {
    for (const Exposure how : {Exposure::shared, Exposure::in_place}) {
      std::vector<std::int64_t> sums(500);
      const WindowId window = e.expose_window("sums", std::as_writable_bytes(std::span(sums)), how, in_time());
      std::vector<std::int64_t> terms(500);
      for (Index i = 0; i < 500; ++i) terms[i] = e.rank().value() * 1000 + i;
      for (int round = 0; round < 3; ++round)
        e.accumulate(RankId(0), window, {.row_bytes = 4000}, std::as_bytes(std::span(terms)),
                     accumulate_kernel(ReduceOp::sum, Dtype::i64), in_time());
      e.fence();
      e.barrier(in_time());
      const Index all = e.ranks() * (e.ranks() - 1) / 2 * 1000;
      for (Index i = 0; i < 500; ++i)
        expect_equal(e, "sum", sums[i], e.rank() == RankId(0) ? 3 * (all + e.ranks() * i) : 0);
      e.destroy_window(window, in_time());
    }
  });
}

// Windows come and go while others stay; ids are not used again.
TEST_P(Conformance, WindowsAndSignalsAreMadeAnew) {
  run([](Endpoint& e) {
    const WindowId stays = e.create_window("stays", 80, in_time());
    std::set<int> ids{stays.value};
    for (Index i = 0; i < 10; ++i) {
      const WindowId window = e.create_window("comes", 8 * (i % 3), in_time());
      const SignalId signal = e.create_signal("comes", 1 + i % 2, in_time());
      if (!ids.insert(window.value).second) report(e, "an id twice");
      expect_equal(e, "fresh counter", e.peek(signal, 0), 0);
      for (const std::uint64_t got : elements(e, window)) expect_equal(e, "fresh element", got, 0);
      e.barrier(in_time());  // all have seen it
      if (i % 3 > 0) put_one(e, next_of(e), window, 0, stamp(e.rank(), 0, i));
      put_one(e, next_of(e), stays, i, stamp(e.rank(), i));
      e.notify(next_of(e), signal, 0, 1, Endpoint::Update::add);
      e.wait(signal, 0, 1, Endpoint::Until::equal, in_time());
      if (i % 3 > 0) expect_equal(e, "element", elements(e, window)[0], stamp(previous_of(e), 0, i));
      e.destroy_signal(signal, in_time());
      e.destroy_window(window, in_time());
    }
    for (Index i = 0; i < 10; ++i) expect_equal(e, "element", elements(e, stays)[i], stamp(previous_of(e), i));
  });
}

// Hosts count from 0 in the order of their lowest ranks, alike on all ranks, as the fabric's traits and capabilities
// say.
TEST_P(Conformance, HostsAndCapabilitiesAreAsStated) {
  const Traits stated = traits();
  run([stated](Endpoint& e) {
    Index hosts = 0;
    std::vector<std::uint64_t> mine;
    for (Index r = 0; r < e.ranks(); ++r) {
      const Index host = e.host_of(RankId(r));
      if (host > hosts || host < 0) report(e, "host " + std::to_string(host) + " before it begins");
      hosts += host == hosts;
      mine.push_back(static_cast<std::uint64_t>(host));
    }
    if (stated.is_one_host) expect_equal(e, "hosts", hosts, 1);
    const Capabilities can = e.capabilities();
    expect_equal(e, "load_store", can.load_store, stated.capabilities.load_store);
    expect_equal(e, "host_memory", can.host_memory, stated.capabilities.host_memory);
    expect_equal(e, "needs_service", can.needs_service, stated.capabilities.needs_service);
    const WindowId all = e.create_window("hosts", 8 * e.ranks(), in_time());
    std::ranges::copy(mine, elements(e, all).begin());
    e.barrier(in_time());
    std::vector<std::uint64_t> theirs(mine.size());
    e.get(next_of(e), all, {.row_bytes = 8 * e.ranks()}, std::as_writable_bytes(std::span(theirs)));
    if (theirs != mine) report(e, "the next rank knows other hosts");
    e.barrier(in_time());
  });
}

// A rank that computes lets others on by progress(); nothing else is asked of it.
TEST_P(Conformance, ProgressServes) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("data", 8, in_time());
    const SignalId done = e.create_signal("done", 1, in_time());
    elements(e, window)[0] = stamp(e.rank(), 0);
    e.barrier(in_time());
    if (e.rank() == RankId(0)) {
      for (const auto end = in_time(); e.peek(done, 0) + 1 < static_cast<std::uint64_t>(e.ranks());) {
        e.progress();
        if (Clock::now() > end) report(e, "nobody came");
      }
    } else {
      std::uint64_t got = 0;
      e.get(RankId(0), window, {.row_bytes = 8}, std::as_writable_bytes(std::span(&got, 1)));
      expect_equal(e, "element", got, stamp(RankId(0), 0));
      e.notify(RankId(0), done, 0, 1, Endpoint::Update::add);
    }
    e.barrier(in_time());
  });
}

// Counters pass 2^32 and wrap at 2^64.
TEST_P(Conformance, CountersAtTheirEnds) {
  run([](Endpoint& e) {
    const SignalId signal = e.create_signal("counter", 1, in_time());
    for (const std::uint64_t start : {(std::uint64_t{1} << 32) - 2, ~std::uint64_t{0} - 1}) {
      e.notify(e.rank(), signal, 0, start, Endpoint::Update::set);
      e.wait(signal, 0, start, Endpoint::Until::equal, in_time());
      e.barrier(in_time());
      for (std::uint64_t i = 1; i <= 4; ++i) {
        e.notify(next_of(e), signal, 0, 1, Endpoint::Update::add);
        e.wait(signal, 0, start + i, Endpoint::Until::equal, in_time());
        e.barrier(in_time());
      }
    }
    expect_equal(e, "counter", e.peek(signal, 0), 2);
  });
}

// All to all others, small and many, while nobody waits: nothing is lost, and order by fences holds.
TEST_P(Conformance, ManySmallPutsToAll) {
  run([](Endpoint& e) {
    constexpr Index kEach = 300;
    const WindowId window = e.create_window("cells", 8 * kEach * e.ranks(), in_time());
    const SignalId full = e.create_signal("full", e.ranks(), in_time());
    std::vector<std::uint64_t> values(kEach);
    for (Index i = 0; i < kEach; ++i) values[i] = stamp(e.rank(), i);
    for (Index i = 0; i < kEach; ++i) {
      for (Index p = 0; p < e.ranks(); ++p)
        e.put(RankId(p), window,
              {.source_offset = 8 * i, .target_offset = 8 * (e.rank().value() * kEach + i), .row_bytes = 8},
              std::as_bytes(std::span(values)));
      if (i % 50 != 49) continue;
      e.fence();
      for (Index p = 0; p < e.ranks(); ++p) e.notify(RankId(p), full, e.rank().value(), 50, Endpoint::Update::add);
    }
    for (Index s = 0; s < e.ranks(); ++s) {
      for (std::uint64_t there = 50; there <= kEach; there += 50) {
        e.wait(full, s, there, Endpoint::Until::greater_equal, in_time());
        const Index last = static_cast<Index>(there) - 1;
        expect_equal(e, "cell", elements(e, window)[s * kEach + last], stamp(RankId(s), last));
      }
    }
    e.barrier(in_time());
  });
}

// F4: sizes beyond 32 bits are told as they are. Nothing of the memory is touched.
TEST_P(Conformance, F4SizesBeyond32Bits) {
  if (ranks() > 3) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;
#endif
  run([](Endpoint& e) {
    const Index bytes = 2'400'000'000 + 3'218'569'051 * (e.rank().value() % 2);
    void* const mapped = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) report(e, "no address space");
    const std::span<std::byte> memory(static_cast<std::byte*>(mapped), static_cast<std::size_t>(bytes));
    const WindowId window = e.expose_window("table", memory, Exposure::in_place, in_time());
    for (Index r = 0; r < e.ranks(); ++r)
      expect_equal(e, "bytes", e.window_bytes(window, RankId(r)), 2'400'000'000 + 3'218'569'051 * (r % 2));
    e.destroy_window(window, in_time());
    ::munmap(mapped, static_cast<std::size_t>(bytes));
  });
}

// N2: one of three never tells; the others end within the limit, and say what for. Then the world goes on.
TEST_P(Conformance, N2AStuckPeerIsATimeoutThatNamesItsSlot) {
  run([](Endpoint& e) {
    const SignalId told = e.create_signal("told", e.ranks(), in_time());
    const RankId silent(e.ranks() - 1);
    const auto begin = Clock::now();
    if (e.rank() != silent) {
      expect_error(e, Code::timeout,
                   {"rank " + std::to_string(e.rank().value()), "\"told\" slot " + std::to_string(silent.value()),
                    ">= 1", "seen 0"},
                   [&] { e.wait(told, silent.value(), 1, Endpoint::Until::greater_equal, begin + 300ms); });
      if (Clock::now() - begin < 300ms) report(e, "gave up too early");
    }
    e.barrier(in_time());
    e.notify(next_of(e), told, 0, 1, Endpoint::Update::add);
    e.wait(told, 0, 1, Endpoint::Until::equal, in_time());
    e.barrier(in_time());
  });
}

}  // namespace
}  // namespace reshard::multi
