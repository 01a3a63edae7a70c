// reshard inspect FILE|FOLDER
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "output/numbers.h"
#include "output/output.h"
#include "output/table.h"
#include "reshard/checkpoint.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Request {
  std::string path;
  bool json = false;
};

std::string_view name_of(Checkpoint::Kind kind) {
  switch (kind) {
    case Checkpoint::Kind::single_file: return "one file";
    case Checkpoint::Kind::index: return "files with an index";
    case Checkpoint::Kind::ranks: return "one file per rank";
  }
  return "";
}

// Of the first file; in a folder of one file per rank, without what is that file's own.
Metadata metadata_of(const Checkpoint& checkpoint) {
  if (checkpoint.files().empty()) return {};
  const CheckpointFile& first = checkpoint.files().front();
  Metadata metadata = parse_safetensors_text(first.header_text, first.name).metadata;
  if (checkpoint.kind() == Checkpoint::Kind::ranks)
    std::erase_if(metadata, [](const auto& entry) { return entry.first == "rank"; });
  return metadata;
}

// Tensors as a user of the model sees them, with their layouts if they are spread over ranks.
struct Row {
  TensorInfo tensor;
  std::string where;
};

std::vector<Row> rows_of(const Checkpoint& checkpoint) {
  std::vector<Row> rows;
  if (checkpoint.kind() == Checkpoint::Kind::ranks) {
    const ModelLayout model = source_layout(checkpoint);
    for (const ModelTensor& tensor : model.tensors()) rows.push_back({tensor.tensor, model.layout(tensor).text()});
    return rows;
  }
  for (const CheckpointTensor& tensor : checkpoint.tensors())
    rows.push_back({tensor.tensor, checkpoint.files()[static_cast<std::size_t>(tensor.file)].name});
  return rows;
}

std::string text_of(const Checkpoint& checkpoint) {
  const std::vector<Row> rows = rows_of(checkpoint);
  const bool ranks = checkpoint.kind() == Checkpoint::Kind::ranks;
  Table tensors({"tensor", "dtype", "shape", "bytes>", ranks ? "layout" : "file"});
  std::map<std::string_view, Index> by_dtype;
  Index bytes = 0, elements = 0;
  for (const auto& [tensor, where] : rows) {
    const Index size = bytes_of(tensor);
    tensors.row(
        {tensor.name, std::string(reshard::name_of(tensor.dtype)), tuple_text(tensor.shape), bytes_text(size), where});
    by_dtype[reshard::name_of(tensor.dtype)] += size;
    bytes += size;
    elements += size / bytes_of(tensor.dtype);
  }
  std::string out = tensors.text() + "\n";
  Table files({"file", "bytes>"});
  Index on_disk = 0;
  for (const CheckpointFile& file : checkpoint.files()) {
    files.row({file.name, bytes_text(file.bytes)});
    on_disk += file.bytes;
  }
  out += files.text() + "\n";
  for (const auto& [key, value] : metadata_of(checkpoint)) out += fmt::format("   metadata  {} = {}\n", key, value);
  out += fmt::format("   form      {}\n", name_of(checkpoint.kind()));
  out += fmt::format("   tensors   {}, {}, {}", count_text(std::ssize(rows)), count_text(elements, "element"),
                     bytes_text(bytes));
  for (const auto& [dtype, size] : by_dtype) out += fmt::format("; {} {}", dtype, bytes_text(size));
  return out + fmt::format("\n   files     {}, {}\n", count_text(std::ssize(checkpoint.files())), bytes_text(on_disk));
}

std::string json_of(const Checkpoint& checkpoint) {
  const bool ranks = checkpoint.kind() == Checkpoint::Kind::ranks;
  Json json{{"form", name_of(checkpoint.kind())},
            {"metadata", Json::object()},
            {"files", Json::array()},
            {"tensors", Json::array()}};
  for (const auto& [key, value] : metadata_of(checkpoint)) json["metadata"][key] = value;
  for (const CheckpointFile& file : checkpoint.files())
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}});
  Index bytes = 0;
  for (const auto& [tensor, where] : rows_of(checkpoint)) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"dtype", reshard::name_of(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"bytes", bytes_of(tensor)},
                               {ranks ? "layout" : "file", where}});
    bytes += bytes_of(tensor);
  }
  json["bytes"] = bytes;
  return json.dump(2) + "\n";
}

int inspect(const Request& request) {
  const Checkpoint checkpoint = open_checkpoint(request.path);
  print(request.json ? json_of(checkpoint) : text_of(checkpoint));
  return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "List the tensors of a checkpoint: names, dtypes, shapes, sizes, files");
  const auto request = std::make_shared<Request>();
  command->add_option("path", request->path, "A .safetensors file, or a folder of them")
      ->required()
      ->type_name("FILE|FOLDER");
  command->add_flag("--json", request->json, "Print as JSON, with exact numbers");
  command->footer("Example, in the root of the repository:\n  reshard inspect tests/golden/cli/tiny.safetensors");
  command->callback([request, &action] { action = [request] { return inspect(*request); }; });
}

}  // namespace reshard::cli
