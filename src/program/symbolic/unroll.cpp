#include "reshard/unroll.h"

#include <algorithm>

#include "base/fail.h"
#include "program/symbolic/unroller.h"

namespace reshard {
namespace {

// They take some 5 GB.
constexpr std::size_t kMostOperations = std::size_t{1} << 24;

// What casts pass through, where there are any.
void add_scratch(Program& program, std::vector<Index> bytes) {
  if (std::ranges::all_of(bytes, [](Index n) { return n == 0; })) return;
  program.windows.push_back({.name = "scratch", .bytes = std::move(bytes), .role = BufferRole::local});
}

}  // namespace

Program unroll(const SymbolicProgram& symbolic, const UnrollOptions& options) {
  const auto placed = std::make_shared<const PlacedProgram>(symbolic, options);
  Program program{
      .name = symbolic.name, .ranks = options.ranks, .windows = placed->windows(), .signals = placed->signals()};
  program.operations.resize(static_cast<std::size_t>(options.ranks));
  std::vector<Index> scratch(static_cast<std::size_t>(options.ranks), 0);
  std::size_t operations = 0;
  for (Index r = 0; r < options.ranks; ++r) {
    if (options.only && *options.only != RankId(r)) continue;
    Unroller unroller(placed, RankId(r), program.operations[static_cast<std::size_t>(r)]);
    Scope scope = placed->scope_of(RankId(r));
    unroller.walk(placed->program().body, 0, scope);
    scratch[static_cast<std::size_t>(r)] = unroller.scratch_bytes();
    operations += program.operations[static_cast<std::size_t>(r)].size();
    if (operations > kMostOperations)
      fail(Code::unsupported,
           "program {}: more than {} operations in a call of {} ranks; take fewer ranks, or smaller sizes",
           symbolic.name, kMostOperations, options.ranks);
  }
  add_scratch(program, std::move(scratch));
  return program;
}

}  // namespace reshard
