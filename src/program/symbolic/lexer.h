// The text form as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reshard {

struct ProgramToken {
  // A line ends with a `newline` token where a statement can end there, and one only however many lines are empty.
  // What is no token at all is `bad`, and the last but for `end`: the parser meets it in its turn, so that the first
  // fault of a text is the one reported.
  enum class Kind { name, integer, string, symbol, newline, bad, end };
  Kind kind = Kind::end;
  std::string text = {};        // of a string without quotes and escapes; of what is bad, what to say of it
  std::uint64_t magnitude = 0;  // of an integer: at most 2^63
  int line = 1;
  int column = 1;  // in characters, from 1
};

struct TokenComment {
  std::string text;
  std::size_t next_token = 0;  // the one it stands before
};

struct ProgramTokens {
  std::vector<ProgramToken> tokens;  // the last is `end`
  std::vector<TokenComment> comments;
};

ProgramTokens program_tokens(std::string_view text);

}  // namespace reshard
