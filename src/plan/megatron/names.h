// Names of tensors, component by component: "decoder.layers.0.mlp.experts.linear_fc1.weight3".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard::megatron {

std::vector<std::string> split_name(std::string_view name);
std::string join_name(const std::vector<std::string>& parts);

// The number of an expert in a component of a name ("weight3", "bias3", or "3" after "local_experts").
struct ExpertNumber {
  std::size_t part = 0;
  std::size_t digits = 0;  // where they begin in the part
  Index number = 0;
};
std::vector<ExpertNumber> expert_numbers(const std::vector<std::string>& parts);

// Where a tied output layer's weight may be found, in this order; none for another name. Only beside it: with the same
// path before "output_layer".
std::vector<std::string> tied_names(std::string_view resolved_name);

}  // namespace reshard::megatron
