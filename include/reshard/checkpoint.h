// A checkpoint on disk: which tensors, in which files, at which bytes.
//
//   Checkpoint c = open_checkpoint("llama/");     // or one .safetensors file, or a folder that `reshard convert` wrote
//   for (const CheckpointTensor& t : c.tensors()) ...   // t.tensor, t.file, t.offset
//
// Headers and indices are read and checked against each other; no tensor data is.
//
// Thread rule: immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/manifest.h"
#include "reshard/model.h"
#include "reshard/safetensors.h"

namespace reshard {

struct CheckpointFile {
  std::string name;         // relative to the folder
  std::string header_text;  // as in the file
  Index bytes = 0;
  RankId rank;  // of a folder of one file per rank
};

struct CheckpointTensor {
  TensorInfo tensor;  // as stored: a rank's shard in a folder of one file per rank
  int file = 0;       // place in files()
  Index offset = 0;   // bytes from the beginning of the file
};

class Checkpoint {
 public:
  enum class Kind { single_file, index, ranks };

  Kind kind() const { return kind_; }
  const std::string& folder() const { return folder_; }
  const std::vector<CheckpointFile>& files() const { return files_; }
  std::string path_of(int file) const;
  // In the order of files and of their headers.
  const std::vector<CheckpointTensor>& tensors() const { return tensors_; }
  // Names, dtypes, shapes of tensors(). Not for the kind `ranks`, whose logical tensors are in manifest().
  std::vector<TensorInfo> infos() const;

  // The tensor stored under a name; nothing if there is none. O(log tensors).
  // Without a rank: throws Error(invalid_argument) for the kind `ranks`, where every rank has its own.
  const CheckpointTensor* find(std::string_view name) const;
  // With a rank: in the other kinds every rank finds the whole tensor.
  const CheckpointTensor* find(std::string_view name, RankId rank) const;

  // Text of model.safetensors.index.json and config.json; empty = none.
  const std::string& index_text() const { return index_text_; }
  const std::string& config_text() const { return config_text_; }
  // Names of the other files, folders with a slash; hidden ones and other weights are left out.
  const std::vector<std::string>& side_files() const { return side_files_; }
  // Of the kind `ranks`.
  const std::optional<Manifest>& manifest() const { return manifest_; }
  // What converting back needs: of these files, or as the manifest recorded it.
  std::optional<Origin> origin() const;

 private:
  friend class CheckpointReader;
  Kind kind_ = Kind::single_file;
  std::string folder_;
  std::vector<CheckpointFile> files_;
  std::vector<CheckpointTensor> tensors_;
  std::vector<int> by_name_;  // places in tensors_, sorted by name and file
  std::string index_text_;
  std::string config_text_;
  std::vector<std::string> side_files_;
  std::optional<Manifest> manifest_;
};

// Throws Error(corrupt) that names file and tensor when the files contradict each other, Error(io) for what is missing.
Checkpoint open_checkpoint(const std::string& path);

// Logical layout of a checkpoint as it lies: the manifest's, or whole tensors taken apart by the rules if there are
// any.
ModelLayout source_layout(const Checkpoint& checkpoint, const ModelRules* rules = nullptr,
                          ResolveSettings settings = {});

// Tensors without weights, for planning. The list has a line "name<TAB>dtype<TAB>d0,d1" per tensor and # comments.
std::vector<TensorInfo> tensors_from_shapes(std::string_view list, std::string_view file);
// The same, checked both ways against the names and the total size of an index.
std::vector<TensorInfo> tensors_from_index_and_shapes(std::string_view index, std::string_view list,
                                                      std::string_view file);

struct TensorList {
  std::vector<TensorInfo> tensors;
  std::string config_text;  // empty = none
};
// From a list NAME.shapes.tsv (with NAME.index.json and NAME.config.json beside it, if they are there) or a checkpoint.
TensorList load_tensor_list(const std::string& path);

}  // namespace reshard
