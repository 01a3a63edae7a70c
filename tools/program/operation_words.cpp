#include "program/operation_words.h"

#include <fmt/format.h>

namespace reshard::cli {

std::string_view word_of(OpCode code) {
  switch (code) {
    case OpCode::copy: return "copy";
    case OpCode::put: return "put";
    case OpCode::get: return "get";
    case OpCode::notify: return "notify";
    case OpCode::wait: return "wait";
    case OpCode::fence: return "fence";
    case OpCode::reduce: return "reduce";
    case OpCode::fill: return "fill";
    case OpCode::cast: return "cast";
    case OpCode::deferred: return "deferred";
  }
  return "unknown";
}

std::string line_of(const Program& program, const Operation& operation) {
  if (operation.label.empty()) return fmt::format("{} of program {}", word_of(operation.code), program.name);
  std::string text;
  for (const char c : operation.label) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text;
}

Index bytes_moved(const Operation& operation) {
  Index bytes = 0;
  for (const Block& block : operation.blocks) bytes += block.bytes();
  return bytes;
}

}  // namespace reshard::cli
