// Planning of a whole model: one rank's part of all tensors, and the certificate of the whole fleet.
//
// batch_bench SHAPES.tsv CONFIG.json FROM.yaml FROM_MESH TO.yaml TO_MESH [RANKS], one JSON object. `rank_ms` is the
// slowest of RANKS ranks of either side, each the median of five: classes from the layouts of all tensors, and the
// rank's transfers. Files are read before; times are those of the processor. A certificate above the lower bound ends
// with status 1.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

#include "reshard/batch_plan.h"
#include "reshard/checkpoint.h"
#include "reshard/model.h"

namespace reshard {
namespace {

// Of the processor: all is computed by one thread, in memory.
template <class Work>
double seconds_of(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(Code::io, path + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

ModelLayout resolved(const char* rules, const char* on, const std::string& config, const TensorList& list) {
  ResolveSettings settings;
  settings.config = config;
  settings.mesh = mesh(on);
  return resolve(load_model_rules(rules), list.tensors, settings);
}

Batch batch_of(const ModelLayout& source, const ModelLayout& target) {
  Batch batch{.sources = source.layouts(), .targets = target.layouts(), .tensors = {}};
  for (const ModelTensor& tensor : source.tensors()) {
    const ModelTensor* other = target.find(tensor.tensor.name);
    if (other == nullptr) throw Error(Code::invalid_argument, tensor.tensor.name + " has no place in the target");
    batch.tensors.push_back({tensor.tensor.name, tensor.layout, other->layout});
  }
  return batch;
}

double median_of_five(const Batch& batch, RankId rank) {
  std::vector<double> seconds;
  for (int k = 0; k < 5; ++k) {
    Batch own = batch;
    seconds.push_back(seconds_of([&] { BatchPlan(std::move(own)).of_rank(rank); }));
  }
  std::ranges::sort(seconds);
  return seconds[2];
}

// `count` ranks of a mesh, evenly spread, first and last among them.
double slowest(const Batch& batch, const Mesh& mesh, Index count) {
  double seconds = 0;
  for (Index k = 0; k < count; ++k)
    seconds = std::max(
        seconds, median_of_five(batch, mesh.rank_at_ordinal(k * (mesh.size() - 1) / std::max<Index>(count - 1, 1))));
  return seconds;
}

int run(char** argv, Index ranks) {
  const TensorList list = load_tensor_list(argv[1]);
  const std::string config = text_of(argv[2]);
  const ModelLayout source = resolved(argv[3], argv[4], config, list),
                    target = resolved(argv[5], argv[6], config, list);
  const Batch batch = batch_of(source, target);
  const BatchPlan plan(batch);
  BatchCertificate certificate;
  const double rank = std::max(slowest(batch, source.mesh(), ranks), slowest(batch, target.mesh(), ranks));
  const double fleet = seconds_of([&] { certificate = plan.certificate(); });
  fmt::print(
      R"({{"tensors": {}, "classes": {}, "source_ranks": {}, "target_ranks": {}, "rank_ms": {:.1f}, "fleet_s": {:.2f}, )"
      R"("sent": {}, "needed": {}, "transfers": {}, "messages": {}, "pairs": {}, "peak_staging": {}, )"
      R"("imbalance_out": {:.3f}}})"
      "\n",
      plan.tensors().size(), plan.classes().size(), source.mesh().size(), target.mesh().size(), 1e3 * rank, fleet,
      certificate.totals.sent, certificate.totals.needed, certificate.transfers, certificate.totals.messages,
      certificate.pairs.size(), certificate.totals.peak_staging, certificate.totals.imbalance_out);
  return certificate.totals.optimal() ? 0 : 1;
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fputs("batch_bench SHAPES.tsv CONFIG.json FROM.yaml FROM_MESH TO.yaml TO_MESH [RANKS]\n", stderr);
    return 2;
  }
  try {
    return reshard::run(argv, argc > 7 ? std::max(1, std::atoi(argv[7])) : 4);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "batch_bench: %s\n", error.what());
    return 1;
  }
}
