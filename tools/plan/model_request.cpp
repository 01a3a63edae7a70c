#include "plan/model_request.h"

#include <fmt/format.h>

#include "reshard/error.h"

namespace reshard::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

}  // namespace

void ModelRequest::add_to(CLI::App& command) {
  command.add_option("--model", list, "A checkpoint, an index with --shapes, or a NAME.shapes.tsv: no weights needed")
      ->type_name("LIST");
  command.add_option("--shapes", shapes, "Shapes of the tensors that the index names")->type_name("TSV");
  command.add_option("--from", from, "Model layout of the source")->type_name("YAML");
  command.add_option("--to", to, "Model layout of the target")->type_name("YAML");
  command.add_option("--from-mesh", from_mesh, "Mesh of the source instead of the file's")->type_name("MESH");
  command.add_option("--to-mesh", to_mesh, "Mesh of the target instead of the file's")->type_name("MESH");
  command.add_option("--config", config, "The model's config.json")->type_name("JSON");
}

void ModelRequest::check_beside(const std::string& source, const std::string& target, std::string_view command) const {
  const bool model = !list.empty();
  if (model && !source.empty())
    refuse(fmt::format("give two layouts or --model, not both (see reshard {} --help)", command));
  if (!model && target.empty())
    refuse(fmt::format("give two layouts, or --model LIST --from A.yaml --to B.yaml (see reshard {} --help)", command));
  if (model && (from.empty() || to.empty()))
    refuse("--model needs --from A.yaml and --to B.yaml: how the model lies on each side");
  if (!model && !(from + to + from_mesh + to_mesh + config + shapes).empty())
    refuse("--from, --to, --from-mesh, --to-mesh, --config and --shapes go with --model");
}

}  // namespace reshard::cli
