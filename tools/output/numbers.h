// Numbers as people read them; exact ones belong to --json.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard::cli {

// "16 B", "1.50 KiB", "131 GiB": at most four digits, exact below 1 KiB.
std::string bytes_text(Index bytes);
// "22,213".
std::string count_text(Index count);
// "22,213 tensors", "1 tensor".
std::string count_text(Index count, std::string_view noun);
// "0.3 ms", "1.25 s".
std::string seconds_text(double seconds);
// "0", "3.25 us", "12.5 ms", "1.25 s": predictions are often below a millisecond.
std::string time_text(double seconds);
// "(4,2)" and "4×2"; "()" and "scalar" for a 0-d tensor.
std::string tuple_text(std::span<const Index> values);
std::string extents_text(std::span<const Index> extents);
// "0-3,8", at most `width` wide: "0,2,4…+13".
std::string ranks_text(std::span<const RankId> ranks, std::size_t width);
// Columns that UTF-8 text takes on a terminal.
int width_of(std::string_view utf8);

}  // namespace reshard::cli
