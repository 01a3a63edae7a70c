// Numbers of a model's config.json.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

// Every whole number of the text by its key; a dot reaches into an object. true is 1, false 0. Lists and other values
// are left out.
std::map<std::string, Index, std::less<>> config_values(std::string_view text, std::string_view file);

}  // namespace reshard
