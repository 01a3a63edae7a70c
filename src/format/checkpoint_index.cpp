#include "format/checkpoint_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/json.h"
#include "format/text_file.h"

namespace reshard {

CheckpointIndex parse_index(std::string_view text, std::string_view file) {
  CheckpointIndex index;
  bool map = false;
  JsonReader json(text, file);
  json.object([&](const std::string& key) {
    if (key == "weight_map") {
      map = true;
      json.object([&](const std::string& tensor) {
        index.entries.push_back({tensor, json.string()});
        check_file_name(index.entries.back().file, file);
      });
    } else if (key == "metadata" && json.peek() == JsonReader::Kind::object) {
      json.object([&](const std::string& name) {
        if (name == "total_size" && json.integer_next()) {
          index.total_bytes = json.integer();
        } else {
          json.skip();
        }
      });
    } else {
      json.skip();
    }
  });
  json.end();
  if (!map) json.fault("no weight_map");
  return index;
}

std::string index_text(CheckpointIndex index) {
  std::sort(index.entries.begin(), index.entries.end(),
            [](const IndexEntry& a, const IndexEntry& b) { return a.tensor < b.tensor; });
  std::string text = fmt::format("{{\n  \"metadata\": {{\n    \"total_size\": {}\n  }},\n  \"weight_map\": {{",
                                 index.total_bytes.value_or(0));
  const char* separator = "\n";
  for (const IndexEntry& entry : index.entries) {
    text += fmt::format("{}    {}: {}", separator, json_quote(entry.tensor), json_quote(entry.file));
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

}  // namespace reshard
