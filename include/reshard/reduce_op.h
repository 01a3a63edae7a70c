// How pending terms become one value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reshard {

// avg is the sum divided once by the number of terms.
enum class ReduceOp : std::uint8_t { sum, avg, min, max, product };

std::string_view name_of(ReduceOp op);
std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace reshard
