#include "explain/explained.h"

#include <fmt/format.h>

namespace reshard::cli {

Explained explained(const Layout& source, const std::optional<Layout>& target, const PlanOptions& options) {
  Explained result{.source = Cutting(source)};
  if (!target) return result;
  for (const Layout* side : {&source, &*target})
    if (side->has_partial())
      throw Error(Code::unsupported, fmt::format("{} is partial: terms have no place in the picture of a move; reshard "
                                                 "plan shows what is sent, --m2m and --trace the map of its cells",
                                                 side->text()));
  Cutting target_cutting(*target);
  Plan made = plan(source, *target, options);
  CommonGrid grid = common_grid(result.source, target_cutting);
  Certificate certificate = made.certificate();
  result.move = Move{std::move(target_cutting), std::move(grid), std::move(made), std::move(certificate)};
  return result;
}

}  // namespace reshard::cli
