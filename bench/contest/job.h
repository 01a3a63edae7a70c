// A job of the contest, as every contestant is told it: what each rank holds before and after, and the values that
// prove it. Elements have 4 bytes and name their origin and epoch, so that a wrong route and a left-over both show.
//
// Sizes divide evenly. Buffers are dense and row-major; those of a rank that holds nothing are empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contest {

using Index = std::int64_t;
using Bytes = std::span<std::byte>;

constexpr Index element_bytes = 4;

struct Place {
  int rank = 0;
  int ranks = 0;
};

// Ranks [first, first + rows * columns), row-major, each with an equal block of the matrix.
struct Grid {
  Index rows = 1;
  Index columns = 1;
  Index first = 0;
};

// A block of the matrix, in elements.
struct Part {
  Index row = 0;
  Index rows = 0;
  Index column = 0;
  Index columns = 0;
  bool empty() const { return rows == 0 || columns == 0; }
  Index bytes() const { return rows * columns * element_bytes; }
};

struct Job {
  enum class Kind {
    matrix,      // from one grid to another
    tensors,     // each cut over the source ranks, then whole on every target rank
    collective,  // `op` with `bytes` on the larger side of each rank
    hop,         // a notification to the other rank and back
    barrier,
    cast,  // a matrix whose target is bf16
  };
  Kind kind = Kind::matrix;
  std::string op;
  // matrix, cast
  Index rows = 0;
  Index columns = 0;
  Grid source;
  Grid target;
  // tensors
  std::vector<Index> elements;
  Index source_ranks = 0;  // from rank 0 on
  Index first_target = 0;
  Index target_ranks = 0;
  // collective
  Index bytes = 0;

  bool is(std::string_view collective) const { return kind == Kind::collective && op == collective; }
};

// From the driver's JSON object.
Job read_job(const std::string& text);

Part part_of(const Job& job, const Grid& grid, Index rank);
Part intersection(const Part& a, const Part& b);
// Where an element of the matrix lies in the buffer of its part, in bytes.
Index offset_in(const Part& part, Index row, Index column);

// Bytes of each buffer: one, or one per tensor; none for hop and barrier.
std::vector<Index> source_bytes(const Job& job, Place place);
std::vector<Index> target_bytes(const Job& job, Place place);

void stamp(const Job& job, Place place, const std::vector<Bytes>& sources, std::uint32_t epoch);
// The first element that is wrong, in words; empty when all are right.
std::string fault(const Job& job, Place place, const std::vector<Bytes>& targets, std::uint32_t epoch);

}  // namespace contest
