// What is said of an operator.
#pragma once

#include <optional>
#include <string>

#include "op/messages.h"
#include "reshard/check_adjoint.h"

namespace reshard::cli {

struct OpReport {
  Direction forward, adjoint;
  std::optional<AdjointReport> check = {};
};

// `explains`: with every message.
std::string op_text(const OpReport& report, bool explains);
std::string op_json(const OpReport& report);

}  // namespace reshard::cli
