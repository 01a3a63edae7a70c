#include <fmt/format.h>

#include "base/fail.h"
#include "format/json.h"
#include "reshard/manifest.h"

namespace reshard {

namespace {

void check_rank(const Mesh& mesh, RankId rank) {
  if (!mesh.contains(rank)) {
    fail(Code::invalid_argument, "rank {} is not in the mesh {}", rank.value(), mesh.text());
  }
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + json_quote(item);
  return "[" + text + "]";
}

// One line per element, so that the file can be read and compared.
template <class Items, class Text>
std::string lines(const Items& items, const Text& text_of) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "\n    " : ",\n    ") + text_of(item);
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

std::string tensor_text(const ModelTensor& tensor) {
  return fmt::format("{{\"name\": {}, \"dtype\": \"{}\", \"shape\": [{}], \"layout\": {}}}",
                     json_quote(tensor.tensor.name), safetensors_name(tensor.tensor.dtype),
                     fmt::join(tensor.tensor.shape, ", "), tensor.layout);
}

std::string stored_text(const ModelLayout& model, const StoredTensor& stored) {
  std::vector<std::string> parts;
  for (const int part : stored.parts) parts.push_back(model.tensors()[static_cast<std::size_t>(part)].tensor.name);
  return fmt::format("{{\"name\": {}, \"dim\": {}, \"parts\": {}}}", json_quote(stored.name), stored.dim,
                     quoted_list(parts));
}

std::string file_text(const RankFile& file) {
  return fmt::format("{{\"name\": {}, \"rank\": {}, \"bytes\": {}}}", json_quote(file.name), file.rank.value(),
                     file.bytes);
}

std::string origin_text(const Origin& origin) {
  const auto file = [](const OriginFile& f) {
    return fmt::format("{{\"name\": {}, \"header\": {}}}", json_quote(f.name), json_quote(f.header_text));
  };
  return fmt::format(",\n  \"origin_files\": {},\n  \"origin_index\": {},\n  \"side_files\": {}",
                     lines(origin.files, file), json_quote(origin.index_text), quoted_list(origin.side_files));
}

}  // namespace

std::string rank_file_name(const Mesh& mesh, RankId rank) {
  check_rank(mesh, rank);
  return fmt::format("rank-{:05}-of-{:05}.safetensors", rank.value(), mesh.end_rank().value());
}

SafetensorsHeader rank_file_header(const ModelLayout& model, RankId rank) {
  check_rank(model.mesh(), rank);
  return safetensors_header(
      model.stored_on(rank),
      {{"format", "reshard"}, {"mesh", model.mesh().text()}, {"rank", std::to_string(rank.value())}});
}

Manifest make_manifest(ModelLayout model, std::optional<Origin> origin) {
  if (model.form() != Form::ranks) {
    fail(Code::invalid_argument, "a manifest describes one file per rank; the model has whole tensors");
  }
  std::vector<RankFile> files;
  for (Index i = 0; i < model.mesh().size(); ++i) {
    const RankId rank = model.mesh().rank_at_ordinal(i);
    files.push_back({rank_file_name(model.mesh(), rank), rank, rank_file_header(model, rank).file_bytes()});
  }
  return {std::move(model), std::move(files), std::move(origin)};
}

std::string manifest_text(const Manifest& manifest) {
  const ModelLayout& model = manifest.model;
  std::vector<const StoredTensor*> fused;
  for (const StoredTensor& stored : model.stored()) {
    const bool plain = stored.parts.size() == 1 &&
                       model.tensors()[static_cast<std::size_t>(stored.parts[0])].tensor.name == stored.name;
    if (!plain) fused.push_back(&stored);
  }
  const auto layout = [](const Layout& l) { return json_quote(l.text()); };
  const auto stored = [&](const StoredTensor* s) { return stored_text(model, *s); };
  return fmt::format(
      "{{\n  \"format\": \"reshard\",\n  \"version\": 1,\n  \"mesh\": {},\n  \"layouts\": {},\n  \"tensors\": {},\n"
      "  \"fused\": {},\n  \"files\": {}{}\n}}\n",
      json_quote(model.mesh().text()), lines(model.layouts(), layout), lines(model.tensors(), tensor_text),
      lines(fused, stored), lines(manifest.files, file_text),
      manifest.origin ? origin_text(*manifest.origin) : std::string());
}

}  // namespace reshard
