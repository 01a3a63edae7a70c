// What a call is refused with.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "reshard/error.h"

namespace reshard {

// The message; "accepted" where there is none.
template <class Call>
std::string refusal_of(Call call, Code code = Code::invalid_argument) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "accepted";
}

}  // namespace reshard
