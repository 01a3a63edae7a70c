// `reshard stamp`: a checkpoint with the names and shapes of a real model and values that name their origin.
#include "reshard/stamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "command.h"
#include "output/numbers.h"
#include "output/output.h"
#include "reshard/checkpoint.h"
#include "reshard/checkpoint_output.h"

namespace reshard::cli {
namespace {

struct Flags {
  std::string list;
  std::string out;
  std::uint64_t least = 1ULL << 30;
  std::uint64_t max_file = 512ULL << 20;
  bool layers_only = false;
};

// The layer a name belongs to: the first component that is a number; -1 for none.
Index layer_of(std::string_view name) {
  while (!name.empty()) {
    const std::string_view component = name.substr(0, name.find('.'));
    Index layer = 0;
    const auto [end, error] = std::from_chars(component.data(), component.data() + component.size(), layer);
    if (error == std::errc() && end == component.data() + component.size()) return layer;
    name.remove_prefix(std::min(component.size() + 1, name.size()));
  }
  return -1;
}

// As many whole layers as it takes, from the first one on.
std::vector<TensorInfo> choose(const std::vector<TensorInfo>& all, const Flags& flags) {
  Index layers = 0;
  for (const TensorInfo& tensor : all) layers = std::max(layers, layer_of(tensor.name) + 1);
  std::vector<TensorInfo> chosen;
  Index bytes = 0;
  for (Index layer = flags.layers_only ? 0 : -1; layer < layers; ++layer) {
    if (layer >= 0 && bytes >= static_cast<Index>(flags.least)) break;
    for (const TensorInfo& tensor : all)
      if (layer_of(tensor.name) == layer) {
        chosen.push_back(tensor);
        bytes += bytes_of(tensor);
      }
  }
  return chosen;
}

void write_stamped(const std::string& path, const OutputFile& file) {
  SafetensorsWriter writer(path, file.header);
  std::vector<std::byte> buffer;
  for (const FileTensor& entry : file.header.tensors) {
    const Layout whole(LayoutSpec{.dtype = entry.tensor.dtype, .shape = entry.tensor.shape, .mesh = Mesh()});
    buffer.resize(static_cast<std::size_t>(whole.bytes()));
    // The epoch is made from the name, so that no two tensors look alike.
    const std::uint64_t epoch = std::hash<std::string>{}(entry.tensor.name) & 0xffff;
    stamp_bytes(buffer, {entry.tensor.dtype, whole.storage(RankId(0)), whole.region(RankId(0)), whole.shape()}, epoch);
    writer.write(entry.tensor.name, buffer);
  }
  writer.finish();
}

int run(const Flags& flags) {
  const TensorList list = load_tensor_list(flags.list);
  const std::vector<TensorInfo> chosen = choose(list.tensors, flags);
  const ModelLayout model = whole_tensors(chosen);
  const CheckpointOutput output =
      checkpoint_output(model, std::nullopt, {.max_file_bytes = static_cast<Index>(flags.max_file)});
  if (std::filesystem::exists(flags.out))
    throw Error(Code::invalid_argument, fmt::format("{} exists; give another folder, or remove it first", flags.out));
  std::filesystem::create_directories(flags.out);
  Index bytes = 0;
  for (const OutputFile& file : output.files()) {
    write_stamped(flags.out + "/" + file.name, file);
    bytes += file.bytes;
  }
  for (const OutputText& text : output.texts()) write_file(flags.out + "/" + text.name, text.text);
  if (!list.config_text.empty()) write_file(flags.out + "/config.json", list.config_text);
  print(fmt::format("{}: {}, {}, {}\n", flags.out, count_text(std::ssize(chosen), "tensor"),
                    count_text(std::ssize(output.files()), "file"), bytes_text(bytes)));
  return kDone;
}

}  // namespace

void add_stamp(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("stamp", "Write a checkpoint with a real model's tensors and traceable values");
  command->add_option("LIST", flags->list, "NAME.shapes.tsv, or a checkpoint whose names and shapes to take")
      ->required();
  command->add_option("OUT", flags->out, "The folder to write")->required();
  command->add_option("--at-least", flags->least, "Takes layers from the first on until there is this much")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1GiB");
  command->add_option("--max-file", flags->max_file, "Data per file")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("512MiB");
  command->add_flag("--layers-only", flags->layers_only, "Leave out what belongs to no layer, such as embeddings");
  command->footer(
      "Every value is made from the tensor's name and its own place, so a byte in a wrong place shows.\nExample:\n"
      "  reshard stamp tests/data/real/qwen2.5-14b.shapes.tsv model/ --layers-only --at-least 1GiB");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace reshard::cli
