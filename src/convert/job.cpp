#include "convert/job.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/ranges.h>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard::convert_detail {
namespace {

constexpr Index kUnitBytes = Index{16} << 20;  // large enough to pay for claiming it, small enough to share a file

std::vector<TensorInfo> logical_tensors(const ModelLayout& model) {
  std::vector<TensorInfo> tensors;
  for (const ModelTensor& tensor : model.tensors()) tensors.push_back(tensor.tensor);
  return tensors;
}

ResolveSettings with_config(ResolveSettings settings, const Checkpoint& checkpoint) {
  if (settings.config.empty()) settings.config = checkpoint.config_text();
  return settings;
}

ModelLayout target_layout(const ConvertRequest& request, const Checkpoint& checkpoint, const ModelLayout& from) {
  const std::vector<TensorInfo> tensors = logical_tensors(from);
  if (!request.to) return whole_tensors(tensors);
  return resolve(*request.to, tensors, with_config(request.to_settings, checkpoint));
}

// Every stored tensor of every rank is in the source with the shape that its layout says.
void check_source(const Checkpoint& checkpoint, const ModelLayout& from) {
  for (Index ordinal = 0; ordinal < from.mesh().size(); ++ordinal) {
    const RankId rank = from.mesh().rank_at_ordinal(ordinal);
    for (const TensorInfo& expected : from.stored_on(rank)) {
      const CheckpointTensor* found = checkpoint.find(expected.name, rank);
      if (!found)
        fail(Code::corrupt, "{}: tensor {} of rank {} is missing", checkpoint.folder(), expected.name, rank.value());
      if (found->tensor == expected) continue;
      fail(Code::corrupt, "{}: tensor {} of rank {} is {}[{}], but its layout says {}[{}]",
           checkpoint.path_of(found->file), expected.name, rank.value(), name_of(found->tensor.dtype),
           fmt::join(found->tensor.shape, ","), name_of(expected.dtype), fmt::join(expected.shape, ","));
    }
  }
}

std::vector<int> match_tensors(const ModelLayout& from, const ModelLayout& to) {
  std::vector<int> source;
  for (const ModelTensor& tensor : to.tensors()) {
    const ModelTensor* found = from.find(tensor.tensor.name);
    if (!found) fail(Code::invalid_argument, "tensor {} is in the target but not in the source", tensor.tensor.name);
    source.push_back(static_cast<int>(found - from.tensors().data()));
  }
  return source;
}

void add_units(Job& job, int stored, RankId rank, const OutputPlace& place) {
  const StoredTensor& tensor = job.to.stored()[static_cast<std::size_t>(stored)];
  const Index size = element_bytes(job.to, tensor);
  const std::vector<Index> shape = job.to.local_shape(tensor, rank);
  for (LocalBox& box : split(whole_box(shape), std::max<Index>(1, kUnitBytes / size))) {
    const Index offset = place.offset + linear_begin(box, shape) * size;
    const Index bytes = box.elements() * size;
    job.units[static_cast<std::size_t>(place.file)].push_back(
        {place.file, stored, rank, std::move(box), offset, bytes});
  }
}

// Rules that are given for a folder that says itself how it lies must say the same.
void check_agreement(const Checkpoint& checkpoint, const ModelLayout& said, const ModelRules& rules,
                     const ResolveSettings& settings) {
  const ModelLayout given = resolve(rules, logical_tensors(said), settings);
  const auto contradicts = [&](std::string_view what, std::string_view rules_say, std::string_view folder_says) {
    fail(Code::invalid_argument, "{} of {}: {} says {}, but {} says {}; leave --from out, or convert to it with --to",
         what, checkpoint.folder(), rules.source, rules_say, kManifestName, folder_says);
  };
  for (const ModelTensor& tensor : said.tensors()) {
    const std::string here = given.layout(*given.find(tensor.tensor.name)).text(), there = said.layout(tensor).text();
    if (here != there) contradicts("tensor " + tensor.tensor.name, here, there);
  }
  for (const StoredTensor& stored : said.stored()) {
    const StoredTensor& other = given.stored()[static_cast<std::size_t>(
        given.find(said.tensors()[static_cast<std::size_t>(stored.parts.front())].tensor.name)->stored)];
    if (stored.name != other.name) contradicts("stored tensor", other.name, stored.name);
  }
}

// The output must not become part of the source, nor be it: folders beside the weights are carried along.
void refuse_inside(const std::string& out, const std::string& source) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(source, error)) return;
  const fs::path folder = fs::canonical(source, error), inside = fs::weakly_canonical(out + ".partial", error);
  const auto [at, end] = std::mismatch(folder.begin(), folder.end(), inside.begin(), inside.end());
  if (at == folder.end())
    fail(Code::invalid_argument, "{} lies in the source folder {}; give an output outside it", out, source);
}

void refuse_mesh_alone(const std::optional<ModelRules>& rules, const ResolveSettings& settings, std::string_view side) {
  if (settings.mesh && !rules)
    fail(Code::invalid_argument, "--{0}-mesh {1} needs rules: give --{0} FILE as well", side, settings.mesh->text());
}

// Files hold values: a term alone means nothing to who reads it, and nothing here reduces.
void refuse_partial(const ModelLayout& model, std::string_view side) {
  for (const ModelTensor& tensor : model.tensors())
    if (model.layout(tensor).has_partial())
      fail(Code::unsupported, "tensor {} of the {} is partial ({}); files hold values, not terms: reduce it first",
           tensor.tensor.name, side, model.layout(tensor).text());
}

void lay_out_units(Job& job) {
  job.units.resize(job.output.files().size());
  for (Index ordinal = 0; ordinal < job.to.mesh().size(); ++ordinal) {
    const RankId rank = job.to.mesh().rank_at_ordinal(ordinal);
    for (int stored = 0; stored < std::ssize(job.to.stored()); ++stored)
      if (const auto place = job.output.find(job.to.stored()[static_cast<std::size_t>(stored)].name, rank))
        add_units(job, stored, rank, *place);
  }
  for (std::vector<Unit>& of_file : job.units) std::ranges::sort(of_file, {}, &Unit::file_offset);
}

}  // namespace

Index element_bytes(const ModelLayout& model, const StoredTensor& stored) {
  return bytes_of(model.tensors()[static_cast<std::size_t>(stored.parts.front())].tensor.dtype);
}

Job make_job(const ConvertRequest& request) {
  refuse_mesh_alone(request.from, request.from_settings, "from");
  refuse_mesh_alone(request.to, request.to_settings, "to");
  refuse_inside(request.out, request.source);
  Checkpoint checkpoint = open_checkpoint(request.source);
  ModelLayout from = source_layout(checkpoint, request.from ? &*request.from : nullptr,
                                   with_config(request.from_settings, checkpoint));
  if (request.from && checkpoint.manifest())
    check_agreement(checkpoint, from, *request.from, with_config(request.from_settings, checkpoint));
  check_source(checkpoint, from);
  ModelLayout to = target_layout(request, checkpoint, from);
  refuse_partial(from, "source");
  refuse_partial(to, "target");
  std::vector<int> source_tensor = match_tensors(from, to);
  CheckpointOutput output = checkpoint_output(to, checkpoint.origin(), {.max_file_bytes = request.max_file_bytes});
  Job job{std::move(checkpoint),    std::move(from), std::move(to), std::move(output), {},
          std::move(source_tensor), request.plan};
  lay_out_units(job);
  return job;
}

Units unfinished(Units units, const std::vector<bool>& finished) {
  for (std::size_t file = 0; file < finished.size(); ++file)
    if (finished[file]) units[file].clear();
  return units;
}

Index count(const Units& units) {
  Index count = 0;
  for (const std::vector<Unit>& of_file : units) count += std::ssize(of_file);
  return count;
}

Index bytes_of(const Units& units) {
  Index bytes = 0;
  for (const std::vector<Unit>& of_file : units)
    for (const Unit& unit : of_file) bytes += unit.bytes;
  return bytes;
}

void account(const Job& job, ConvertReport& report) {
  std::map<std::pair<int, int>, Index> classes;  // tensors by their two layouts
  for (std::size_t k = 0; k < job.to.tensors().size(); ++k) {
    const ModelTensor& source = job.from.tensors()[static_cast<std::size_t>(job.source_tensor[k])];
    ++classes[{source.layout, job.to.tensors()[k].layout}];
  }
  for (const auto& [layouts, tensors] : classes) {
    const Certificate certificate = plan(job.from.layouts()[static_cast<std::size_t>(layouts.first)],
                                         job.to.layouts()[static_cast<std::size_t>(layouts.second)], job.plan)
                                        .certificate();
    report.moved += certificate.sent * tensors;
    report.needed += certificate.needed * tensors;
    report.in_place += certificate.copied * tensors;
  }
  report.tensors = std::ssize(job.to.tensors());
  report.files = std::ssize(job.output.files());
  report.bytes = bytes_of(job.units);
}

}  // namespace reshard::convert_detail
