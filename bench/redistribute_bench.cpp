// Redistribution of one large tensor, beside the least that it can cost: one copy of every byte, straight from the
// source's memory to its place, by the faster of two plain kernels (row by row memcpy, and stores that bypass the
// cache). Each round times all three, between barriers; the ratio is the median over rounds, which drifts less than
// the rates do. The three take turns at being first. The answer is checked; a wrong one ends with status 1.
//
// redistribute_bench [ROUNDS], one JSON object a line:
//   {"job": "a", "fabric": "shm", "bytes": 268435456, "ms": 19.9, "limit_ms": 19.1, "GB/s": 13.5, "ratio": 0.96}
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <vector>

#include "kernel/copy.h"
#include "reshard/shm_fabric.h"
#include "reshard/stamp.h"
#include "reshard/thread_fabric.h"
#include "reshard/world.h"

namespace reshard {
namespace {

struct Job {
  const char* name;
  Index ranks;
  const char* source;
  const char* target;
};

constexpr int warm_up = 3;  // rounds, of which one checks the answer

constexpr Job jobs[] = {
    {"a", 4, "f32[8192,8192] on (r=4) {0: r}", "f32[8192,8192] on (y=2, x=2) {0: y, 1: x}"},
    {"b", 2, "f32[8192,8192] on (r=2) {0: r}", "f32[8192,8192] on (r=2) {1: r}"},
    {"c", 4, "f32[8192,8192] on (r=2) {0: r}", "f32[8192,8192] on (r=2)@2 {1: r}"},
};

template <class CopyRow>
void copy_rows(std::byte* target, const std::byte* source, const StridedCopy& copy, CopyRow copy_row) {
  for (Index i = 0; i < copy.loops[0].count; ++i) {
    copy_row(target + copy.target_offset + i * copy.loops[0].target_bytes,
             source + copy.source_offset + i * copy.loops[0].source_bytes, copy.row_bytes);
  }
}

void copy_by_memcpy(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  copy_rows(target, source, copy,
            [](std::byte* t, const std::byte* s, Index bytes) { std::memcpy(t, s, static_cast<std::size_t>(bytes)); });
}

// Rows of these jobs are multiples of 64 bytes, and so are their places.
__attribute__((target("avx512f"))) void stream_row_512(std::byte* t, const std::byte* s, Index bytes) {
  for (Index i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(t + i), _mm512_loadu_si512(s + i));
}

void stream_row_128(std::byte* t, const std::byte* s, Index bytes) {
  for (Index i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(t + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i)));
  }
}

void copy_by_streaming(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  copy_rows(target, source, copy, wide ? stream_row_512 : stream_row_128);
  _mm_sfence();
}

// The fabric's kernel is fixed when ranks start; this one does as the rank's current way says.
thread_local CopyKernel current_kernel = copy_strided;
void copy_as_told(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  current_kernel(target, source, copy);
}

// One box of rows from a peer's window, without plan or program.
struct Piece {
  RankId peer;
  Stride rows;
  StridedCopy copy;
};

std::vector<Piece> pieces_of(const Layout& source, const Layout& target, RankId self) {
  std::vector<Piece> pieces;
  const Region mine = target.region(self);
  for (RankId peer(0); mine.held && peer < source.mesh().end_rank(); ++peer) {
    const Region theirs = source.region(peer);
    const Segments rows = intersect(mine.dims[0], theirs.dims[0]), columns = intersect(mine.dims[1], theirs.dims[1]);
    const Segments their_rows = intersect(theirs.dims[0], mine.dims[0]);
    const Segments their_columns = intersect(theirs.dims[1], mine.dims[1]);
    if (rows.empty() || columns.empty()) continue;
    const Index pitch = target.storage(self).strides[0] * 4, their_pitch = source.storage(peer).strides[0] * 4;
    pieces.push_back(
        {.peer = peer,
         .rows = {rows[0].length, their_pitch, pitch},
         .copy = {.source_offset = their_rows[0].local.value() * their_pitch + their_columns[0].local.value() * 4,
                  .target_offset = rows[0].local.value() * pitch + columns[0].local.value() * 4,
                  .row_bytes = columns[0].length * 4}});
  }
  return pieces;
}

void read_pieces(World& world, const std::vector<Piece>& pieces, CopyKernel kernel, const Tensor& a, Tensor& b) {
  current_kernel = kernel;
  for (const Piece& piece : pieces) {
    StridedCopy copy = piece.copy;
    copy.loops = std::span(&piece.rows, 1);
    world.endpoint().get(piece.peer, a.window(), copy, b.bytes());
  }
  current_kernel = copy_strided;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

template <class Work>
double seconds_of(World& world, const Work& work) {
  const auto far = Clock::now() + std::chrono::minutes(2);
  world.endpoint().barrier(far);
  const auto start = Clock::now();
  work();
  world.endpoint().barrier(far);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(World& world, const Job& job, const char* fabric, int rounds) {
  const Layout source = layout(job.source), target = layout(job.target);
  Tensor a = world.allocate(source), b = world.allocate(target);
  const std::vector<Piece> pieces = pieces_of(source, target, world.rank());
  const std::array<std::function<void()>, 3> ways = {
      [&] { redistribute(world, a, b); },
      [&] { read_pieces(world, pieces, copy_by_memcpy, a, b); },
      [&] { read_pieces(world, pieces, copy_by_streaming, a, b); },
  };
  std::array<std::vector<double>, 3> seconds;
  for (int round = 0; round < rounds + warm_up; ++round) {
    const auto epoch = static_cast<std::uint64_t>(round + 1);
    stamp(a, epoch);
    for (int turn = 0; turn < 3; ++turn) {
      const auto way = static_cast<std::size_t>((turn + round) % 3);
      const double taken = seconds_of(world, ways[way]);
      if (round >= warm_up) seconds[way].push_back(taken);
      if (way == 0 && turn == 0) expect_stamped(b, epoch);  // nobody else has written this epoch yet
    }
  }
  if (world.rank() != RankId(0)) return;
  const std::vector<double>& ours = seconds[0];
  const std::vector<double>& limit = median(seconds[1]) < median(seconds[2]) ? seconds[1] : seconds[2];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(limit[i] / ours[i]);
  const auto bytes = static_cast<double>(source.bytes());
  std::printf(
      R"({"job": "%s", "fabric": "%s", "bytes": %.0f, "ms": %.2f, "limit_ms": %.2f, "GB/s": %.2f, "ratio": %.3f})"
      "\n",
      job.name, fabric, bytes, 1e3 * median(ours), 1e3 * median(limit), bytes / median(ours) / 1e9, median(ratios));
  std::fflush(stdout);  // a process of a world ends without flushing
}

int run(int rounds) {
  for (const Job& job : jobs) {
    const auto body = [&](const char* fabric) {
      return [&job, fabric, rounds](Endpoint& endpoint) {
        World world(endpoint, {.timeout = std::chrono::minutes(2)});
        measure(world, job, fabric, rounds);
      };
    };
    run_threads(job.ranks, body("thread"), {.copy = copy_as_told});
    run_processes(job.ranks, body("shm"), {.copy = copy_as_told});
  }
  return 0;
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  try {
    return reshard::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redistribute_bench: %s\n", error.what());
    return 1;
  }
}
