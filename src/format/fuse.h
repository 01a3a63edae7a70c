// The fuse rules of a model file at work: taking fused tensors apart, and finding what is stored together.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "format/pattern.h"
#include "format/problems.h"
#include "reshard/model.h"

namespace reshard {

class FuseRules {
 public:
  using LookUp = std::function<std::optional<Index>(std::string_view name, const Captures& captures)>;

  // Throws Error(invalid_argument) for a wildcard, or for parts whose captures differ from those of `store`.
  FuseRules(std::span<const FuseRule> rules, LookUp look_up);

  // The logical tensors: each that has the name of a rule's `store` is replaced by its parts.
  std::vector<TensorInfo> take_apart(std::span<const TensorInfo> tensors, Problems& problems) const;
  // Fills in `stored` and `part` of the tensors.
  std::vector<StoredTensor> put_together(std::vector<ModelTensor>& tensors, Problems& problems) const;

 private:
  struct Compiled {
    const FuseRule* rule;
    Pattern store;
    std::vector<Pattern> parts;
  };
  class Grouping;
  void split(const Compiled& rule, const TensorInfo& tensor, const Captures& captures,
             std::vector<TensorInfo>& out) const;

  std::vector<Compiled> rules_;
  LookUp look_up_;
};

}  // namespace reshard
