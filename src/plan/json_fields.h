// Fields of JSON from outside: what is missing or of another kind is an Error(corrupt) that says where and what.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reshard/index.h"

namespace reshard {

const nlohmann::json& field(const nlohmann::json& object, const char* key, const std::string& where);
const nlohmann::json& list_field(const nlohmann::json& object, const char* key, const std::string& where);
Index number(const nlohmann::json& value, const std::string& where);
std::vector<Index> numbers(const nlohmann::json& value, const std::string& where);
std::string string(const nlohmann::json& value, const std::string& where);

}  // namespace reshard
