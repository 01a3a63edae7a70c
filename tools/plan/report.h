// The bytes of many plans added up, and how they are shown.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reshard/batch_plan.h"
#include "reshard/plan.h"
#include "reshard/relabel.h"
#include "reshard/rounds.h"

namespace reshard::cli {

// Sums over tensors. Confined.
class Totals {
 public:
  // `times` tensors of this layout move; what they send is added plan by plan.
  void count(const Layout& source, Index times);
  void add(const Plan& plan, const Certificate& certificate, Index times);
  // All tensors of a batch.
  void add(const BatchPlan& plan, const BatchCertificate& certificate);

  Index sent = 0, needed = 0, copied = 0;
  Index messages = 0;  // one per tensor and pair of ranks
  Index tensors = 0;
  Index tensor_bytes = 0;
  std::map<RankId, RankBytes> ranks;
  std::map<std::pair<RankId, RankId>, Index> pairs;  // bytes sent from, to

  // One message per pair of ranks.
  std::vector<RankMessage> packed() const;
  // Greatest sent (received) by a rank / mean over the ranks of the source (target) mesh.
  double imbalance(Index RankBytes::*bytes, Index ranks_of_side) const;
  // The ranks with the most, `count` at most, none with 0.
  std::vector<RankBytes> busiest(Index RankBytes::*bytes, std::size_t count) const;
};

// Ranks of one mesh or the other: in two stages both receive.
Index ranks_of_either(const Mesh& a, const Mesh& b);

// One of the plans that together move one tensor.
struct StageReport {
  std::string target;
  Index sent = 0, needed = 0, messages = 0;
};

// What packing the small transfers of a model makes of its messages.
struct PackingReport {
  Index messages = 0;
  Index pack_below = 0;
  Index peak_staging = 0;
  Index staging_limit = 0;
};

struct PlanReport {
  std::string source, target;  // layouts, or models and meshes
  Totals totals = {};
  Index source_ranks = 0, target_ranks = 0;
  Index distinct = 0;                    // moves planned
  bool staged = false;                   // a pending value is scattered first: two plans, each with its own bound
  std::vector<StageReport> stages = {};  // of one tensor
  Index peak_staging = 0;
  double seconds = 0;  // for all of them
  std::string policy = {};
  bool model = false;
  bool verified = false;
  double verify_seconds = 0;
  std::vector<std::string> faults = {};
  std::string target_given = {};  // before relabelling
  std::optional<Relabelling> relabelled = {};
  std::optional<PackingReport> packing = {};
  std::optional<Rounds<RankId>> rounds = {};  // of messages packed per pair of ranks
  std::optional<Rounds<HostId>> host_rounds = {};
};

std::string report_text(const PlanReport& report, bool matrix, Index ranks_per_host);
std::string report_json(const PlanReport& report, bool matrix);
// Rank by rank up to 32 ranks on a side, group by group above.
std::string matrix_text(const Totals& totals, Index ranks_per_host);

}  // namespace reshard::cli
