// "Did you mean": the words nearest to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reshard {

// Places of up to `count` different candidates by rising edit distance (insert, delete, replace).
std::vector<std::size_t> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t count);
// " (did you mean 'x'?)", or nothing when there are no candidates.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace reshard
