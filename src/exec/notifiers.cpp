#include "exec/notifiers.h"

#include <fmt/format.h>

namespace reshard {
namespace {

constexpr Index kMostNamed = 8;

}  // namespace

std::string notifiers_of(const Program& program, RankId rank, Index at) {
  const auto& own = program.operations[static_cast<std::size_t>(rank.value())];
  if (static_cast<std::size_t>(at) >= own.size()) return {};
  const Operation& wait = own[static_cast<std::size_t>(at)];
  if (wait.code != OpCode::wait) return {};
  std::string named;
  Index count = 0;
  for (Index r = 0; r < program.ranks; ++r) {
    for (const Operation& notify : program.operations[static_cast<std::size_t>(r)]) {
      if (notify.code != OpCode::notify || notify.peer != rank || notify.signal != wait.signal ||
          notify.slot != wait.slot)
        continue;
      if (++count <= kMostNamed) named += fmt::format("{}rank {}: `{}`", named.empty() ? "" : ", ", r, notify.label);
    }
  }
  if (count > kMostNamed) named += fmt::format(" and {} more", count - kMostNamed);
  if (count == 0) return fmt::format("; no rank is known to notify the cell of `{}`", wait.label);
  return fmt::format("; `{}` is for {}", wait.label, named);
}

}  // namespace reshard
