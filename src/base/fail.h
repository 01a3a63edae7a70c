// Throws an Error whose message is formatted: `fail(Code::invalid_argument, "axis {} ...", name)`.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "reshard/error.h"

namespace reshard {

template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace reshard
