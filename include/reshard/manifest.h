// reshard.json: what a folder of one file per rank holds, and how to write it back as it was.
//
// Such a folder has rank-00003-of-00008.safetensors for every rank of the mesh, each with that rank's stored tensors in
// the order of the model, and reshard.json with mesh, layouts, tensors and the headers of the files it came from.
//
// Thread rule: plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/model.h"
#include "reshard/safetensors.h"

namespace reshard {

inline constexpr std::string_view kManifestName = "reshard.json";

struct OriginFile {
  std::string name;
  std::string header_text;
  friend bool operator==(const OriginFile&, const OriginFile&) = default;
};

// The files of whole tensors that a checkpoint was first converted from.
struct Origin {
  std::vector<OriginFile> files;
  std::string index_text;               // model.safetensors.index.json; empty = there was none
  std::vector<std::string> side_files;  // names: config.json, tokenizer.json, ...
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct RankFile {
  std::string name;
  RankId rank;
  Index bytes = 0;
  friend bool operator==(const RankFile&, const RankFile&) = default;
};

struct Manifest {
  ModelLayout model;
  std::vector<RankFile> files;  // in the mesh's order of ranks
  std::optional<Origin> origin;
};

// Precondition of the first two: the model has the form `ranks`, and the mesh has the rank.
std::string rank_file_name(const Mesh& mesh, RankId rank);
// The header of a rank's file; its metadata hold rank and mesh.
SafetensorsHeader rank_file_header(const ModelLayout& model, RankId rank);
Manifest make_manifest(ModelLayout model, std::optional<Origin> origin);

std::string manifest_text(const Manifest& manifest);
// Throws Error(corrupt) that names `file` for anything that make_manifest could not have written.
Manifest parse_manifest(std::string_view text, std::string_view file);
// The manifest of a folder.
Manifest load_manifest(const std::string& folder);
// One rank's file, checked against the manifest. Opens no other file.
SafetensorsFile open_rank_file(const std::string& folder, const Manifest& manifest, RankId rank);

}  // namespace reshard
