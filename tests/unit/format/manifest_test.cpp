#include "reshard/manifest.h"

#include "files.h"
#include "reshard/checkpoint.h"
#include "reshard/checkpoint_output.h"

namespace reshard {
namespace {

using test::message_of;
using test::TempFolder;
using testing::HasSubstr;

ModelLayout fused_model() {
  const std::string text = R"(
axes: [pp, tp]
mesh: trainer(pp=2, tp=3)@4
rules:
  - {match: q, layout: "{0: tp:balanced/2, pp: at(0)}"}
  - {match: k, layout: "{pp: at(0)}"}
  - {match: "w.{n}", layout: "{0: tp, pp: at(${n})}"}
fuse: [{store: qk, dim: 0, parts: [q, k]}]
)";
  return resolve(model_rules(text, "m.yaml"), std::vector<TensorInfo>{{"w.1", Dtype::f32, {4, 5}},
                                                                      {"k", Dtype::bf16, {3, 2}},
                                                                      {"q", Dtype::bf16, {10, 2}},
                                                                      {"w.0", Dtype::u8, {2}}});
}

Origin origin() {
  return {{{"a.safetensors", "{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}  "}},
          "{\n \"é\"}",
          {"config.json"}};
}

void write_folder(const TempFolder& folder, const ModelLayout& model) {
  const CheckpointOutput output = checkpoint_output(model, origin());
  for (const OutputFile& file : output.files()) test::write_stamped(folder / file.name, file.header);
  for (const OutputText& text : output.texts()) test::write_file(folder / text.name, text.text);
}

TEST(Manifest, RoundTrip) {
  const Manifest manifest = make_manifest(fused_model(), origin());
  const std::string text = manifest_text(manifest);
  const Manifest again = parse_manifest(text, "reshard.json");
  EXPECT_EQ(manifest_text(again), text);
  EXPECT_EQ(again.files, manifest.files);
  EXPECT_EQ(again.origin, manifest.origin);
  EXPECT_EQ(again.model.layouts(), manifest.model.layouts());
  ASSERT_EQ(again.model.stored().size(), 3u);
  EXPECT_EQ(again.model.stored()[1].name, "qk");
  EXPECT_EQ(again.model.stored()[1].parts, manifest.model.stored()[1].parts);
  EXPECT_EQ(manifest.files[0].name, "rank-00004-of-00010.safetensors");
  EXPECT_FALSE(parse_manifest(manifest_text(make_manifest(fused_model(), std::nullopt)), "r").origin);
}

TEST(Manifest, ReaderIsStrict) {
  const std::string text = manifest_text(make_manifest(fused_model(), origin()));
  const auto with = [&](const std::string& from, const std::string& to, Code code = Code::corrupt) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return message_of(code, [&] { parse_manifest(changed, "r.json"); });
  };
  EXPECT_THAT(with("\"version\": 1", "\"version\": 2", Code::unsupported), HasSubstr("version 2"));
  EXPECT_THAT(with("\"format\": \"reshard\"", "\"format\": \"x\""), HasSubstr("format"));
  EXPECT_THAT(with("\"mesh\": \"trainer(pp=2, tp=3)@4\"", "\"mesh\": \"trainer(pp=2, tp=3)@5\""), HasSubstr("mesh"));
  EXPECT_THAT(with("\"mesh\"", "\"mish\""), HasSubstr("unknown key \"mish\""));
  EXPECT_THAT(with("\"layout\": 0", "\"layout\": 9"), HasSubstr("has layout 9 of"));
  EXPECT_THAT(with("\"layout\": 0", "\"layout\": -1"), HasSubstr("layout is -1"));
  EXPECT_THAT(with("\"shape\": [4, 5]", "\"shape\": [5, 4]"), HasSubstr("tensor \"w.1\""));
  EXPECT_THAT(with("\"dtype\": \"U8\"", "\"dtype\": \"I8\""), HasSubstr("tensor \"w.0\""));
  EXPECT_THAT(with("\"name\": \"w.0\"", "\"name\": \"w.1\""), HasSubstr("claimed twice"));
  EXPECT_THAT(with("\"parts\": [\"q\", \"k\"]", "\"parts\": [\"q\", \"x\"]"),
              HasSubstr("\"x\" of \"qk\" is no tensor"));
  EXPECT_THAT(with("\"parts\": [\"q\", \"k\"]", "\"parts\": [\"q\", \"q\"]"), HasSubstr("a part twice"));
  EXPECT_THAT(with("\"parts\": [\"q\", \"k\"]", "\"parts\": []"), HasSubstr("no parts"));
  EXPECT_THAT(with("\"dim\": 0", "\"dim\": 7"), HasSubstr("dimension 7"));
  EXPECT_THAT(with("\"rank\": 5", "\"rank\": 6"), HasSubstr("of rank 6"));
  EXPECT_THAT(with("\"bytes\": ", "\"bytes\": 1"), HasSubstr("bytes; mesh and layouts make it"));
  EXPECT_THAT(with("\"name\": \"a.safetensors\"", "\"name\": \"../a\""), HasSubstr("does not stay in its folder"));
  EXPECT_THAT(with("[\"config.json\"]", "[\"/etc/passwd\"]"), HasSubstr("does not stay in its folder"));
  EXPECT_THAT(with("[0,2]", "[0,3]"), HasSubstr("header of a.safetensors"));
  EXPECT_THAT(with("\"origin_index\"", "\"origin\""), HasSubstr("unknown key"));
  EXPECT_THAT(with("\n}\n", "\n} x"), HasSubstr("goes on"));
}

TEST(Manifest, FolderOfRankFilesOpens) {
  const TempFolder folder;
  write_folder(folder, fused_model());
  const Checkpoint c = open_checkpoint(folder.path());
  EXPECT_EQ(c.kind(), Checkpoint::Kind::ranks);
  EXPECT_EQ(c.files().size(), 6u);
  EXPECT_EQ(c.origin(), origin());
  EXPECT_EQ(c.find("qk", RankId(4))->tensor.shape, (std::vector<Index>{7, 2}));
  EXPECT_EQ(c.find("qk", RankId(6))->tensor.shape, (std::vector<Index>{5, 2}));
  EXPECT_EQ(c.find("qk", RankId(7)), nullptr);  // the other stage
  EXPECT_EQ(source_layout(c).layouts(), fused_model().layouts());
  EXPECT_EQ(load_tensor_list(folder.path()).tensors.size(), 4u);
}

TEST(Manifest, L6_ThereIsNoSilentDefaultRank) {
  const TempFolder folder;
  write_folder(folder, fused_model());
  const Checkpoint c = open_checkpoint(folder.path());
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { c.find("qk"); }), HasSubstr("say which rank"));
  const Manifest manifest = load_manifest(folder.path());
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { open_rank_file(folder.path(), manifest, RankId(0)); }),
              HasSubstr("rank 0 is not in the mesh trainer"));
}

TEST(Manifest, RankFileMustBeThatRanks) {
  const TempFolder folder;
  write_folder(folder, fused_model());
  const std::string five = folder / "rank-00005-of-00010.safetensors", six = folder / "rank-00006-of-00010.safetensors";
  std::filesystem::copy_file(five, six, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(message_of(Code::corrupt, [&] { open_checkpoint(folder.path()); }), HasSubstr(six));
  std::filesystem::remove(six);
  EXPECT_THAT(message_of(Code::io, [&] { open_checkpoint(folder.path()); }), HasSubstr(six));
}

}  // namespace
}  // namespace reshard
