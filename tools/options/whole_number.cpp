#include "options/whole_number.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace reshard::cli {

CLI::Validator whole_number(long long least) {
  const auto fault = [least](std::string& text) -> std::string {
    long long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least) return "";
    return fmt::format("\"{}\" is no whole number from {} to 9223372036854775807", text, least);
  };
  return CLI::Validator(fault, "");
}

}  // namespace reshard::cli
