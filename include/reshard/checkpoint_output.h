// The files that a model's layout asks for: names, headers and the place of every stored tensor, before any byte moves.
//
// Thread rule: plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reshard/manifest.h"
#include "reshard/model.h"
#include "reshard/safetensors.h"

namespace reshard {

// A file of tensors: the prefix of `header`, then data at the offsets it gives.
struct OutputFile {
  std::string name;  // relative to the folder
  RankId rank;       // whose stored tensors it holds
  SafetensorsHeader header;
  Index bytes = 0;
};

struct OutputText {
  std::string name;
  std::string text;
};

struct OutputPlace {
  int file = 0;      // place in files
  Index offset = 0;  // bytes from the beginning of the file
  Index bytes = 0;
};

class CheckpointOutput {
 public:
  CheckpointOutput(std::vector<OutputFile> files, std::vector<OutputText> texts, std::vector<std::string> side_files);

  const std::vector<OutputFile>& files() const { return files_; }
  // Written last, when all of files() are complete: index or manifest.
  const std::vector<OutputText>& texts() const { return texts_; }
  // Copied from the source's folder.
  const std::vector<std::string>& side_files() const { return side_files_; }
  // Nothing if the rank does not hold it. O(log (tensors * ranks)).
  std::optional<OutputPlace> find(std::string_view stored_name, RankId rank) const;

 private:
  struct Entry {
    int file = 0;
    int tensor = 0;
  };
  const FileTensor& tensor_of(const Entry& entry) const;

  std::vector<OutputFile> files_;
  std::vector<OutputText> texts_;
  std::vector<std::string> side_files_;
  std::vector<Entry> entries_;  // sorted by name and rank
};

struct OutputSettings {
  Index max_file_bytes = 5'000'000'000;  // data per file of whole tensors
};

// One file per rank and reshard.json, or files of whole tensors. The latter are those of `origin`, byte for byte in
// header and index, if it lists exactly the model's stored tensors; otherwise model.safetensors, or numbered files and
// an index once there is more data than a file may have.
CheckpointOutput checkpoint_output(const ModelLayout& model, const std::optional<Origin>& origin,
                                   const OutputSettings& settings = {});

}  // namespace reshard
