#include <filesystem>
#include <set>
#include <unordered_map>

#include "base/fail.h"
#include "format/json.h"
#include "format/text_file.h"
#include "reshard/manifest.h"

namespace reshard {

namespace {

constexpr Index kMaxManifestBytes = Index{1} << 30;

struct FusedText {
  std::string name;
  int dim = 0;
  std::vector<std::string> parts;
};

// Reads an object that has exactly `keys`.
void exact_object(JsonReader& json, const std::vector<std::string>& keys,
                  const std::function<void(const std::string& key)>& member) {
  std::set<std::string> left(keys.begin(), keys.end());
  json.object([&](const std::string& key) {
    if (left.erase(key) == 0) json.fault("unknown key " + json_quote(key));
    member(key);
  });
  if (!left.empty()) json.fault("no key " + json_quote(*left.begin()));
}

int small(JsonReader& json, std::string_view what) {
  const Index value = json.integer();
  if (value < 0 || value > 1 << 30) json.fault(fmt::format("{} is {}", what, value));
  return static_cast<int>(value);
}

std::vector<std::string> strings(JsonReader& json) {
  std::vector<std::string> out;
  json.array([&] { out.push_back(json.string()); });
  return out;
}

class ManifestReader {
 public:
  ManifestReader(std::string_view text, std::string_view file) : json_(text, file), file_(file) {}

  Manifest read() {
    std::set<std::string> seen;
    json_.object([&](const std::string& key) {
      seen.insert(key);
      member(key);
    });
    json_.end();
    for (const char* key : {"format", "version", "mesh", "layouts", "tensors", "fused", "files"}) {
      if (!seen.contains(key)) json_.fault("no key " + json_quote(key));
    }
    const std::size_t origin = seen.count("origin_files") + seen.count("origin_index") + seen.count("side_files");
    if (origin != 0 && origin != 3) json_.fault("origin_files, origin_index and side_files come together");
    return assemble(origin != 0);
  }

 private:
  void member(const std::string& key) {
    if (key == "format") {
      if (json_.string() != "reshard") json_.fault("format is not \"reshard\"");
    } else if (key == "version") {
      const Index version = json_.integer();
      if (version != 1) fail(Code::unsupported, "{}: version {}; this program reads version 1", file_, version);
    } else if (key == "mesh") {
      mesh_text_ = json_.string();
    } else if (key == "layouts") {
      layouts_ = strings(json_);
    } else if (key == "tensors") {
      json_.array([this] { read_tensor(); });
    } else if (key == "fused") {
      json_.array([this] { read_fused(); });
    } else if (key == "files") {
      json_.array([this] { read_file(); });
    } else if (key == "origin_files") {
      json_.array([this] { read_origin_file(); });
    } else if (key == "origin_index") {
      origin_.index_text = json_.string();
    } else if (key == "side_files") {
      origin_.side_files = strings(json_);
      for (const std::string& name : origin_.side_files) check_file_name(name, file_);
    } else {
      json_.fault("unknown key " + json_quote(key));
    }
  }

  void read_tensor() {
    ModelTensor tensor;
    exact_object(json_, {"name", "dtype", "shape", "layout"}, [&](const std::string& key) {
      if (key == "name") tensor.tensor.name = json_.string();
      if (key == "layout") tensor.layout = small(json_, key);
      if (key == "shape") json_.array([&] { tensor.tensor.shape.push_back(json_.integer()); });
      if (key != "dtype") return;
      const auto dtype = safetensors_dtype(json_.string());
      if (!dtype) json_.fault("unknown dtype");
      tensor.tensor.dtype = *dtype;
    });
    tensors_.push_back(std::move(tensor));
  }

  void read_fused() {
    FusedText fused;
    exact_object(json_, {"name", "dim", "parts"}, [&](const std::string& key) {
      if (key == "name") fused.name = json_.string();
      if (key == "dim") fused.dim = small(json_, key);
      if (key == "parts") fused.parts = strings(json_);
    });
    if (fused.parts.empty()) json_.fault(fmt::format("fused tensor {} has no parts", json_quote(fused.name)));
    fused_.push_back(std::move(fused));
  }

  void read_file() {
    RankFile file;
    exact_object(json_, {"name", "rank", "bytes"}, [&](const std::string& key) {
      if (key == "name") file.name = json_.string();
      if (key == "rank") file.rank = RankId(small(json_, key));
      if (key == "bytes") file.bytes = json_.integer();
    });
    files_.push_back(std::move(file));
  }

  void read_origin_file() {
    OriginFile file;
    exact_object(json_, {"name", "header"},
                 [&](const std::string& key) { (key == "name" ? file.name : file.header_text) = json_.string(); });
    check_file_name(file.name, file_);
    parse_safetensors_text(file.header_text, fmt::format("{}: header of {}", file_, file.name));
    origin_.files.push_back(std::move(file));
  }

  Manifest assemble(bool has_origin) {
    try {
      return checked(has_origin);
    } catch (const Error& error) {
      // What is an argument of the constructors was read from a file here.
      if (error.code() != Code::invalid_argument) throw;
      fail(Code::corrupt, "{}: {}", file_, error.what());
    }
  }

  Manifest checked(bool has_origin) {
    std::vector<Layout> layouts;
    for (const std::string& text : layouts_) layouts.push_back(layout(text));
    for (const ModelTensor& tensor : tensors_) check_tensor(tensor, layouts);
    std::vector<StoredTensor> stored = group();
    ModelLayout model(Form::ranks, mesh(mesh_text_), std::move(layouts), std::move(tensors_), std::move(stored));
    // A mesh lists no ranks, so its size is checked against what the file does list before anything grows with it.
    if (model.mesh().size() != static_cast<Index>(files_.size())) {
      fail(Code::corrupt, "{}: {} files for the mesh {}", file_, files_.size(), mesh_text_);
    }
    Manifest manifest = make_manifest(std::move(model), has_origin ? std::optional(std::move(origin_)) : std::nullopt);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (manifest.files[i] == files_[i]) continue;
      fail(Code::corrupt, "{}: file {} of rank {} with {} bytes; mesh and layouts make it {} of rank {} with {} bytes",
           file_, json_quote(files_[i].name), files_[i].rank.value(), files_[i].bytes, manifest.files[i].name,
           manifest.files[i].rank.value(), manifest.files[i].bytes);
    }
    return manifest;
  }

  void check_tensor(const ModelTensor& tensor, const std::vector<Layout>& layouts) const {
    const TensorInfo& info = tensor.tensor;
    if (static_cast<std::size_t>(tensor.layout) >= layouts.size()) {
      fail(Code::corrupt, "{}: tensor {} has layout {} of {}", file_, json_quote(info.name), tensor.layout,
           layouts.size());
    }
    const Layout& its = layouts[static_cast<std::size_t>(tensor.layout)];
    if (its.dtype() != info.dtype || its.shape() != info.shape) {
      fail(Code::corrupt, "{}: tensor {} is {}[{}], but its layout is {}", file_, json_quote(info.name),
           name_of(info.dtype), fmt::join(info.shape, ","), its.text());
    }
  }

  // Fused tensors stand where their first part stands; the others are stored under their own names.
  std::vector<StoredTensor> group() {
    std::unordered_map<std::string, int> places;
    for (std::size_t i = 0; i < tensors_.size(); ++i) places.emplace(tensors_[i].tensor.name, static_cast<int>(i));
    std::vector<const FusedText*> owner(tensors_.size(), nullptr);
    for (const FusedText& fused : fused_) {
      for (const std::string& part : fused.parts) {
        const auto found = places.find(part);
        if (found == places.end() || owner[static_cast<std::size_t>(found->second)] != nullptr) {
          fail(Code::corrupt, "{}: part {} of {} is {}", file_, json_quote(part), json_quote(fused.name),
               found == places.end() ? "no tensor" : "a part twice");
        }
        owner[static_cast<std::size_t>(found->second)] = &fused;
      }
    }
    std::vector<StoredTensor> stored;
    std::set<const FusedText*> done;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (owner[i] == nullptr) {
        stored.push_back({tensors_[i].tensor.name, 0, {static_cast<int>(i)}});
      } else if (done.insert(owner[i]).second) {
        stored.push_back({owner[i]->name, owner[i]->dim, {}});
        for (const std::string& part : owner[i]->parts) stored.back().parts.push_back(places.at(part));
      }
    }
    for (std::size_t s = 0; s < stored.size(); ++s) {
      for (std::size_t k = 0; k < stored[s].parts.size(); ++k) {
        ModelTensor& tensor = tensors_[static_cast<std::size_t>(stored[s].parts[k])];
        tensor.stored = static_cast<int>(s);
        tensor.part = static_cast<int>(k);
      }
    }
    return stored;
  }

  JsonReader json_;
  std::string file_;
  std::string mesh_text_;
  std::vector<std::string> layouts_;
  std::vector<ModelTensor> tensors_;
  std::vector<FusedText> fused_;
  std::vector<RankFile> files_;
  Origin origin_;
};

}  // namespace

Manifest parse_manifest(std::string_view text, std::string_view file) { return ManifestReader(text, file).read(); }

Manifest load_manifest(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kManifestName).string();
  return parse_manifest(read_text_file(path, kMaxManifestBytes), path);
}

SafetensorsFile open_rank_file(const std::string& folder, const Manifest& manifest, RankId rank) {
  const std::string path = (std::filesystem::path(folder) / rank_file_name(manifest.model.mesh(), rank)).string();
  SafetensorsFile file = SafetensorsFile::open(path);
  const SafetensorsHeader expected = rank_file_header(manifest.model, rank);
  if (file.header().text == expected.text) return file;
  const std::size_t common = std::min(file.header().tensors.size(), expected.tensors.size());
  for (std::size_t i = 0; i < common; ++i) {
    const FileTensor &has = file.header().tensors[i], &wants = expected.tensors[i];
    if (has == wants) continue;
    fail(Code::corrupt, "{}: tensor {} {}[{}] is where rank {} should have {} {}[{}]", path,
         json_quote(has.tensor.name), name_of(has.tensor.dtype), fmt::join(has.tensor.shape, ","), rank.value(),
         json_quote(wants.tensor.name), name_of(wants.tensor.dtype), fmt::join(wants.tensor.shape, ","));
  }
  if (file.header().tensors.size() != expected.tensors.size()) {
    fail(Code::corrupt, "{}: {} tensors where rank {} of {} should have {}", path, file.header().tensors.size(),
         rank.value(), manifest.model.mesh().text(), expected.tensors.size());
  }
  fail(Code::corrupt, "{}: its metadata are not those of rank {} of {}", path, rank.value(),
       manifest.model.mesh().text());
}

}  // namespace reshard
