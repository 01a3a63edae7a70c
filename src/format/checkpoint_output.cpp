#include "reshard/checkpoint_output.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.h"
#include "base/fail.h"
#include "format/checkpoint_index.h"

namespace reshard {

namespace {

OutputFile output_file(std::string name, RankId rank, SafetensorsHeader header) {
  const Index bytes = header.file_bytes();
  return {std::move(name), rank, std::move(header), bytes};
}

CheckpointOutput rank_files(const ModelLayout& model, const std::optional<Origin>& origin) {
  std::vector<OutputFile> files;
  for (Index i = 0; i < model.mesh().size(); ++i) {
    const RankId rank = model.mesh().rank_at_ordinal(i);
    files.push_back(output_file(rank_file_name(model.mesh(), rank), rank, rank_file_header(model, rank)));
  }
  std::vector<OutputText> texts = {{std::string(kManifestName), manifest_text(make_manifest(model, origin))}};
  return {std::move(files), std::move(texts), origin ? origin->side_files : std::vector<std::string>()};
}

// True if the files hold exactly these tensors, each once.
bool holds_exactly(const std::vector<OutputFile>& files, const std::vector<TensorInfo>& tensors) {
  std::map<std::string_view, const TensorInfo*> wanted;
  for (const TensorInfo& tensor : tensors) wanted.emplace(tensor.name, &tensor);
  for (const OutputFile& file : files) {
    for (const FileTensor& tensor : file.header.tensors) {
      const auto found = wanted.find(tensor.tensor.name);
      if (found == wanted.end() || *found->second != tensor.tensor) return false;
      wanted.erase(found);
    }
  }
  return wanted.empty();
}

std::optional<CheckpointOutput> origin_files(const Origin& origin, const std::vector<TensorInfo>& tensors,
                                             RankId rank) {
  std::vector<OutputFile> files;
  for (const OriginFile& file : origin.files) {
    files.push_back(output_file(file.name, rank, parse_safetensors_text(file.header_text, file.name)));
  }
  if (files.empty() || !holds_exactly(files, tensors)) return std::nullopt;
  std::vector<OutputText> texts;
  if (!origin.index_text.empty()) texts.push_back({std::string(kIndexName), origin.index_text});
  return CheckpointOutput(std::move(files), std::move(texts), origin.side_files);
}

// Consecutive runs of tensors that fit in one file; a tensor larger than that has a file of its own.
std::vector<std::vector<TensorInfo>> split_by_size(const std::vector<TensorInfo>& tensors, Index max_bytes) {
  std::vector<std::vector<TensorInfo>> groups(1);
  Index bytes = 0;
  for (const TensorInfo& tensor : tensors) {
    const Index more = bytes_of(tensor);
    if (!groups.back().empty() && more > max_bytes - bytes) {
      groups.emplace_back();
      bytes = 0;
    }
    bytes = checked_add(bytes, more, "bytes of a file");
    groups.back().push_back(tensor);
  }
  return groups;
}

CheckpointOutput new_files(const std::vector<TensorInfo>& tensors, RankId rank, const std::optional<Origin>& origin,
                           const OutputSettings& settings) {
  std::vector<std::vector<TensorInfo>> groups = split_by_size(tensors, settings.max_file_bytes);
  std::vector<OutputFile> files;
  CheckpointIndex index{.entries = {}, .total_bytes = 0};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string name = groups.size() == 1 ? "model.safetensors"
                                                : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, groups.size());
    sort_as_reference(groups[i]);
    for (const TensorInfo& tensor : groups[i]) {
      index.entries.push_back({tensor.name, name});
      index.total_bytes = checked_add(*index.total_bytes, bytes_of(tensor), "bytes of the checkpoint");
    }
    files.push_back(output_file(name, rank, safetensors_header(groups[i], {{"format", "pt"}})));
  }
  std::vector<OutputText> texts;
  if (groups.size() > 1) texts.push_back({std::string(kIndexName), index_text(std::move(index))});
  return {std::move(files), std::move(texts), origin ? origin->side_files : std::vector<std::string>()};
}

}  // namespace

CheckpointOutput::CheckpointOutput(std::vector<OutputFile> files, std::vector<OutputText> texts,
                                   std::vector<std::string> side_files)
    : files_(std::move(files)), texts_(std::move(texts)), side_files_(std::move(side_files)) {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    for (std::size_t t = 0; t < files_[f].header.tensors.size(); ++t) {
      entries_.push_back({static_cast<int>(f), static_cast<int>(t)});
    }
  }
  const auto key = [this](const Entry& e) {
    return std::pair(std::string_view(tensor_of(e).tensor.name), files_[static_cast<std::size_t>(e.file)].rank);
  };
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
}

const FileTensor& CheckpointOutput::tensor_of(const Entry& entry) const {
  return files_[static_cast<std::size_t>(entry.file)].header.tensors[static_cast<std::size_t>(entry.tensor)];
}

std::optional<OutputPlace> CheckpointOutput::find(std::string_view stored_name, RankId rank) const {
  const auto key = [this](const Entry& e) {
    return std::pair(std::string_view(tensor_of(e).tensor.name), files_[static_cast<std::size_t>(e.file)].rank);
  };
  const std::pair wanted(stored_name, rank);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), wanted,
                                      [&](const Entry& e, const auto& w) { return key(e) < w; });
  if (found == entries_.end() || key(*found) != wanted) return std::nullopt;
  const FileTensor& tensor = tensor_of(*found);
  return OutputPlace{.file = found->file,
                     .offset = files_[static_cast<std::size_t>(found->file)].header.data_begin() + tensor.begin,
                     .bytes = tensor.end - tensor.begin};
}

CheckpointOutput checkpoint_output(const ModelLayout& model, const std::optional<Origin>& origin,
                                   const OutputSettings& settings) {
  if (model.form() == Form::ranks) return rank_files(model, origin);
  const RankId rank = model.mesh().rank_at_ordinal(0);
  const std::vector<TensorInfo> tensors = model.stored_on(rank);
  if (origin) {
    if (auto files = origin_files(*origin, tensors, rank)) return std::move(*files);
  }
  return new_files(tensors, rank, origin, settings);
}

}  // namespace reshard
