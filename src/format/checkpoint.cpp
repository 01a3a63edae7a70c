#include "reshard/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "base/checked.h"
#include "base/fail.h"
#include "format/checkpoint_index.h"
#include "format/text_file.h"

namespace reshard {

namespace fs = std::filesystem;

namespace {

constexpr Index kMaxIndexBytes = 256 << 20;
constexpr Index kMaxConfigBytes = 16 << 20;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Weights in another form, or files of this form that the checkpoint does not use: not carried along.
bool is_weights(const fs::path& path) {
  static const std::set<std::string> extensions = {".safetensors", ".bin",     ".pt",   ".pth", ".gguf",
                                                   ".h5",          ".msgpack", ".onnx", ".ot",  ".partial"};
  return extensions.contains(path.extension().string());
}

}  // namespace

class CheckpointReader {
 public:
  Checkpoint read(const std::string& path) {
    const bool file = is_file(path);
    fs::path folder = file ? fs::path(path).parent_path() : fs::path(path);
    if (folder.empty()) folder = ".";
    out_.folder_ = folder.string();
    if (file) {
      read_single(fs::path(path).filename().string());
    } else {
      read_folder(path);
    }
    sort_names();
    return std::move(out_);
  }

 private:
  fs::path in_folder(std::string_view name) const { return fs::path(out_.folder_) / name; }

  void read_folder(const std::string& path) {
    if (!fs::is_directory(path)) fail(Code::io, "{}: no such file or folder", path);
    if (is_file(in_folder("config.json"))) {
      out_.config_text_ = read_text_file(in_folder("config.json").string(), kMaxConfigBytes);
    }
    if (is_file(in_folder(kManifestName))) {
      read_ranks();
    } else if (is_file(in_folder(kIndexName))) {
      read_indexed();
    } else if (is_file(in_folder("model.safetensors"))) {
      read_single("model.safetensors");
    } else {
      fail(Code::io, "{}: none of {}, {} and model.safetensors is there", path, kManifestName, kIndexName);
    }
    list_side_files();
  }

  void read_single(const std::string& name) {
    add_file(name, SafetensorsFile::open(in_folder(name).string()).header());
  }

  void add_file(const std::string& name, const SafetensorsHeader& header, RankId rank = RankId(0)) {
    const int file = static_cast<int>(out_.files_.size());
    out_.files_.push_back({name, header.text, header.file_bytes(), rank});
    for (const FileTensor& tensor : header.tensors) {
      out_.tensors_.push_back({tensor.tensor, file, header.data_begin() + tensor.begin});
    }
  }

  void read_indexed() {
    out_.kind_ = Checkpoint::Kind::index;
    const std::string path = in_folder(kIndexName).string();
    out_.index_text_ = read_text_file(path, kMaxIndexBytes);
    const CheckpointIndex index = parse_index(out_.index_text_, path);
    std::map<std::string, std::string> first_tensor;  // of each file, by name
    std::unordered_map<std::string_view, std::string_view> file_of;
    for (const IndexEntry& entry : index.entries) {
      first_tensor.emplace(entry.file, entry.tensor);
      file_of.emplace(entry.tensor, entry.file);
    }
    for (const auto& [file, tensor] : first_tensor) {
      if (!is_file(in_folder(file))) {
        fail(Code::corrupt, "{}: the file {} is missing; tensor '{}' should be in it", path, file, tensor);
      }
      read_single(file);
    }
    check_index(index, file_of, path);
  }

  void check_index(const CheckpointIndex& index, std::unordered_map<std::string_view, std::string_view> file_of,
                   const std::string& path) const {
    Index total = 0;
    for (const CheckpointTensor& tensor : out_.tensors_) {
      const std::string& name = tensor.tensor.name;
      const std::string& file = out_.files_[static_cast<std::size_t>(tensor.file)].name;
      const auto entry = file_of.find(name);
      if (entry == file_of.end()) {
        fail(Code::corrupt, "{}: tensor '{}' is in {}, but {}", path, name, file, missing_reason(index, name));
      }
      if (entry->second != file) {
        fail(Code::corrupt, "{}: tensor '{}' is in {}, but the index looks for it in {}", path, name, file,
             entry->second);
      }
      file_of.erase(entry);
      total = checked_add(total, bytes_of(tensor.tensor), "bytes of the checkpoint");
    }
    for (const IndexEntry& entry : index.entries) {
      if (file_of.contains(entry.tensor)) {
        fail(Code::corrupt, "{}: tensor '{}' is not in its file {}", path, entry.tensor, entry.file);
      }
    }
    if (index.total_bytes && *index.total_bytes != total) {
      fail(Code::corrupt, "{}: total_size is {}, but the tensors are {} bytes", path, *index.total_bytes, total);
    }
  }

  // Entries are taken out as they are met, so a name that is in the index was met before.
  static std::string_view missing_reason(const CheckpointIndex& index, const std::string& name) {
    const auto listed = [&](const IndexEntry& entry) { return entry.tensor == name; };
    return std::any_of(index.entries.begin(), index.entries.end(), listed) ? "another file holds it too"
                                                                           : "the index does not list it";
  }

  void read_ranks() {
    out_.kind_ = Checkpoint::Kind::ranks;
    out_.manifest_ = load_manifest(out_.folder_);
    for (const RankFile& file : out_.manifest_->files) {
      add_file(file.name, open_rank_file(out_.folder_, *out_.manifest_, file.rank).header(), file.rank);
    }
  }

  void list_side_files() {
    std::set<std::string> own = {std::string(kIndexName), std::string(kManifestName)};
    for (auto entry = fs::recursive_directory_iterator(out_.folder_); entry != fs::recursive_directory_iterator();
         ++entry) {
      const fs::path& path = entry->path();
      const bool hidden = path.filename().string().starts_with('.');
      if (hidden && entry->is_directory()) entry.disable_recursion_pending();
      if (hidden || !entry->is_regular_file() || is_weights(path)) continue;
      const std::string name = path.lexically_relative(out_.folder_).generic_string();
      if (!own.contains(name)) out_.side_files_.push_back(name);
    }
    std::sort(out_.side_files_.begin(), out_.side_files_.end());
  }

  void sort_names() {
    out_.by_name_.resize(out_.tensors_.size());
    std::iota(out_.by_name_.begin(), out_.by_name_.end(), 0);
    std::sort(out_.by_name_.begin(), out_.by_name_.end(), [this](int a, int b) {
      const CheckpointTensor &x = out_.tensors_[static_cast<std::size_t>(a)],
                             &y = out_.tensors_[static_cast<std::size_t>(b)];
      return x.tensor.name != y.tensor.name ? x.tensor.name < y.tensor.name : x.file < y.file;
    });
  }

  Checkpoint out_;
};

Checkpoint open_checkpoint(const std::string& path) { return CheckpointReader().read(path); }

std::string Checkpoint::path_of(int file) const {
  return (fs::path(folder_) / files_.at(static_cast<std::size_t>(file)).name).string();
}

std::vector<TensorInfo> Checkpoint::infos() const {
  std::vector<TensorInfo> out;
  for (const CheckpointTensor& tensor : tensors_) out.push_back(tensor.tensor);
  return out;
}

const CheckpointTensor* Checkpoint::find(std::string_view name) const {
  if (kind_ == Kind::ranks) {
    fail(Code::invalid_argument, "{}: every rank has its own part of '{}'; say which rank", folder_, name);
  }
  return find(name, RankId(0));
}

const CheckpointTensor* Checkpoint::find(std::string_view name, RankId rank) const {
  const auto at = [this](int place) -> const CheckpointTensor& { return tensors_[static_cast<std::size_t>(place)]; };
  auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                [&](int place, std::string_view n) { return at(place).tensor.name < n; });
  for (; found != by_name_.end() && at(*found).tensor.name == name; ++found) {
    if (kind_ != Kind::ranks || files_[static_cast<std::size_t>(at(*found).file)].rank == rank) return &at(*found);
  }
  return nullptr;
}

std::optional<Origin> Checkpoint::origin() const {
  if (manifest_) return manifest_->origin;
  Origin origin{.files = {}, .index_text = index_text_, .side_files = side_files_};
  for (const CheckpointFile& file : files_) origin.files.push_back({file.name, file.header_text});
  return origin;
}

ModelLayout source_layout(const Checkpoint& checkpoint, const ModelRules* rules, ResolveSettings settings) {
  if (checkpoint.manifest()) return checkpoint.manifest()->model;
  if (rules == nullptr) return whole_tensors(checkpoint.infos());
  if (settings.config.empty()) settings.config = checkpoint.config_text();
  settings.form = Form::files;
  return resolve(*rules, checkpoint.infos(), settings);
}

}  // namespace reshard
