#include "format/json.h"

#include "files.h"

namespace reshard {
namespace {

using test::message_of;
using testing::HasSubstr;

std::string json_fault(std::string_view text) {
  return message_of(Code::corrupt, [&] {
    JsonReader json(text, "f.json");
    json.skip();
    json.end();
  });
}

TEST(Json, AcceptsEveryKindOfValue) {
  JsonReader json(R"( {"a":[1,-2.5e+3,true,false,null,"x\n\u00e9\ud83d\ude00"],"b":{}} )", "f.json");
  json.skip();
  json.end();
}

TEST(Json, StringEscapesRoundTrip) {
  const std::string text = "tab\t quote\" back\\ bell\x07 \xC3\xA9 \xF0\x9F\x98\x80";
  const std::string quoted = json_quote(text);
  JsonReader json(quoted, "f.json");
  EXPECT_EQ(json.string(), text);
  EXPECT_EQ(quoted, "\"tab\\t quote\\\" back\\\\ bell\\u0007 \xC3\xA9 \xF0\x9F\x98\x80\"");
}

TEST(Json, SurrogatePairsBecomeOneCharacter) {
  JsonReader json(R"("\ud83d\ude00")", "f.json");
  EXPECT_EQ(json.string(), "\xF0\x9F\x98\x80");
}

TEST(Json, IntegersAreExact) {
  JsonReader json("[9223372036854775807,-9223372036854775808]", "f.json");
  std::vector<Index> values;
  json.array([&] { values.push_back(json.integer()); });
  EXPECT_EQ(values, (std::vector<Index>{INT64_MAX, INT64_MIN}));
}

TEST(Json, FaultsNameFileAndByte) {
  EXPECT_THAT(json_fault(R"({"a":1,"a":2})"), HasSubstr("f.json: key \"a\" appears twice at byte 10"));
  EXPECT_THAT(json_fault("[1,]"), HasSubstr("expected a value at byte 3"));
  EXPECT_THAT(json_fault("[01]"), HasSubstr("leading zero"));
  EXPECT_THAT(json_fault("[1.]"), HasSubstr("expected a number"));
  EXPECT_THAT(json_fault("{} x"), HasSubstr("goes on"));
  EXPECT_THAT(json_fault("\"a"), HasSubstr("does not end"));
  EXPECT_THAT(json_fault("\"a\nb\""), HasSubstr("control character"));
  EXPECT_THAT(json_fault(R"("\x")"), HasSubstr("unknown escape"));
  EXPECT_THAT(json_fault(R"("\ud83d")"), HasSubstr("expected \\u"));
  EXPECT_THAT(json_fault(R"("\ude00")"), HasSubstr("surrogate"));
  EXPECT_THAT(json_fault("tru"), HasSubstr("expected true"));
  EXPECT_THAT(json_fault(""), HasSubstr("text ends"));
}

TEST(Json, NestingIsLimited) {
  EXPECT_THAT(json_fault(std::string(100000, '[')), HasSubstr("nested deeper than 64"));
  std::string deepest = std::string(64, '[') + std::string(64, ']');
  JsonReader json(deepest, "f.json");
  json.skip();
}

TEST(Json, IntegerRefusesWhatIsNotOne) {
  const auto integer = [](std::string_view text) {
    return message_of(Code::corrupt, [&] { JsonReader(text, "f.json").integer(); });
  };
  EXPECT_THAT(integer("1.0"), HasSubstr("1.0 is not an integer"));
  EXPECT_THAT(integer("1e3"), HasSubstr("not an integer"));
  EXPECT_THAT(integer("9223372036854775808"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(integer("\"1\""), HasSubstr("expected a number"));
}

TEST(Json, Utf8IsChecked) {
  EXPECT_TRUE(valid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(valid_utf8(bad)) << testing::PrintToString(std::string(bad));
  }
}

}  // namespace
}  // namespace reshard
