#include "explain/explained.h"

namespace reshard::cli {

Explained explained(const Layout& source, const std::optional<Layout>& target, const PlanOptions& options) {
  Explained result{.source = Cutting(source)};
  if (!target) return result;
  Cutting target_cutting(*target);
  Plan made = plan(source, *target, options);
  CommonGrid grid = common_grid(result.source, target_cutting);
  Certificate certificate = made.certificate();
  result.move = Move{std::move(target_cutting), std::move(grid), std::move(made), std::move(certificate)};
  return result;
}

}  // namespace reshard::cli
