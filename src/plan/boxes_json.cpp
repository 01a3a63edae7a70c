// The JSON form of box lists: {"dtype": "bf16", "shape": [8, 4], "boxes": [{"rank": 0, "offsets": [0, 0], "sizes": [4,
// 4]}]}.
#include "base/fail.h"
#include "plan/json_fields.h"
#include "reshard/boxes.h"

namespace reshard {

std::string BoxList::json() const {
  nlohmann::ordered_json out{{"dtype", name_of(dtype_)}, {"shape", shape_}};
  auto& list = out["boxes"] = nlohmann::ordered_json::array();
  for (const OwnedBox& owned : boxes_) {
    std::vector<Index> offsets;
    for (const GlobalIndex offset : owned.box.offsets) offsets.push_back(offset.value());
    list.push_back({{"rank", owned.rank.value()}, {"offsets", offsets}, {"sizes", owned.box.sizes}});
  }
  return out.dump(1);
}

BoxList box_list_from_json(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) fail(Code::corrupt, "box list: this is no JSON");
  const std::string dtype_text = string(field(value, "dtype", "box list"), "box list, dtype");
  const auto dtype = dtype_named(dtype_text);
  if (!dtype) fail(Code::corrupt, "box list: \"{}\" is no dtype (f32, bf16, i64, ...)", dtype_text);
  std::vector<OwnedBox> boxes;
  for (const nlohmann::json& entry : list_field(value, "boxes", "box list")) {
    const std::string where = "box list, entry " + std::to_string(boxes.size());
    OwnedBox& owned = boxes.emplace_back();
    owned.rank = RankId(number(field(entry, "rank", where), where + ", rank"));
    for (const Index offset : numbers(field(entry, "offsets", where), where + ", offsets"))
      owned.box.offsets.push_back(GlobalIndex(offset));
    owned.box.sizes = numbers(field(entry, "sizes", where), where + ", sizes");
  }
  return BoxList(*dtype, numbers(field(value, "shape", "box list"), "box list, shape"), std::move(boxes));
}

}  // namespace reshard
