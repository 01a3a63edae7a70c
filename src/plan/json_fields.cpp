#include "plan/json_fields.h"

#include "base/fail.h"

namespace reshard {
namespace {

using json = nlohmann::json;

// Values read from outside may be deep or long: only numbers are quoted.
std::string shown(const json& value) {
  return value.is_number() ? value.dump() : "a value of type " + std::string(value.type_name());
}

}  // namespace

const json& field(const json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key)) fail(Code::corrupt, "{}: \"{}\" is missing", where, key);
  return object.at(key);
}

const json& list_field(const json& object, const char* key, const std::string& where) {
  const json& value = field(object, key, where);
  if (!value.is_array()) fail(Code::corrupt, "{}: \"{}\" is {}, not a list", where, key, shown(value));
  return value;
}

Index number(const json& value, const std::string& where) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    fail(Code::corrupt, "{}: {} is no 64-bit integer", where, shown(value));
  return value.get<Index>();
}

std::vector<Index> numbers(const json& value, const std::string& where) {
  if (!value.is_array()) fail(Code::corrupt, "{}: {} is no list of integers", where, shown(value));
  std::vector<Index> list;
  for (const json& entry : value) list.push_back(number(entry, where));
  return list;
}

std::string string(const json& value, const std::string& where) {
  if (!value.is_string()) fail(Code::corrupt, "{}: {} is no string", where, shown(value));
  return value.get<std::string>();
}

}  // namespace reshard
