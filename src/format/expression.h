// Whole-number expressions of model files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

// Nothing for an unknown name.
using NameLookup = std::function<std::optional<Index>(std::string_view name)>;

// Throws Error(invalid_argument) that shows the expression: syntax, unknown name, overflow, division by zero.
Index evaluate(std::string_view expression, const NameLookup& lookup);
// Replaces each ${expression} in `text` by its value.
std::string expand(std::string_view text, const NameLookup& lookup);

}  // namespace reshard
