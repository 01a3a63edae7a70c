#include "reshard/checkpoint.h"

#include "files.h"
#include "reshard/checkpoint_output.h"

namespace reshard {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_file;
using test::write_stamped;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<TensorInfo> kFirst = {{"a", Dtype::f32, {3, 5}}, {"b", Dtype::bf16, {0, 7}}};
const std::vector<TensorInfo> kSecond = {{"c", Dtype::i64, {4}}};

std::string index_of(const std::string& map, Index total) {
  return "{\"metadata\":{\"total_size\":" + std::to_string(total) + "},\"weight_map\":{" + map + "}}";
}

// Two files and an index that fits them, unless another is given.
void write_two(const TempFolder& folder,
               const std::string& index = index_of(R"("a":"x.safetensors","b":"x.safetensors","c":"y.safetensors")",
                                                   92)) {
  write_stamped(folder / "x.safetensors", safetensors_header(kFirst));
  write_stamped(folder / "y.safetensors", safetensors_header(kSecond));
  write_file(folder / "model.safetensors.index.json", index);
}

std::string fault(const std::string& index) {
  const TempFolder folder;
  write_two(folder, index);
  return message_of(Code::corrupt, [&] { open_checkpoint(folder.path()); });
}

TEST(Checkpoint, SingleFileAndFolderOfOne) {
  const TempFolder folder;
  write_stamped(folder / "model.safetensors", safetensors_header(kFirst));
  write_file(folder / "config.json", "{\"n\": 1}");
  write_file(folder / "1_Pooling/config.json", "{}");
  write_file(folder / ".hidden/x", "");
  write_file(folder / "pytorch_model.bin", "old");
  const Checkpoint one = open_checkpoint(folder / "model.safetensors");
  EXPECT_EQ(one.infos(), kFirst);
  EXPECT_TRUE(one.side_files().empty());
  const Checkpoint all = open_checkpoint(folder.path());
  EXPECT_EQ(all.infos(), kFirst);
  EXPECT_EQ(all.config_text(), "{\"n\": 1}");
  EXPECT_EQ(all.side_files(), (std::vector<std::string>{"1_Pooling/config.json", "config.json"}));
  EXPECT_EQ(all.find("a")->offset, SafetensorsFile::open(folder / "model.safetensors").header().data_begin());
  EXPECT_EQ(all.find("a", RankId(7)), all.find("a"));
  EXPECT_EQ(all.find("x"), nullptr);
}

TEST(Checkpoint, IndexOfSeveralFiles) {
  const TempFolder folder;
  write_two(folder);
  write_file(folder / "consolidated.safetensors", "not part of it");
  const Checkpoint c = open_checkpoint(folder.path());
  EXPECT_EQ(c.kind(), Checkpoint::Kind::index);
  EXPECT_EQ(c.tensors().size(), 3u);
  EXPECT_EQ(c.path_of(c.find("c")->file), folder / "y.safetensors");
  EXPECT_EQ(c.index_text(), test::read_file(folder / "model.safetensors.index.json"));
  EXPECT_TRUE(c.side_files().empty());
}

TEST(CheckpointFault, IndexAndFilesDisagree) {
  EXPECT_THAT(fault(index_of(R"("a":"x.safetensors","b":"x.safetensors","c":"z.safetensors")", 92)),
              HasSubstr("the file z.safetensors is missing; tensor 'c' should be in it"));
  EXPECT_THAT(fault(index_of(R"("a":"x.safetensors","b":"x.safetensors","c":"y.safetensors","d":"y.safetensors")", 92)),
              HasSubstr("tensor 'd' is not in its file y.safetensors"));
  EXPECT_THAT(fault(index_of(R"("a":"x.safetensors","c":"y.safetensors")", 92)),
              HasSubstr("tensor 'b' is in x.safetensors, but the index does not list it"));
  EXPECT_THAT(fault(index_of(R"("a":"y.safetensors","b":"x.safetensors","c":"y.safetensors")", 92)),
              HasSubstr("tensor 'a' is in x.safetensors, but the index looks for it in y.safetensors"));
  EXPECT_THAT(fault(index_of(R"("a":"x.safetensors","b":"x.safetensors","c":"y.safetensors")", 93)),
              HasSubstr("total_size is 93, but the tensors are 92 bytes"));
  EXPECT_THAT(fault(index_of(R"("a":"x.safetensors","a":"x.safetensors")", 92)), HasSubstr("\"a\" appears twice"));
  EXPECT_THAT(fault("{}"), HasSubstr("no weight_map"));
  EXPECT_THAT(fault(R"({"weight_map":[]})"), HasSubstr("expected '{'"));
}

TEST(CheckpointFault, L3_OneNameInTwoFiles) {
  const TempFolder folder;
  write_two(folder);
  write_stamped(folder / "y.safetensors", safetensors_header(std::vector<TensorInfo>{kSecond[0], kFirst[0]}));
  EXPECT_THAT(message_of(Code::corrupt, [&] { open_checkpoint(folder.path()); }),
              HasSubstr("tensor 'a' is in y.safetensors, but another file holds it too"));
}

TEST(CheckpointFault, FileNamesStayInTheFolder) {
  for (const char* name : {"../x.safetensors", "/etc/passwd", "", "a/../../x", ".", "./x.safetensors"}) {
    EXPECT_THAT(fault(index_of("\"a\":\"" + std::string(name) + "\"", 92)), HasSubstr("does not stay in its folder"))
        << name;
  }
}

TEST(CheckpointFault, NothingThere) {
  const TempFolder folder;
  EXPECT_THAT(message_of(Code::io, [&] { open_checkpoint(folder.path()); }), HasSubstr("none of reshard.json"));
  EXPECT_THAT(message_of(Code::io, [&] { open_checkpoint(folder / "none"); }), HasSubstr("no such file or folder"));
}

TEST(TensorList, ShapesAndIndexBothWays) {
  const std::string list = "# name\tdtype\tshape\na\tF32\t3,5\nb\tBF16\t0,7\nscalar\tU8\t\n";
  const std::vector<TensorInfo> tensors = tensors_from_shapes(list, "l.tsv");
  EXPECT_EQ(tensors, (std::vector<TensorInfo>{kFirst[0], kFirst[1], {"scalar", Dtype::u8, {}}}));
  const auto fault_of = [&](const std::string& index) {
    return message_of(Code::corrupt, [&] { tensors_from_index_and_shapes(index, list, "l.tsv"); });
  };
  EXPECT_THAT(fault_of(index_of(R"("a":"x","b":"x")", 61)), HasSubstr("'scalar' is not in the index"));
  EXPECT_THAT(fault_of(index_of(R"("a":"x","b":"x","scalar":"x","d":"x")", 61)),
              HasSubstr("'d' of the index has no line"));
  EXPECT_THAT(fault_of(index_of(R"("a":"x","b":"x","scalar":"x")", 60)),
              HasSubstr("states 60 bytes, the shapes make 61"));
  EXPECT_THAT(message_of(Code::corrupt, [] { tensors_from_shapes("a\tF32\t3,x\n", "l.tsv"); }),
              HasSubstr("l.tsv:1: tensor 'a': 'x' is no extent"));
  EXPECT_THAT(message_of(Code::corrupt, [] { tensors_from_shapes("a\tFP\t3\n", "l.tsv"); }),
              HasSubstr("unknown dtype 'FP'"));
}

TEST(CheckpointOutput, WholeTensorsSplitBySizeAndReadBack) {
  const TempFolder folder;
  std::vector<TensorInfo> tensors = kFirst;
  tensors.push_back(kSecond[0]);
  const CheckpointOutput output = checkpoint_output(whole_tensors(tensors), std::nullopt, {.max_file_bytes = 61});
  ASSERT_EQ(output.files().size(), 2u);
  EXPECT_EQ(output.files()[1].name, "model-00002-of-00002.safetensors");
  for (const OutputFile& file : output.files()) write_stamped(folder / file.name, file.header);
  for (const OutputText& text : output.texts()) write_file(folder / text.name, text.text);
  const Checkpoint again = open_checkpoint(folder.path());
  EXPECT_EQ(again.kind(), Checkpoint::Kind::index);
  for (const TensorInfo& tensor : tensors) {
    const auto place = output.find(tensor.name, RankId(0));
    ASSERT_TRUE(place);
    EXPECT_EQ(again.find(tensor.name)->tensor, tensor);
    EXPECT_EQ(again.find(tensor.name)->offset, place->offset);
    EXPECT_EQ(place->bytes, bytes_of(tensor));
  }
  EXPECT_FALSE(output.find("a", RankId(1)));
}

TEST(CheckpointOutput, OriginGivesTheSameFilesByteForByte) {
  const TempFolder folder;
  write_two(folder);
  // A header that no writer of ours makes.
  write_file(folder / "y.safetensors",
             test::raw_file("{ \"c\": {\"shape\":[4], \"dtype\":\"I64\",\"data_offsets\":[0,32]}}\n", 32));
  const Checkpoint c = open_checkpoint(folder.path());
  const CheckpointOutput output = checkpoint_output(source_layout(c), c.origin());
  ASSERT_EQ(output.files().size(), 2u);
  for (const OutputFile& file : output.files()) {
    const std::string bytes = test::read_file(folder / file.name);
    EXPECT_EQ(bytes.substr(0, static_cast<std::size_t>(file.header.data_begin())), safetensors_prefix(file.header));
    EXPECT_EQ(file.bytes, static_cast<Index>(bytes.size()));
  }
  EXPECT_EQ(output.texts()[0].text, c.index_text());
  // Other tensors than the origin's have files of their own.
  const auto other = checkpoint_output(whole_tensors(kFirst), c.origin());
  EXPECT_EQ(other.files()[0].name, "model.safetensors");
}

}  // namespace
}  // namespace reshard
