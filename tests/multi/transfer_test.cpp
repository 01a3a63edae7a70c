// put and get: what arrives, where, and when the source may be overwritten.
#include <algorithm>

#include "every_fabric.h"

namespace reshard::multi {
namespace {

class Transfer : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Transfer, {1, 2, 3, 4, 6, 7, 8});

constexpr Index kRows = 5, kColumns = 7;

// Rows 1, 3 and columns 2..4 of a 5 x 7 window, into the first 2 x 3 of a 4 x 5 array, from every peer.
TEST_P(Transfer, GetsStridedBlocksFromEveryPeer) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("source", kRows * kColumns * 8, in_time());
    for (Index i = 0; i < kRows * kColumns; ++i) elements(e, window)[i] = stamp(e.rank(), i);
    e.barrier(in_time());
    const Stride rows[] = {{2, 2 * kColumns * 8, 5 * 8}};
    const StridedCopy copy{.source_offset = (kColumns + 2) * 8, .target_offset = 0, .row_bytes = 3 * 8, .loops = rows};
    for (Index peer = 0; peer < e.ranks(); ++peer) {
      std::vector<std::uint64_t> target(20, 999);
      e.get(RankId(peer), window, copy, std::as_writable_bytes(std::span(target)));
      for (Index r = 0; r < 4; ++r) {
        for (Index c = 0; c < 5; ++c) {
          const bool is_written = r < 2 && c < 3;
          const auto expected = is_written ? stamp(RankId(peer), (1 + 2 * r) * kColumns + 2 + c) : 999;
          expect_equal(e, "element " + std::to_string(r * 5 + c), target[r * 5 + c], expected);
        }
      }
    }
    e.barrier(in_time());
  });
}

// Each rank writes column `rank` of every peer's window, bottom to top, in three calls one after another.
TEST_P(Transfer, PutsColumnsIntoEveryPeerInOrder) {
  run([](Endpoint& e) {
    const Index width = e.ranks();
    const WindowId window = e.create_window("target", kRows * width * 8, in_time());
    const SignalId arrived = e.create_signal("arrived", e.ranks(), in_time());
    for (Index epoch = 1; epoch <= 3; ++epoch) {
      std::vector<std::uint64_t> column(kRows);
      for (Index i = 0; i < kRows; ++i) column[i] = stamp(e.rank(), i, epoch);
      const Stride upwards[] = {{kRows, 8, -width * 8}};
      const Index bottom = (kRows - 1) * width + e.rank().value();
      for (Index peer = 0; peer < e.ranks(); ++peer) {
        e.put(RankId(peer), window, {.target_offset = bottom * 8, .row_bytes = 8, .loops = upwards},
              std::as_bytes(std::span(column)));
        e.fence();
        e.notify(RankId(peer), arrived, e.rank().value(), 1, Endpoint::Update::add);
      }
      for (Index source = 0; source < e.ranks(); ++source) {
        e.wait(arrived, source, epoch, Endpoint::Until::greater_equal, in_time());
        for (Index r = 0; r < kRows; ++r) {
          const auto got = elements(e, window)[r * width + source];
          expect_equal(e, "row " + std::to_string(r), got, stamp(RankId(source), kRows - 1 - r, epoch));
        }
      }
      e.barrier(in_time());
    }
  });
}

// G7: the source is overwritten as soon as the fence returns; nobody ever sees that.
TEST_P(Transfer, SourceMayBeOverwrittenWhenTheFenceReturns) {
  const Index calls = traits().is_threads ? 10'000 : 1'000;
  run([calls](Endpoint& e) {
    const WindowId window = e.create_window("data", 64 * 8, in_time());
    const SignalId full = e.create_signal("full", 1, in_time());
    const SignalId empty = e.create_signal("empty", 1, in_time());
    std::vector<std::uint64_t> source(64);
    for (Index i = 1; i <= calls; ++i) {
      std::fill(source.begin(), source.end(), stamp(e.rank(), 1, i));
      e.wait(empty, 0, i - 1, Endpoint::Until::greater_equal, in_time());
      e.put(next_of(e), window, {.row_bytes = 64 * 8}, std::as_bytes(std::span(source)));
      e.fence();
      std::fill(source.begin(), source.end(), 9999);
      e.notify(next_of(e), full, 0, 1, Endpoint::Update::add);
      e.wait(full, 0, i, Endpoint::Until::greater_equal, in_time());
      for (std::uint64_t got : elements(e, window)) expect_equal(e, "data", got, stamp(previous_of(e), 1, i));
      e.notify(previous_of(e), empty, 0, 1, Endpoint::Update::add);
    }
  });
}

// G11.
TEST_P(Transfer, WhatReachesOutsideIsRefusedAtTheCall) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("weights", 65536, in_time());
    const std::vector<std::byte> source(65537, std::byte{7});
    const RankId peer = next_of(e);
    e.put(peer, window, {.row_bytes = 65536}, source);
    const auto put = [&](const StridedCopy& copy) {
      return [&e, peer, window, &source, copy] { e.put(peer, window, copy, source); };
    };
    expect_error(e, Code::invalid_argument, {"put", "weights", "offset 0", "length 65537", "65536 bytes"},
                 put({.row_bytes = 65537}));
    expect_error(e, Code::invalid_argument, {"weights", "offset 65536", "length 1"},
                 put({.target_offset = 65536, .row_bytes = 1}));
    expect_error(e, Code::invalid_argument, {"weights", "offset -1"}, put({.target_offset = -1, .row_bytes = 1}));
    const Stride far[] = {{Index{1} << 40, 0, Index{1} << 40}};
    expect_error(e, Code::invalid_argument, {"weights"}, put({.row_bytes = 1, .loops = far}));
    const Stride negative[] = {{-2, 1, 1}};
    expect_error(e, Code::invalid_argument, {"weights", "negative"}, put({.row_bytes = 1, .loops = negative}));
    expect_error(e, Code::invalid_argument, {"local memory of 65537 bytes"},
                 put({.source_offset = 65537, .row_bytes = 1}));
    std::byte small[4];
    expect_error(e, Code::invalid_argument, {"get", "local memory of 4 bytes"},
                 [&] { e.get(peer, window, {.row_bytes = 5}, small); });
    expect_error(e, Code::invalid_argument, {"window id 77"}, [&] { e.get(peer, {77}, {.row_bytes = 1}, small); });
    expect_error(e, Code::invalid_argument, {"peer 99", std::to_string(e.ranks())},
                 [&] { e.get(RankId(99), window, {.row_bytes = 1}, small); });
    e.barrier(in_time());
  });
}

// G12: nothing is put, the signal still comes; also at an offset past the end, with loops of no count.
TEST_P(Transfer, PutOfNothingStillNotifies) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("data", 8, in_time());
    const SignalId signal = e.create_signal("signal", 1, in_time());
    elements(e, window)[0] = stamp(e.rank(), 0);
    e.barrier(in_time());
    const Stride none[] = {{0, 8, 8}};
    e.put(next_of(e), window, {.row_bytes = 0}, {});
    e.put(next_of(e), window, {.target_offset = 4096, .row_bytes = 8, .loops = none}, {});
    e.notify(next_of(e), signal, 0, 1, Endpoint::Update::add);
    e.wait(signal, 0, 1, Endpoint::Until::equal, in_time());
    expect_equal(e, "data", elements(e, window)[0], stamp(e.rank(), 0));
  });
}

// Rank r holds r % 3 elements, so every third holds none.
TEST_P(Transfer, WindowsOfUnequalSizes) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("ragged", e.rank().value() % 3 * 8, in_time());
    for (Index i = 0; i < e.rank().value() % 3; ++i) elements(e, window)[i] = stamp(e.rank(), i);
    e.barrier(in_time());
    for (Index peer = 0; peer < e.ranks(); ++peer) {
      const Index count = peer % 3;
      expect_equal(e, "bytes", e.window_bytes(window, RankId(peer)), count * 8);
      std::vector<std::uint64_t> got(count + 1, 999);
      const auto target = std::as_writable_bytes(std::span(got));
      e.get(RankId(peer), window, {.row_bytes = count * 8}, target);
      for (Index i = 0; i < count; ++i) expect_equal(e, "element", got[i], stamp(RankId(peer), i));
      expect_equal(e, "element past the end", got[count], 999);
      expect_error(e, Code::invalid_argument, {"ragged", "rank " + std::to_string(peer)},
                   [&] { e.get(RankId(peer), window, {.row_bytes = count * 8 + 1}, target); });
    }
    e.barrier(in_time());
  });
}

// The copy that a world is given is the one that runs within a host.
TEST_P(Transfer, RunsTheCopyOfItsOptions) {
  if (!traits().is_one_host) return;
  const CopyKernel marks = [](std::byte* target, const std::byte*, const StridedCopy& copy) {
    std::fill_n(target + copy.target_offset, copy.row_bytes, std::byte{0x3C});
  };
  run(
      [](Endpoint& e) {
        const WindowId window = e.create_window("data", 3, in_time());
        std::byte got[3] = {};
        e.get(next_of(e), window, {.row_bytes = 2}, got);
        expect_equal(e, "byte", int(got[1]), 0x3C);
        expect_equal(e, "byte not copied", int(got[2]), 0);
        e.barrier(in_time());
      },
      {.copy = marks});
}

}  // namespace
}  // namespace reshard::multi
