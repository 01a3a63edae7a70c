// The limit: each target rank copies straight out of the sources' shared memory into shared memory of its own, once, by
// plain kernels.
// What no library can beat, short of better kernels. limit RANKS
//
//   memcpy     one memcpy per row
//   nt         stores that bypass the cache, 64 bytes each
//   vm_readv   from private memory: the kernel copies out of the other process, 1024 rows a call
//
// Redistributions have no barrier of their own. A collective has one before and one after each call, reductions fold
// all terms in one pass; a hop is a flag on which the other rank spins.
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "rank.h"
#include "start_line.h"

namespace contest {
namespace {

constexpr std::size_t rank_space = std::size_t{16} << 30;  // of addresses, for the shared buffers of one rank
constexpr std::size_t vectors_per_call = 1024;

// What ranks tell each other before the first copy.
struct alignas(64) Board {
  std::array<std::byte, 64> start{};                     // cell of contest_meet
  alignas(64) std::array<std::atomic<Index>, 2> flag{};  // of a hop: one each, on its own line
  alignas(64) std::array<pid_t, 64> process{};
  alignas(64) std::array<std::byte*, 64> memory{};  // private source of each rank
};

void copy_memcpy(std::byte* to, const std::byte* from, Index bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// Rows of all jobs are multiples of 16 bytes, and so are their places.
__attribute__((target("avx512f"))) void stream_512(std::byte* to, const std::byte* from, Index bytes) {
  Index i = 0;
  for (; i + 64 <= bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
  for (; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

void stream_128(std::byte* to, const std::byte* from, Index bytes) {
  for (Index i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

void copy_streaming(std::byte* to, const std::byte* from, Index bytes) {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  const bool lines = reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
  (wide && lines ? stream_512 : stream_128)(to, from, bytes);
}

using CopyRow = void (*)(std::byte*, const std::byte*, Index);
constexpr std::array<std::pair<const char*, CopyRow>, 2> copy_rows{{{"memcpy", copy_memcpy}, {"nt", copy_streaming}}};

// Rows of one rank's source and their places in this rank's target.
struct Piece {
  int peer = 0;
  Index from = 0;  // bytes from the start of the peer's sources
  Index from_pitch = 0;
  std::byte* to = nullptr;
  Index to_pitch = 0;
  Index rows = 1;
  Index row_bytes = 0;
};

// Reads two lines and writes one, what a cast to half the size must do and no more: the upper halves, which is the cast
// to bf16 of numbers that bf16 holds.
__attribute__((target("avx512f,avx512bw"))) void halve_512(std::byte* to, const std::byte* from, Index bytes) {
  alignas(64) static constexpr auto upper = [] {
    std::array<std::uint16_t, 32> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint16_t>(2 * i + 1);
    return places;
  }();
  const __m512i places = _mm512_load_si512(upper.data());
  for (Index i = 0; i < bytes / 2; i += 64) {
    const __m512i halves =
        _mm512_permutex2var_epi16(_mm512_loadu_si512(from + 2 * i), places, _mm512_loadu_si512(from + 2 * i + 64));
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), halves);
  }
}
void halve_128(std::byte* to, const std::byte* from, Index bytes) {
  const auto upper = [&](Index at) {
    return _mm_srai_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)), 16);
  };
  for (Index i = 0; i < bytes / 2; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_packs_epi32(upper(2 * i), upper(2 * i + 16)));
}
void halve(std::byte* to, const std::byte* from, Index bytes) {
  static const bool wide = __builtin_cpu_supports("avx512bw") != 0;
  (wide ? halve_512 : halve_128)(to, from, bytes);
}

template <int Ranks>
void fold(float* to, const std::array<const float*, 8>& terms, Index count) {
  for (Index k = 0; k < count; ++k) {
    float sum = terms[0][k];
    for (int r = 1; r < Ranks; ++r) sum += terms[static_cast<std::size_t>(r)][k];
    to[k] = sum;
  }
}

class Limit : public Contestant {
 public:
  Limit(Place place, std::byte* arena, Board& board) : place_(place), arena_(arena), board_(board) {
    board_.process[static_cast<std::size_t>(place.rank)] = getpid();
  }

  Stage open(const Job& job) override {
    Stage stage;
    shared_end_ = 0;
    if (job.kind == Job::Kind::hop) {
      stage.ways.push_back({"flag", {}, {}, [this] { hop(); }});
    } else if (job.kind == Job::Kind::barrier) {
      stage.ways.push_back({"spin and yield", {}, {}, [this] { meet(); }});
    } else if (job.kind == Job::Kind::collective) {
      open_collective(job, stage);
    } else {
      open_copies(job, stage);
    }
    return stage;
  }

  void closed() override { madvise(shared(place_.rank), rank_space, MADV_REMOVE); }

 private:
  std::byte* shared(int rank) const { return arena_ + static_cast<std::size_t>(rank) * rank_space; }
  void meet() {
    if (!contest_meet(board_.start.data(), place_.ranks)) throw std::runtime_error("a rank did not come");
  }

  std::vector<Bytes> shared_buffers(const std::vector<Index>& bytes) {
    std::byte* memory = shared(place_.rank) + shared_end_;
    const Index total = bytes_to_place(bytes);
    std::memset(memory, 0, static_cast<std::size_t>(total));
    shared_end_ += total;
    return place_buffers(bytes, memory);
  }

  // Each way has memory of its own, as those of other contestants have: none finds in the cache what the way before it
  // has read.
  void open_copies(const Job& job, Stage& stage) {
    Index opened = 0;
    const auto open_shared = [&](const char* name, CopyRow row) {
      const std::vector<Bytes> sources = shared_buffers(source_bytes(job, place_));
      const std::vector<Bytes> targets = shared_buffers(target_bytes(job, place_));
      stage.ways.push_back(
          {name, sources, targets, [this, pieces = pieces_of(job, targets, opened++), row] { copy(pieces, row); }});
    };
    if (job.kind == Job::Kind::cast) return open_shared("nt", halve);
    for (const auto& [name, row] : copy_rows) open_shared(name, row);
    const std::vector<Bytes> sources = private_buffers(source_bytes(job, place_), stage);
    const std::vector<Bytes> targets = private_buffers(target_bytes(job, place_), stage);
    board_.memory[static_cast<std::size_t>(place_.rank)] = sources.empty() ? nullptr : sources[0].data();
    stage.ways.push_back(
        {"vm_readv", sources, targets, [this, pieces = pieces_of(job, targets, 0)] { read_processes(pieces); }});
  }

  // Every rank of a collective reads what it needs of the others.
  void open_collective(const Job& job, Stage& stage) {
    const std::vector<Bytes> sources = shared_buffers(source_bytes(job, place_));
    const bool fold_first = job.is("reduce_scatter") || job.is("all_reduce");
    const std::vector<Bytes> targets = job.is("all_reduce") ? shared_buffers(target_bytes(job, place_))
                                                            : private_buffers(target_bytes(job, place_), stage);
    if (fold_first) {
      const bool gather = job.is("all_reduce");
      const Index part = job.bytes / place_.ranks;
      const Index target_offset = bytes_to_place({job.bytes});
      for (const auto& [name, row] : copy_rows) {
        if (!gather && row == copy_streaming) continue;
        stage.ways.push_back({name, sources, targets, [this, targets, part, gather, target_offset, copy_row = row] {
                                meet();
                                fold_part(targets[0].data() + (gather ? place_.rank * part : 0), part);
                                meet();
                                if (gather) gather_parts(targets[0].data(), part, target_offset, copy_row);
                              }});
      }
      return;
    }
    const std::vector<Piece> pieces = exchange_pieces(job, targets);
    for (const auto& [name, row] : copy_rows) {
      stage.ways.push_back({name, sources, targets, [this, pieces, copy_row = row] {
                              meet();
                              copy(pieces, copy_row);
                              meet();
                            }});
    }
  }

  void copy(const std::vector<Piece>& pieces, CopyRow copy_row) {
    for (const Piece& piece : pieces) {
      const std::byte* from = shared(piece.peer) + piece.from;
      for (Index i = 0; i < piece.rows; ++i)
        copy_row(piece.to + i * piece.to_pitch, from + i * piece.from_pitch, piece.row_bytes);
    }
    _mm_sfence();
  }

  void fold_part(std::byte* to, Index bytes) {
    std::array<const float*, 8> terms{};
    for (int r = 0; r < place_.ranks; ++r)
      terms[static_cast<std::size_t>(r)] = reinterpret_cast<const float*>(shared(r) + place_.rank * bytes);
    float* sums = reinterpret_cast<float*>(to);
    const Index count = bytes / element_bytes;
    if (place_.ranks == 2) return fold<2>(sums, terms, count);
    if (place_.ranks == 4) return fold<4>(sums, terms, count);
    fold<8>(sums, terms, count);
  }

  void gather_parts(std::byte* targets, Index part, Index target_offset, CopyRow copy_row) {
    for (int r = 0; r < place_.ranks; ++r)
      if (r != place_.rank) copy_row(targets + r * part, shared(r) + target_offset + r * part, part);
    _mm_sfence();
    meet();
  }

  void read_processes(const std::vector<Piece>& pieces) {
    std::vector<iovec> from(vectors_per_call), to(vectors_per_call);
    for (const Piece& piece : pieces) {
      std::byte* source = board_.memory[static_cast<std::size_t>(piece.peer)] + piece.from;
      for (Index done = 0; done < piece.rows;) {
        const Index n = std::min<Index>(vectors_per_call, piece.rows - done);
        for (Index i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(i), length = static_cast<std::size_t>(piece.row_bytes);
          from[at] = {source + (done + i) * piece.from_pitch, length};
          to[at] = {piece.to + (done + i) * piece.to_pitch, length};
        }
        const auto count = static_cast<unsigned long>(n);
        const ssize_t read = process_vm_readv(board_.process[static_cast<std::size_t>(piece.peer)], to.data(), count,
                                              from.data(), count, 0);
        if (read != n * piece.row_bytes) throw std::runtime_error("process_vm_readv is refused, or read less");
        done += n;
      }
    }
  }

  // From sources that follow the memory of `before` other ways.
  std::vector<Piece> pieces_of(const Job& job, const std::vector<Bytes>& targets, Index before) const {
    std::vector<Piece> pieces =
        job.kind == Job::Kind::tensors ? tensor_pieces(job, targets) : matrix_pieces(job, targets);
    for (Piece& piece : pieces) {
      const Place peer{piece.peer, place_.ranks};
      piece.from += before * (bytes_to_place(source_bytes(job, peer)) + bytes_to_place(target_bytes(job, peer)));
    }
    return pieces;
  }

  std::vector<Piece> matrix_pieces(const Job& job, const std::vector<Bytes>& targets) const {
    std::vector<Piece> pieces;
    const Part mine = part_of(job, job.target, place_.rank);
    const Index per_element = job.kind == Job::Kind::cast ? 2 : 1;  // the target's elements are smaller
    for (int peer = 0; peer < place_.ranks; ++peer) {
      const Part theirs = part_of(job, job.source, peer), both = intersection(mine, theirs);
      if (both.empty()) continue;
      pieces.push_back({.peer = peer,
                        .from = offset_in(theirs, both.row, both.column),
                        .from_pitch = theirs.columns * element_bytes,
                        .to = targets[0].data() + offset_in(mine, both.row, both.column) / per_element,
                        .to_pitch = mine.columns * element_bytes / per_element,
                        .rows = both.rows,
                        .row_bytes = both.columns * element_bytes});
    }
    return pieces;
  }

  std::vector<Piece> tensor_pieces(const Job& job, const std::vector<Bytes>& targets) const {
    std::vector<Piece> pieces;
    if (targets.empty()) return pieces;
    for (int peer = 0; peer < job.source_ranks; ++peer) {
      const std::vector<Bytes> theirs = place_buffers(source_bytes(job, {peer, place_.ranks}), shared(peer));
      for (std::size_t t = 0; t < targets.size(); ++t) {
        const auto bytes = static_cast<Index>(theirs[t].size());
        pieces.push_back({.peer = peer,
                          .from = theirs[t].data() - shared(peer),
                          .to = targets[t].data() + peer * bytes,
                          .row_bytes = bytes});
      }
    }
    return pieces;
  }

  std::vector<Piece> exchange_pieces(const Job& job, const std::vector<Bytes>& targets) const {
    std::vector<Piece> pieces;
    if (targets.empty()) return pieces;
    if (job.is("broadcast")) return {{.peer = 0, .to = targets[0].data(), .row_bytes = job.bytes}};
    const Index block = job.bytes / place_.ranks;
    for (int turn = 0; turn < place_.ranks; ++turn) {
      const int peer = (place_.rank + turn) % place_.ranks;
      pieces.push_back({.peer = peer,
                        .from = job.is("all_to_all") ? place_.rank * block : 0,
                        .to = targets[0].data() + peer * block,
                        .row_bytes = block});
    }
    return pieces;
  }

  void hop() {
    std::atomic<Index>& mine = board_.flag[static_cast<std::size_t>(place_.rank)];
    std::atomic<Index>& theirs = board_.flag[static_cast<std::size_t>(1 - place_.rank)];
    ++hops_;
    if (place_.rank == 0) theirs.store(hops_, std::memory_order_release);  // pairs with the load below
    while (mine.load(std::memory_order_acquire) != hops_) {
    }
    if (place_.rank == 1) theirs.store(hops_, std::memory_order_release);  // pairs with the load above
  }

  Place place_;
  std::byte* arena_;
  Board& board_;
  Index shared_end_ = 0;
  Index hops_ = 0;
};

std::byte* shared_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map shared memory");
  return static_cast<std::byte*>(memory);
}

int run(int ranks) {
  std::byte* arena = shared_memory(static_cast<std::size_t>(ranks) * rank_space);
  Board& board = *new (shared_memory(sizeof(Board))) Board();
  for (int rank = 1; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child > 0) continue;
    Limit limit({rank, ranks}, arena, board);
    obey("limit", {rank, ranks}, limit);
    _exit(0);
  }
  Limit limit({0, ranks}, arena, board);
  obey("limit", {0, ranks}, limit);
  while (wait(nullptr) > 0) {
  }
  return 0;
}

}  // namespace
}  // namespace contest

int main(int argc, char** argv) {
  try {
    return contest::run(argc > 1 ? std::atoi(argv[1]) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "limit: %s\n", error.what());
    return 1;
  }
}
