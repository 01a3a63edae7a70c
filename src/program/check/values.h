// What cells of memory hold, by number: which element of which input of which call, a number, or a fold of such.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/check/interner.h"
#include "reshard/dtype.h"
#include "reshard/program.h"
#include "reshard/reduce_op.h"

namespace reshard::explore {

using ValueId = std::uint32_t;
// The bytes of a cell that holds a known number; cells of more bytes are known only where they are zero.
using CellBytes = std::array<std::byte, 16>;

struct CellValue {
  enum class Kind : std::uint8_t { undefined, number, identity, input, fold };
  Kind kind = Kind::undefined;
  ReduceOp op = ReduceOp::sum;  // identity, fold
  std::uint16_t rank = 0;       // input
  std::uint16_t window = 0;
  std::uint32_t call = 0;
  Index offset = 0;                 // input: bytes; fold by avg: the divisor
  std::vector<ValueId> terms = {};  // fold: in order of their numbers
  bool known = false;
  CellBytes bytes = {};
  friend bool operator==(const CellValue&, const CellValue&) = default;
};

struct HashCellValue {
  std::size_t operator()(const CellValue& value) const;
};

class Values {
 public:
  Values();
  static constexpr ValueId kUndefined = 0, kZero = 1;

  ValueId input(Index call, RankId rank, int window, Index offset, std::optional<CellBytes> bytes);
  // The part of `number`, as a `dtype`, that lies in cell `part` of `cell_bytes` bytes.
  ValueId number(Index number, Dtype dtype, Index cell_bytes, Index part);
  ValueId number(const CellBytes& bytes);
  // What an element becomes as another dtype. What is known keeps its origin where it can be cast back, and is a number
  // without one where it cannot; what is not known stays what it is.
  ValueId cast(ValueId value, Dtype from, Dtype to);
  // Of elements in several cells, the part of the result: numbers change, everything else stays what it is.
  ValueId cast_part(ValueId value, Dtype from, Dtype to, Index cell_bytes, Index part);
  ValueId identity(ReduceOp op);
  // Of one element, or of the same part of each where cells are smaller than elements (`whole` false). Sums, products,
  // minima and maxima do not depend on the order; identities drop out; numbers fold to a number.
  ValueId fold(ReduceOp op, std::span<const ValueId> terms, Dtype dtype, bool whole, Index divisor = 1);

  const CellValue& operator[](ValueId id) const { return values_[id]; }
  // Whether a cell that holds `held` holds what is expected: the same origin or, where one of them has none, the same
  // number.
  bool agree(ValueId held, ValueId expected) const;
  // "x[64] of rank 1 in call 2": `windows` give names and shapes, `cell_bytes` how much of each a cell is.
  std::string text(ValueId id, std::span<const WindowSpec> windows, std::span<const Index> cell_bytes,
                   Dtype dtype) const;

 private:
  bool has_origin(ValueId id) const;
  // Nested folds opened, identities dropped.
  std::vector<ValueId> flattened(ReduceOp op, std::span<const ValueId> terms);
  void fold_numbers(ReduceOp op, std::vector<ValueId>& terms, Dtype dtype);
  ValueId cast_fold(const CellValue& fold, Dtype from, Dtype to);
  Interner<CellValue, HashCellValue> values_;
};

// "data[2, 0]" or, where a cell is several elements, "data[2]"; bytes where the shape is not known.
std::string place_text(const WindowSpec& window, Index rank, Index offset, Index cell_bytes);

}  // namespace reshard::explore
