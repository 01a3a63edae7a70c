#include "reshard/safetensors.h"

#include "files.h"

namespace reshard {
namespace {

using test::message_of;
using test::parse;
using test::raw_file;
using test::TempFolder;
using testing::HasSubstr;

std::string file_fault(std::string_view bytes) {
  return message_of(Code::corrupt, [&] { parse(bytes); });
}
std::string header_fault(std::string_view header, std::size_t data_bytes) {
  return file_fault(raw_file(header, data_bytes));
}

TEST(Safetensors, ReadsTensorsMetadataAndPadding) {
  const std::string header =
      R"({"__metadata__":{"format":"pt","rank":"3"},"w":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
      R"("b":{"shape":[],"data_offsets":[0,4],"dtype":"F32"}}   )";
  const SafetensorsHeader h = parse(raw_file(header, 16));
  EXPECT_EQ(h.text, header);
  EXPECT_EQ(h.metadata, (Metadata{{"format", "pt"}, {"rank", "3"}}));
  ASSERT_EQ(h.tensors.size(), 2u);
  EXPECT_EQ(h.tensors[0], (FileTensor{{"w", Dtype::bf16, {2, 3}}, 4, 16}));
  EXPECT_EQ(h.tensors[1], (FileTensor{{"b", Dtype::f32, {}}, 0, 4}));
  EXPECT_EQ(h.data_begin(), static_cast<Index>(8 + header.size()));
  EXPECT_EQ(h.file_bytes(), h.data_begin() + 16);
}

TEST(Safetensors, EmptyHeaderIsAFileWithoutTensors) { EXPECT_TRUE(parse(raw_file("{}", 0)).tensors.empty()); }

TEST(Safetensors, EveryDtypeHasItsWidth) {
  for (const Dtype dtype : all_dtypes()) {
    if (dtype == Dtype::complex128) continue;
    const TensorInfo tensor{"t", dtype, {3, 5}};
    const SafetensorsHeader h = safetensors_header(std::vector{tensor});
    EXPECT_EQ(parse(raw_file(h.text, static_cast<std::size_t>(15 * bytes_of(dtype)))).tensors[0].tensor, tensor);
  }
  EXPECT_THAT(message_of(Code::unsupported, [] { safetensors_name(Dtype::complex128); }), HasSubstr("complex128"));
}

TEST(Safetensors, MoreThan2To31Elements) {
  const Index rows = (Index{1} << 31) + 7;
  const SafetensorsHeader h = safetensors_header(std::vector<TensorInfo>{{"big", Dtype::u8, {rows, 3}}});
  const std::string prefix = safetensors_prefix(h);
  const auto parsed = parse_safetensors(std::as_bytes(std::span(prefix)), h.data_begin() + rows * 3, "f");
  EXPECT_EQ(parsed.tensors[0].end, rows * 3);
}

// The bytes that the reference library writes for the same tensors.
TEST(Safetensors, HeaderIsThatOfTheReferenceLibrary) {
  std::vector<TensorInfo> tensors = {{"b", Dtype::f32, {2}},  {"a", Dtype::f32, {1, 2}}, {"u", Dtype::u8, {3}},
                                     {"h", Dtype::bf16, {1}}, {"l", Dtype::i64, {0, 4}}, {"é\"\n", Dtype::f16, {2}}};
  sort_as_reference(tensors);
  const SafetensorsHeader h = safetensors_header(tensors, {{"format", "pt"}});
  std::string expected =
      R"({"__metadata__":{"format":"pt"},"l":{"dtype":"I64","shape":[0,4],"data_offsets":[0,0]},)"
      R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("h":{"dtype":"BF16","shape":[1],"data_offsets":[16,18]},)"
      "\"é\\\"\\n\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[18,22]},"
      R"("u":{"dtype":"U8","shape":[3],"data_offsets":[22,25]}})";
  expected.append((8 - expected.size() % 8) % 8, ' ');
  EXPECT_EQ(h.text, expected);
  EXPECT_EQ(h.data_begin() % 8, 0);
}

// The order in which the reference library wrote one tensor of each dtype, named by it.
TEST(Safetensors, DtypeOrderIsThatOfTheReferenceLibrary) {
  const std::vector<Dtype> order = {Dtype::u64, Dtype::i64, Dtype::f64,    Dtype::complex64, Dtype::f32,
                                    Dtype::u32, Dtype::i32, Dtype::f16,    Dtype::u16,       Dtype::i16,
                                    Dtype::i8,  Dtype::u8,  Dtype::boolean};
  std::vector<TensorInfo> tensors;
  for (const Dtype dtype : all_dtypes()) {
    if (std::find(order.begin(), order.end(), dtype) != order.end()) tensors.push_back({"t", dtype, {1}});
  }
  sort_as_reference(tensors);
  ASSERT_EQ(tensors.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(tensors[i].dtype, order[i]) << i;
}

TEST(Safetensors, RawHeaderIsWrittenBackByteForByte) {
  // Order, spaces and offsets that no serialiser of ours would choose.
  const std::string file = raw_file(
      "{ \"b\" : {\"shape\":[2],\"dtype\":\"U8\",\"data_offsets\":[1,3]},\n"
      "\"a\":{\"data_offsets\":[0,1],\"shape\":[1],\"dtype\":\"BOOL\"}}  \n ",
      3);
  EXPECT_EQ(safetensors_prefix(parse(file)) + std::string("\0\1\2", 3), file);
  const SafetensorsHeader again = parse_safetensors_text(parse(file).text, "kept");
  EXPECT_EQ(again.tensors, parse(file).tensors);
}

TEST(SafetensorsFault, Length) {
  EXPECT_THAT(file_fault(""), HasSubstr("f.safetensors: 0 bytes are too few"));
  EXPECT_THAT(file_fault("1234567"), HasSubstr("too few"));
  EXPECT_THAT(file_fault(raw_file("{}", 0).substr(0, 9)), HasSubstr("said to be 2 bytes, but the file has only 9"));
  EXPECT_THAT(file_fault(std::string("\x01\xE1\xF5\x05\0\0\0\0", 8) + "{}"), HasSubstr("longer than 100000000"));
  EXPECT_THAT(file_fault(std::string(8, '\xFF') + "{}"), HasSubstr("longer than 100000000"));
}

TEST(SafetensorsFault, NotAnObject) {
  EXPECT_THAT(header_fault("", 0), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(header_fault("[]", 0), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(header_fault(" {}", 0), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(header_fault("{}{}", 0), HasSubstr("goes on"));
  EXPECT_THAT(header_fault(std::string("{}\0", 3), 0), HasSubstr("goes on"));
  EXPECT_THAT(header_fault(R"({"a":7})", 0), HasSubstr("tensor \"a\": expected '{'"));
  EXPECT_THAT(header_fault("{\"\xFF\":{}}", 0), HasSubstr("not UTF-8"));
}

TEST(SafetensorsFault, MetadataHoldsTextsOnly) {
  EXPECT_THAT(header_fault(R"({"__metadata__":{"a":1}})", 0), HasSubstr("__metadata__: expected '\"'"));
  EXPECT_THAT(header_fault(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__: expected '{'"));
  EXPECT_THAT(header_fault(R"({"__metadata__":{"a":"1","a":"2"}})", 0), HasSubstr("\"a\" appears twice"));
}

std::string one(std::string_view body) { return "{\"w\":{" + std::string(body) + "}}"; }

TEST(SafetensorsFault, KeysOfATensor) {
  EXPECT_THAT(header_fault(one(R"("shape":[1],"data_offsets":[0,1])"), 1), HasSubstr("tensor \"w\": no dtype"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","data_offsets":[0,1])"), 1), HasSubstr("tensor \"w\": no shape"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1])"), 1), HasSubstr("tensor \"w\": no data_offsets"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"x":0)"), 1),
              HasSubstr("tensor \"w\": unknown key \"x\""));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1])"), 1),
              HasSubstr("\"dtype\" appears twice"));
}

TEST(SafetensorsFault, UnknownDtype) {
  EXPECT_THAT(header_fault(one(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])"), 4),
              HasSubstr("tensor \"w\": unknown dtype \"F33\""));
  EXPECT_THAT(header_fault(one(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), 4), HasSubstr("unknown dtype"));
  EXPECT_THAT(header_fault(one(R"("dtype":7,"shape":[1],"data_offsets":[0,4])"), 4), HasSubstr("expected '\"'"));
}

TEST(SafetensorsFault, Numbers) {
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])"), 1), HasSubstr("extent -1"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1.0],"data_offsets":[0,1])"), 1),
              HasSubstr("1.0 is not an integer"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1])"), 1),
              HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0),
              HasSubstr("tensor \"w\""));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0])"), 0),
              HasSubstr("tensor \"w\""));
  EXPECT_THAT(header_fault(one(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"), 0),
              HasSubstr("tensor \"w\""));
}

TEST(SafetensorsFault, Offsets) {
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[0])"), 1),
              HasSubstr("1 numbers instead of 2"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[-1,0])"), 1), HasSubstr("begin at -1"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[2,1])"), 2),
              HasSubstr("begin at 2 and end before it, at 1"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[9],"data_offsets":[0,9])"), 8),
              HasSubstr("tensor \"w\" ends at byte 9, but the data section has only 8"));
}

std::string two(std::string_view a, std::string_view b) {
  return "{\"a\":{\"dtype\":\"U8\"," + std::string(a) + "},\"b\":{\"dtype\":\"U8\"," + std::string(b) + "}}";
}

TEST(SafetensorsFault, Tiling) {
  EXPECT_THAT(header_fault(two(R"("shape":[4],"data_offsets":[0,4])", R"("shape":[4],"data_offsets":[3,7])"), 7),
              HasSubstr("tensors \"a\" and \"b\" overlap in the bytes from 3 to 4"));
  EXPECT_THAT(header_fault(two(R"("shape":[4],"data_offsets":[0,4])", R"("shape":[4],"data_offsets":[0,4])"), 4),
              HasSubstr("overlap in the bytes from 0 to 4"));
  EXPECT_THAT(header_fault(two(R"("shape":[4],"data_offsets":[5,9])", R"("shape":[4],"data_offsets":[0,4])"), 9),
              HasSubstr("no tensor owns the bytes from 4 to 5, before tensor \"a\""));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])"), 2),
              HasSubstr("no tensor owns the bytes from 0 to 1"));
  EXPECT_THAT(header_fault(one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1])"), 3),
              HasSubstr("2 bytes follow the last tensor"));
  EXPECT_THAT(header_fault("{}", 1), HasSubstr("1 bytes follow"));
}

TEST(SafetensorsFault, DuplicateName) {
  const std::string t = R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(header_fault("{" + t + "," + t + "}", 1), HasSubstr("key \"w\" appears twice"));
  EXPECT_THAT(header_fault("{" + t + R"(,"\u0077":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2),
              HasSubstr("key \"w\" appears twice"));
}

TEST(SafetensorsFault, FileOnDiskNamesItsPath) {
  const TempFolder folder;
  test::write_file(folder / "w.safetensors", raw_file(one(R"("dtype":"U8","shape":[9],"data_offsets":[0,9])"), 8));
  EXPECT_THAT(message_of(Code::corrupt, [&] { SafetensorsFile::open(folder / "w.safetensors"); }),
              HasSubstr(folder / "w.safetensors"));
  EXPECT_THAT(message_of(Code::io, [&] { SafetensorsFile::open(folder / "none"); }), HasSubstr("cannot open"));
  EXPECT_THAT(message_of(Code::io, [&] { SafetensorsFile::open(folder.path()); }), HasSubstr("not a regular file"));
}

TEST(SafetensorsWriter, WritesInAnyOrderAndReadsBack) {
  const TempFolder folder;
  const std::vector<TensorInfo> tensors = {
      {"a", Dtype::f32, {3, 5}}, {"empty", Dtype::bf16, {0, 7}}, {"c", Dtype::u8, {}}};
  const std::string path = folder / "w.safetensors";
  SafetensorsWriter writer(path, safetensors_header(tensors));
  for (std::size_t i = tensors.size(); i-- > 0;) {
    const std::string bytes = test::stamped(tensors[i]);
    writer.write(tensors[i].name, std::as_bytes(std::span(bytes)));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.finish();
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  const SafetensorsFile file = SafetensorsFile::open(path);
  const ReadGuard guard(file.file());
  for (const FileTensor& t : file.header().tensors) {
    const auto data = file.data(t);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data()), data.size()), test::stamped(t.tensor));
  }
  guard.check();
}

TEST(SafetensorsWriter, RefusesByName) {
  const TempFolder folder;
  const std::string path = folder / "w.safetensors";
  {
    SafetensorsWriter writer(path,
                             safetensors_header(std::vector<TensorInfo>{{"a", Dtype::u8, {2}}, {"b", Dtype::u8, {1}}}));
    const std::byte bytes[3] = {};
    const auto write = [&](std::string_view name, std::size_t n) {
      return message_of(Code::invalid_argument, [&] { writer.write(name, std::span(bytes).first(n)); });
    };
    EXPECT_THAT(write("x", 2), HasSubstr("no tensor 'x'"));
    EXPECT_THAT(write("a", 3), HasSubstr("tensor 'a' is 2 bytes, 3 given"));
    writer.write("a", std::span(bytes).first(2));
    EXPECT_THAT(write("a", 2), HasSubstr("'a' is written twice"));
    EXPECT_THAT(message_of(Code::invalid_argument, [&] { writer.finish(); }), HasSubstr("'b' was never written"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THAT(message_of(Code::invalid_argument,
                         [] {
                           place_tensors(std::vector<TensorInfo>{{"a", Dtype::u8, {1}}, {"a", Dtype::u8, {1}}});
                         }),
              HasSubstr("\"a\" is given twice"));
}

}  // namespace
}  // namespace reshard
