// F3: rows whose place in a table, in elements, does not fit 32 bits. As operations, without the table.
#include <gtest/gtest.h>

#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

// Memory as if every rank sent one row, the last of the table, to each other.
class OneFarRow final : public MemoryReader {
 public:
  explicit OneFarRow(const Program& program) : program_(program) {}
  Index integer(int window, Index, Dtype) override {
    const std::string& name = program_.windows[static_cast<std::size_t>(window)].name;
    return name == "index" ? 239674 : name.ends_with("counts") ? 1 : 0;
  }

 private:
  const Program& program_;
};

void collect_puts(const Operation& operation, MemoryReader& memory, std::vector<Operation>& puts) {
  if (operation.code == OpCode::put) puts.push_back(operation);
  if (operation.code != OpCode::deferred) return;
  std::vector<Operation> operations;
  operation.deferred->expand(memory, operations);
  for (const Operation& one : operations) collect_puts(one, memory, puts);
}

TEST(CaseF, F3_PlacesBeyond32BitsInIndexedRows) {
  const SymbolicProgram program = parse_program(R"(
program far
size rows = 262144
size h = 8960
size c = 131072
input x : f32[rows, h]
input index : i32[P, c]
output received : i32[P]
window target : f32[P * c, h]
window send_counts : i32[P]
signal met[P]

indexed_all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, index = index, signal = met)
)");
  const Program unrolled = unroll(lower(program), {.ranks = 4, .only = RankId(3)});
  OneFarRow memory(unrolled);
  std::vector<Operation> puts;
  for (const Operation& operation : unrolled.operations[3]) collect_puts(operation, memory, puts);
  ASSERT_EQ(puts.size(), 3u);
  for (const Operation& put : puts) {
    ASSERT_EQ(put.blocks.size(), 1u) << put.label;
    EXPECT_EQ(put.blocks[0].source_offset / 4, 2147479040) << put.label;
    EXPECT_EQ((put.blocks[0].source_offset + put.blocks[0].bytes()) / 4 - 1, 2147487999) << put.label;
    EXPECT_EQ(put.blocks[0].target_offset, Index{3} * 131072 * 8960 * 4) << put.label;
  }
}

}  // namespace
}  // namespace reshard
