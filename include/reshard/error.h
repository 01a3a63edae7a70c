// Errors of the library: one exception type with a code.
//
// Everything that builds, parses, plans or registers throws `Error`. The message is complete on its own: it names the
// tensor, rank, axis and value at fault and the way out. The library never prints and never aborts.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace reshard {

enum class Code {
  invalid_argument,  // the caller's input is wrong; nothing was done
  unsupported,       // well formed, but this version cannot do it
  timeout,           // a deadline passed
  peer_lost,         // another rank died or left
  corrupt,           // data read from outside contradicts itself
  io,                // the operating system refused a file operation
  internal,          // a bug of ours
};

std::string_view name_of(Code code);

// Thread rule: immutable.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

}  // namespace reshard
