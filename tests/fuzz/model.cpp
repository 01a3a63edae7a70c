// Any text as a model file, resolved for a few tensors: refused with an Error, or every tensor has a layout whose
// manifest reads back. A first line "#manifest" makes the rest a manifest.
#include <cstdint>
#include <cstdlib>

#include "reshard/error.h"
#include "reshard/manifest.h"
#include "reshard/model.h"

using namespace reshard;

namespace {

constexpr Index kMaxRanks = 64;
constexpr std::string_view kManifestMark = "#manifest\n";

void check_round_trip(const Manifest& manifest) {
  const std::string text = manifest_text(manifest);
  if (manifest_text(parse_manifest(text, "again")) != text) std::abort();
}

void check_rules(std::string_view text) {
  const ModelRules rules = model_rules(text, "fuzz");
  const std::vector<TensorInfo> tensors = {{"layers.0.w", Dtype::f32, {6, 10}},
                                           {"layers.3.q.weight", Dtype::bf16, {8, 4}},
                                           {"layers.3.k.weight", Dtype::bf16, {2, 4}},
                                           {"norm", Dtype::u8, {}}};
  ResolveSettings settings;
  settings.config = R"({"heads":8,"layers":4})";
  const ModelLayout model = resolve(rules, tensors, settings);
  if (model.tensors().size() < tensors.size()) std::abort();
  if (model.form() == Form::ranks && model.mesh().size() <= kMaxRanks) {
    check_round_trip(make_manifest(model, std::nullopt));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with(kManifestMark)) {
      check_round_trip(parse_manifest(text.substr(kManifestMark.size()), "fuzz"));
    } else {
      check_rules(text);
    }
  } catch (const Error& error) {
    if (error.code() == Code::internal) std::abort();
  }
  return 0;
}
