// Whole model -> ranks -> other ranks -> the published files again, each rank file checked against the oracle.
#include <fmt/format.h>

#include "rank_files.h"
#include "reshard/checkpoint.h"

namespace reshard::test {
namespace {

struct Laid {
  ModelRules rules;
  std::string mesh;  // empty = that of the rules
};

struct Running {
  Index processes = 2;
  Index memory = Index{256} << 20;
};

ConvertRequest request_of(const std::string& source, const std::string& out, const Running& running) {
  return {.source = source, .out = out, .processes = running.processes, .memory = running.memory, .verify = true};
}

// Through all layouts in turn; returns the folders, the published one last.
void round_trip(const SmallModel& model, const std::vector<Laid>& stations, const Running& running = {},
                Index max_file_bytes = 5'000'000'000) {
  const TempFolder temp;
  write_published(temp / "published", model, max_file_bytes);
  std::string at = temp / "published";
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const std::string next = temp / fmt::format("station-{}", k);
    ConvertRequest request = request_of(at, next, running);
    request.to = stations[k].rules;
    if (!stations[k].mesh.empty()) request.to_settings.mesh = mesh(stations[k].mesh);
    const ConvertReport report = convert(request);
    EXPECT_EQ(report.files_kept, 0);
    EXPECT_GE(report.moved, report.needed);
    expect_rank_files(next, model);
    at = next;
  }
  convert(request_of(at, temp / "again", running));
  expect_equal_folders(temp / "published", temp / "again");
}

std::vector<Laid> llama_stations() {
  return {{shipped_rules("llama.yaml"), "trainer(pp=2, dp=2, fsdp=2, tp=3)"},
          {shipped_rules("llama-packed.yaml"), "inference(tp=4)"},
          {shipped_rules("llama-packed.yaml"), "inference(fsdp=3, tp=2)"},
          {shipped_rules("llama.yaml"), "(pp=3, tp=2)@[9,2,7,0,4,5]"},
          {shipped_rules("llama-packed.yaml"), "inference(tp=8)"}};
}

std::vector<Laid> mixtral_stations() {
  return {{shipped_rules("mixtral.yaml"), "(ep=3, tp=2)"},
          {shipped_rules("mixtral-packed.yaml"), "(pp=2, ep=2, tp=3)"},
          {shipped_rules("mixtral-packed.yaml"), "(dp=2, ep=7)"},
          {shipped_rules("mixtral.yaml"), "(fsdp=4:9, ep=2:1, tp=2:3)"}};
}

std::vector<Laid> odd_stations() {
  return {
      {listed_rules("(a=2, b=3)",
                    {{"*", "{0: a b}"}, {"scalar", "{}"}, {"cube", "{0: a, 2: b:balanced-last}"}, {"one", "{0: a}"}}),
       ""},
      {listed_rules("(r=7)@[6,3,0,5,1,4,2]", {{"*", "{0: r:balanced}"},
                                              {"scalar", "{r: at(3)}"},
                                              {"cube", "{1: r:sizes[0,0,3,0,1,0,0]}"},
                                              {"empty.columns", "{1: r}"}}),
       ""},
      {listed_rules("(x=2, y=2)", {{"*", "{0: x:cyclic(2), 1: y:floor}"},
                                   {"scalar", "{y: at(1)}"},
                                   {"one", "{0: y x}"},
                                   {"cube", "{1: x:strided(2), 2: y:window(1)}"},
                                   {"wide", "{0: x:strided-shard(2), 1: y:balanced/9001}"}}),
       ""},
      {listed_rules("(dp=3)", {{"*", "{}"}}), ""},
      {listed_rules(
           "(p=5:2)@1",
           {{"*", "{p: at(4)}"}, {"wide", "{0: p:window(3)}"}, {"two", "{1: p:window(3)}"}, {"of.bool", "{1: p}"}}),
       ""},
      {listed_rules("(p=1)", {{"*", "{}"}}), ""}};
}

TEST(ConvertRoundTrip, LlamaWithFusedAndReplicatedHeads) { round_trip(small_llama(), llama_stations()); }
TEST(ConvertRoundTrip, MixtralWithExpertsStagesAndReplicas) { round_trip(small_mixtral(), mixtral_stations()); }
TEST(ConvertRoundTrip, EveryDtypeEmptyShardsAndPadding) { round_trip(odd_shapes(), odd_stations()); }

TEST(ConvertRoundTrip, SeveralPublishedFilesComeBackAsTheyWere) {
  round_trip(small_llama(), {llama_stations()[0], llama_stations()[1]}, {}, 3000);
}

TEST(ConvertRoundTrip, TheNumberOfProcessesAndTheMemoryChangeNoByte) {
  const SmallModel model = odd_shapes();
  const TempFolder temp;
  write_published(temp / "published", model);
  const auto convert_with = [&](const Running& running) {
    const std::string out = temp / fmt::format("out-{}-{}", running.processes, running.memory);
    ConvertRequest request = request_of(temp / "published", out, running);
    request.to = odd_stations()[2].rules;
    convert(request);
    return out;
  };
  const std::string first = convert_with({.processes = 1});
  expect_rank_files(first, model);
  for (const Running& running : {Running{.processes = 2}, Running{.processes = 3}, Running{.processes = 5},
                                 Running{.processes = 1, .memory = 64 << 10}, Running{.processes = 3, .memory = 1}})
    expect_equal_folders(first, convert_with(running));
}

// A row longer than the staging buffer, a piece of it per rank and columns in between.
TEST(ConvertRoundTrip, RowsLongerThanTheStaging) {
  SmallModel model{.tensors = {{"wide", Dtype::f64, {3, 40009}}, {"tall", Dtype::u8, {50021, 3}}}};
  for (const TensorInfo& tensor : model.tensors) model.bytes[tensor.name] = stamped(tensor);
  round_trip(model,
             {{listed_rules("(r=3)", {{"*", "{1: r:cyclic(5)}"}}), ""}, {listed_rules("(r=2)", {{"*", "{0: r}"}}), ""}},
             {.processes = 3, .memory = 64 << 10});
}

TEST(ConvertRoundTrip, FromOneFileWithoutAFolder) {
  const SmallModel model = odd_shapes();
  const TempFolder temp;
  write_published(temp / "published", model);
  ConvertRequest request = request_of(temp / "published/model.safetensors", temp / "published/inside", {});
  request.to = odd_stations()[0].rules;
  convert(request);  // a single file carries nothing along, so its folder may hold the output
  expect_rank_files(temp / "published/inside", model);
}

TEST(ConvertRoundTrip, NewFilesOfABoundedSizeHoldTheSameTensors) {
  const SmallModel model = small_llama();
  const TempFolder temp;
  write_published(temp / "published", model);
  ConvertRequest request = request_of(temp / "published", temp / "packed", {});
  request.to = shipped_rules("llama-packed.yaml");
  request.to_settings.form = Form::files;
  request.max_file_bytes = 4000;
  const ConvertReport report = convert(request);
  EXPECT_GT(report.files, 3);
  EXPECT_EQ(open_checkpoint(temp / "packed").kind(), Checkpoint::Kind::index);

  // Fused tensors are taken apart again by the same rules.
  request = request_of(temp / "packed", temp / "ranks", {});
  request.from = shipped_rules("llama-packed.yaml");
  request.to = shipped_rules("llama.yaml");
  request.to_settings.mesh = mesh("(tp=3)");
  for (FuseRule& fuse : request.from->fuse)
    for (FusePart& part : fuse.parts)
      part.size = part.name.find(".q_proj") != std::string::npos ? "heads * head_dim"
                  : part.name.find("_proj") != std::string::npos && part.name.find("mlp") != std::string::npos
                      ? "29"
                      : "kv_heads * head_dim";
  convert(request);
  expect_rank_files(temp / "ranks", model);
}

TEST(ConvertRoundTrip, SideFilesAreCarriedThereAndBack) {
  const SmallModel model = small_llama();
  const TempFolder temp;
  write_published(temp / "published", model);
  write_file(temp / "published/tokenizer.json", "{\"a\": 1}");
  write_file(temp / "published/original/deep/params.json", std::string(100000, 'p'));
  write_file(temp / "published/empty.txt", "");
  for (const auto& [from, to] : {std::pair("published", "ranks"), std::pair("ranks", "again")}) {
    ConvertRequest request = request_of(temp / from, temp / to, {});
    if (std::string(to) == "ranks") request.to = shipped_rules("llama.yaml");
    if (request.to) request.to_settings.mesh = mesh("(tp=2)");
    convert(request);
    EXPECT_EQ(read_file(temp / (std::string(to) + "/original/deep/params.json")), std::string(100000, 'p'));
  }
  expect_equal_folders(temp / "published", temp / "again");
}

}  // namespace
}  // namespace reshard::test
