// Any text as a program: refused with an Error, or it prints as a text that reads back and prints the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "reshard/error.h"
#include "reshard/program_text.h"

using namespace reshard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::string text;
  try {
    text = text_of(parse_program(input));
  } catch (const Error& error) {
    if (error.code() != Code::invalid_argument) std::abort();
    return 0;
  }
  // What was accepted may not be refused now: an Error from here on is a crash.
  if (text_of(parse_program(text)) != text) std::abort();
  return 0;
}
