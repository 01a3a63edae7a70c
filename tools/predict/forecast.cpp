#include "predict/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "reshard/error.h"
#include "reshard/rounds.h"

namespace reshard::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Adds up plans and, where they have receivers in common, the schemes.
class Forecaster {
 public:
  explicit Forecaster(const Topology& topology) : topology_(topology), plans_(topology) {
    for (const Scheme scheme : all_schemes()) schemes_.push_back({scheme, LinkTraffic(topology)});
  }

  void add(const Plan& plan, Index tensors) {
    plans_.add(plan, tensors);
    const Certificate certificate = plan.certificate();
    forecast_.sent += certificate.sent * tensors;
    forecast_.needed += certificate.needed * tensors;
    forecast_.tensors += tensors;
    forecast_.bytes += plan.source().bytes() * tensors;
  }

  // Forwarding chooses its senders itself, so plans that differ in their choice share it.
  void add_schemes(const Plan& plan, Index tensors) {
    common_ = common_ || has_common_receivers(plan);
    for (Added& added : schemes_) {
      const Multicast hops = multicast(plan, topology_, added.scheme);
      LinkTraffic alone(topology_);
      add_hops(alone, hops);
      add_hops(added.traffic, hops, tensors);
      added.longest_wait = std::max(added.longest_wait, seconds_of(hops, topology_) - alone.seconds());
      added.messages += tensors * std::ranges::count_if(hops.hops(), [](const Hop& hop) { return !hop.is_local(); });
    }
  }

  Forecast finish() && {
    forecast_.prediction = plans_.prediction();
    if (!common_) return std::move(forecast_);
    for (const Added& added : schemes_) {
      const double busiest = added.traffic.seconds();
      forecast_.schemes.push_back({added.scheme, busiest + added.longest_wait, busiest, added.messages});
    }
    return std::move(forecast_);
  }

 private:
  struct Added {
    Scheme scheme;
    LinkTraffic traffic;
    double longest_wait = 0;
    Index messages = 0;
  };
  const Topology& topology_;
  LinkTraffic plans_;
  std::vector<Added> schemes_;
  bool common_ = false;
  Forecast forecast_;
};

}  // namespace

Forecast forecast_tensor(const Layout& source, const Layout& target, const Topology& topology,
                         const PlanOptions& options, bool rounds) {
  const auto begin = Clock::now();
  const Plan plan = reshard::plan(source, target, options);
  Forecaster forecaster(topology);
  forecaster.add(plan, 1);
  forecaster.add_schemes(plan, 1);
  Forecast forecast = std::move(forecaster).finish();
  if (rounds) {
    const Rounds<RankId> made = rank_rounds(messages_of(plan));
    forecast.rounds = std::ssize(made.rounds);
    forecast.rounds_seconds = seconds_in_rounds(made, topology);
  }
  forecast.source = source.text();
  forecast.target = target.text();
  forecast.planned_in = seconds_since(begin);
  return forecast;
}

Forecast forecast_model(const ModelRequest& request, const Topology& topology, const PlanOptions& options) {
  const ModelSides sides = sides_of(request);
  ModelMoves moves = moves_of(sides);
  if (!moves.pending.empty())
    throw Error(Code::unsupported, fmt::format("tensor '{}' is a pending reduction: reduce it first",
                                               moves.pending.begin()->second.front()));
  const auto begin = Clock::now();
  const BatchPlan batch(std::move(moves.batch), {.plan = options});
  std::map<std::pair<int, int>, Index> tensors;  // by layouts, whatever their turn
  for (const BatchClass& c : batch.classes()) tensors[{c.source, c.target}] += c.count;
  Forecaster forecaster(topology);
  for (const BatchClass& c : batch.classes()) {
    const Plan plan = batch.plan(c);
    forecaster.add(plan, c.count);
    if (const auto all = tensors.extract({c.source, c.target}); !all.empty())
      forecaster.add_schemes(plan, all.mapped());
  }
  Forecast forecast = std::move(forecaster).finish();
  forecast.model = true;
  forecast.source = sides.source_text;
  forecast.target = sides.target_text;
  forecast.planned_in = seconds_since(begin);
  return forecast;
}

const SchemeForecast& fastest(const Forecast& forecast) {
  return *std::ranges::min_element(forecast.schemes, {}, &SchemeForecast::seconds);
}

}  // namespace reshard::cli
