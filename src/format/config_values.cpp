#include "format/config_values.h"

#include "format/json.h"

namespace reshard {

namespace {

void collect(JsonReader& json, const std::string& prefix, std::map<std::string, Index, std::less<>>& values) {
  json.object([&](const std::string& key) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (json.peek() == JsonReader::Kind::object) {
      collect(json, path, values);
    } else if (json.peek() == JsonReader::Kind::boolean) {
      values[path] = json.boolean() ? 1 : 0;
    } else if (json.integer_next()) {
      values[path] = json.integer();
    } else {
      json.skip();
    }
  });
}

}  // namespace

std::map<std::string, Index, std::less<>> config_values(std::string_view text, std::string_view file) {
  std::map<std::string, Index, std::less<>> values;
  JsonReader json(text, file);
  collect(json, "", values);
  json.end();
  return values;
}

}  // namespace reshard
