// Acceptance cases of the classes L and P, each under its own name: files, indices and checkpoints as input.
#include "../../unit/format/files.h"

#include "reshard/checkpoint.h"
#include "reshard/checkpoint_output.h"
#include "reshard/model.h"

namespace reshard {
namespace {

using test::message_of;
using test::parse;
using test::raw_file;
using test::TempFolder;
using testing::HasSubstr;

ModelLayout lay(const std::string& rules, std::vector<TensorInfo> tensors, const std::string& on) {
  ResolveSettings settings;
  settings.mesh = mesh(on);
  return resolve(model_rules(rules, "m.yaml"), tensors, settings);
}

const char* const kSharded = "axes: [tp]\nrules: [{match: '**', layout: '{0: tp}'}]\n";

// Writes a folder of one file per rank in which each element of the 1-d tensor `name` is its global index.
void save(const std::string& folder, const ModelLayout& model) {
  const CheckpointOutput output = checkpoint_output(model, std::nullopt);
  for (const OutputFile& file : output.files()) {
    SafetensorsWriter writer(folder + "/" + file.name, file.header);
    for (const FileTensor& tensor : file.header.tensors) {
      std::vector<std::int64_t> values(static_cast<std::size_t>((tensor.end - tensor.begin) / 8));
      const Region region = model.layout(*model.find(tensor.tensor.name)).region(file.rank);
      if (region.dims.empty()) {
        values.at(0) = 42;
      } else {
        for (const Segment& s : region.dims[0]) {
          for (Index i = 0; i < s.length; ++i)
            values.at(static_cast<std::size_t>(s.local.value() + i)) = s.global.value() + i;
        }
      }
      writer.write(tensor.tensor.name, std::as_bytes(std::span(values)));
    }
    writer.finish();
  }
  for (const OutputText& text : output.texts()) test::write_file(folder + "/" + text.name, text.text);
}

// Puts the shards of all ranks of the checkpoint together, by global index.
std::vector<std::int64_t> load(const Checkpoint& c, const std::string& name) {
  const ModelLayout model = source_layout(c);
  const Layout& layout = model.layout(*model.find(name));
  std::vector<std::int64_t> whole(static_cast<std::size_t>(layout.elements()), -1);
  for (const CheckpointFile& file : c.files()) {
    const CheckpointTensor* tensor = c.find(name, file.rank);
    if (tensor == nullptr) continue;
    const MappedFile mapped = MappedFile::open(c.path_of(tensor->file));
    const Region region = layout.region(file.rank);
    for (const Segment& s : region.dims.at(0)) {
      std::memcpy(&whole.at(static_cast<std::size_t>(s.global.value())),
                  mapped.bytes().data() + tensor->offset + s.local.value() * 8, static_cast<std::size_t>(s.length * 8));
    }
  }
  return whole;
}

std::vector<std::int64_t> counting(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}

TEST(CaseP1, ZeroSizeTensorIsReadFromFileAndFromMemory) {
  const std::string bytes = raw_file(
      R"({"t":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]},"u":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      4);
  EXPECT_EQ(parse(bytes).tensors[0].tensor.shape, (std::vector<Index>{2, 0}));
  const TempFolder folder;
  test::write_file(folder / "f.safetensors", bytes);
  const SafetensorsFile file = SafetensorsFile::open(folder / "f.safetensors");
  EXPECT_EQ(file.data(file.header().tensors[0]).size(), 0u);
  EXPECT_EQ(file.data(file.header().tensors[1])[3], std::byte{3});
}

TEST(CaseP1, ZeroSizeTensorAnywhere) {
  for (const char* at : {"[0,0]", "[2,2]", "[4,4]"}) {
    const std::string header = R"({"t":{"dtype":"F32","shape":[0],"data_offsets":)" + std::string(at) +
                               R"(},"u":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    EXPECT_EQ(parse(raw_file(header, 4)).tensors.size(), 2u) << at;
  }
  EXPECT_THAT(message_of(Code::corrupt,
                         [] { parse(raw_file(R"({"t":{"dtype":"F32","shape":[0],"data_offsets":[5,5]}})", 4)); }),
              HasSubstr("tensor \"t\" ends at byte 5"));
  EXPECT_EQ(parse(raw_file(R"({"t":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]}})", 0)).tensors.size(), 1u);
}

TEST(CaseP2, HeaderPromisesMoreThanTheBytes) {
  const auto fault = [](std::string_view tensor, std::size_t bytes) {
    return message_of(Code::corrupt, [&] { parse(raw_file("{\"w\":{" + std::string(tensor) + "}}", bytes)); });
  };
  EXPECT_THAT(fault(R"("dtype":"F32","shape":[4096,4096],"data_offsets":[0,4])", 4),
              HasSubstr("tensor \"w\": F32[4096,4096] is 67108864 bytes, but data_offsets [0, 4] hold 4"));
  EXPECT_THAT(fault(R"("dtype":"F32","shape":[-1,4],"data_offsets":[0,4])", 4), HasSubstr("tensor \"w\": extent -1"));
  EXPECT_THAT(fault(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4), HasSubstr("tensor \"w\""));
  EXPECT_THAT(fault(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])", 8), HasSubstr("before tensor \"w\""));
  EXPECT_THAT(fault(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 7), HasSubstr("tensor \"w\" ends at byte 8"));
  EXPECT_THAT(message_of(Code::corrupt, [] { parse(raw_file("{}", 0).replace(0, 1, "\x09")); }),
              HasSubstr("said to be 9 bytes"));
}

TEST(CaseP2, EveryPrefixOfAFileIsRefused) {
  const std::string whole = raw_file(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", 12);
  parse(whole);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    message_of(Code::corrupt, [&] { parse(std::string_view(whole).substr(0, n)); });
  }
  EXPECT_THAT(message_of(Code::corrupt, [&] { parse(whole + "x"); }), HasSubstr("1 bytes follow"));
}

TEST(CaseP4, WriterTakesLogicalValuesOnly) {
  // The first row of a 2x3 tensor in its storage: 6 elements where 3 belong.
  const TempFolder folder;
  SafetensorsWriter writer(folder / "f", safetensors_header(std::vector<TensorInfo>{{"B", Dtype::i64, {1, 3}}}));
  const std::vector<std::int64_t> storage = counting(6);
  EXPECT_THAT(message_of(Code::invalid_argument, [&] { writer.write("B", std::as_bytes(std::span(storage))); }),
              HasSubstr("tensor 'B' is 24 bytes, 48 given"));
  EXPECT_THAT(
      message_of(
          Code::invalid_argument,
          [] {
            lay("axes: [tp]\nrules: [{match: C, layout: '{} order(1,0)'}]", {{"C", Dtype::i64, {3, 2}}}, "(tp=1)");
          }),
      HasSubstr("row-major"));
}

TEST(CaseP5, RanksWithEmptyShards) {
  const TempFolder folder;
  save(folder.path(), lay(kSharded, {{"t", Dtype::i64, {6}}}, "(tp=4)"));
  const Checkpoint c = open_checkpoint(folder.path());
  EXPECT_EQ(c.files().size(), 4u);
  EXPECT_EQ(c.find("t", RankId(3))->tensor.shape, std::vector<Index>{0});
  EXPECT_EQ(load(c, "t"), counting(6));
}

TEST(CaseP7, ReadingWithoutAChangeOfRanksOpensOneFile) {
  const TempFolder folder;
  const ModelLayout model = lay("axes: [tp]\nrules: [{match: t, layout: '{0: tp}'}, {match: scalar, layout: '{}'}]\n",
                                {{"t", Dtype::i64, {5}}, {"scalar", Dtype::i64, {}}}, "(tp=2)");
  save(folder.path(), model);
  std::filesystem::remove(folder / rank_file_name(model.mesh(), RankId(0)));
  const Manifest manifest = load_manifest(folder.path());
  const SafetensorsFile file = open_rank_file(folder.path(), manifest, RankId(1));
  EXPECT_EQ(file.header().tensors[0].tensor.shape, std::vector<Index>{2});
  std::int64_t scalar = 0;
  std::memcpy(&scalar, file.data(file.header().tensors[1]).data(), 8);
  EXPECT_EQ(scalar, 42);  // its own copy
}

TEST(CaseL1, BufferThatIsNotAsDescribed) {
  const TempFolder folder;
  const ModelLayout model = lay(kSharded, {{"w", Dtype::i64, {8}}}, "(tp=2)");
  save(folder.path(), model);
  const std::string path = folder / rank_file_name(model.mesh(), RankId(1));
  test::write_stamped(path, safetensors_header(std::vector<TensorInfo>{{"w", Dtype::i64, {8}}}));
  const std::string message = message_of(Code::corrupt, [&] { open_checkpoint(folder.path()); });
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_THAT(message, HasSubstr("tensor \"w\" i64[8] is where rank 1 should have \"w\" i64[4]"));
}

TEST(CaseL5, SwappedStartAndEnd) {
  for (const char* range : {"[16,0]", "[32,16]"}) {
    EXPECT_THAT(message_of(Code::corrupt,
                           [&] {
                             parse(raw_file(
                                 R"({"e":{"dtype":"U8","shape":[16],"data_offsets":)" + std::string(range) + "}}", 32));
                           }),
                HasSubstr("end before it"));
  }
}

TEST(CaseL8, RanksWithDifferentNumbersOfPieces) {
  const TempFolder folder;
  const std::string rules = "axes: [owner]\nrules: [{match: 'piece.{n}', layout: '{owner: at(${min(n, 1)})}'}]\n";
  const ModelLayout model = lay(rules,
                                {{"piece.0", Dtype::i64, {5}},
                                 {"piece.1", Dtype::i64, {2}},
                                 {"piece.2", Dtype::i64, {2}},
                                 {"piece.3", Dtype::i64, {1}}},
                                "(owner=2)");
  save(folder.path(), model);
  const Checkpoint c = open_checkpoint(folder.path());
  EXPECT_EQ(c.tensors().size(), 4u);
  EXPECT_NE(c.find("piece.3", RankId(1)), nullptr);
  EXPECT_EQ(c.find("piece.3", RankId(0)), nullptr);
  std::size_t elements = 0;
  for (int n = 0; n < 4; ++n) {
    const auto values = load(c, "piece." + std::to_string(n));
    EXPECT_EQ(values, counting(static_cast<std::int64_t>(values.size())));
    elements += values.size();
  }
  EXPECT_EQ(elements, 10u);
}

TEST(CaseM1, GroupedHeadsInRawRows) {
  // q0-q3,k0,v0,q4-q7,k1,v1 over 4 ranks of 3 rows: each named part is a region of the stored tensor.
  const Layout q = layout("i64[2,6][:, 0:4] on (tp=1) {}");
  const Layout k = layout("i64[2,6][:, 4] on (tp=1) {}");
  EXPECT_EQ(q.elements(), 8);
  EXPECT_EQ(k.shape(), std::vector<Index>{2});
  // Targets on 2 ranks, fused per rank: whole heads, each with its group's k and v.
  const std::string rules = R"(
axes: [tp]
rules: [{match: q, layout: "{0: tp:balanced/4}"}, {match: k, layout: "{0: tp}"}, {match: v, layout: "{0: tp}"}]
fuse: [{store: qkv, dim: 0, parts: [{name: q, size: '8'}, {name: k, size: '2'}, {name: v, size: '2'}]}]
)";
  const ModelLayout model = lay(rules, {{"qkv", Dtype::i64, {12}}}, "(tp=2)");
  const StoredTensor& qkv = model.stored()[0];
  EXPECT_EQ(model.local_shape(qkv, RankId(1)), std::vector<Index>{6});
  EXPECT_EQ(model.part_storage(qkv, 1, RankId(1)).offset, 4);
  EXPECT_EQ(model.layout(*model.find("q")).region(RankId(1)).dims[0][0].global, GlobalIndex(4));
}

}  // namespace
}  // namespace reshard
