#include "reshard/plan.h"

#include <algorithm>

#include "base/fail.h"
#include "plan/planner.h"

namespace reshard {

Index Transfer::elements() const {
  Index elements = 1;
  for (const std::vector<Span>& spans : dims) {
    Index along = 0;
    for (const Span& span : spans) along += span.length;
    elements *= along;
  }
  return elements;
}

Index Transfer::boxes() const {
  Index boxes = 1;
  for (const std::vector<Span>& spans : dims) boxes *= static_cast<Index>(spans.size());
  return boxes;
}

namespace {

constexpr Index kGreatestPlan = Index{1} << 26;  // ranks of a whole plan

void check_size(const Layout& layout) {
  if (layout.mesh().size() > kGreatestPlan)
    fail(Code::unsupported,
         "{}: a whole plan lists every rank, at most {}; ask for the transfers of one rank (plan_receives, plan_sends)",
         layout.text(), kGreatestPlan);
}

}  // namespace

Plan::Plan(Layout source, Layout target, PlanOptions options, std::vector<Transfer> transfers)
    : source_(std::move(source)), target_(std::move(target)), options_(options), transfers_(std::move(transfers)) {
  check_size(source_);
  check_size(target_);
}

bool operator==(const Plan& a, const Plan& b) {
  return a.source_ == b.source_ && a.target_ == b.target_ && a.options_ == b.options_ && a.transfers_ == b.transfers_;
}

Plan plan(const Layout& source, const Layout& target, const PlanOptions& options) {
  Planner planner(source, target, options);
  check_size(target);
  std::vector<RankId> ranks;
  for (Index ordinal = 0; ordinal < target.mesh().size(); ++ordinal)
    ranks.push_back(target.mesh().rank_at_ordinal(ordinal));
  std::ranges::sort(ranks);
  std::vector<Transfer> transfers;
  for (const RankId rank : ranks)
    for (Transfer& transfer : planner.receives(rank)) transfers.push_back(std::move(transfer));
  return Plan(source, target, options, std::move(transfers));
}

}  // namespace reshard
