// A place in a list of tokens, and errors that name it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "program/symbolic/lexer.h"

namespace reshard {

// Thread rule: confined.
class TokenCursor {
 public:
  // `source` is the file in errors.
  TokenCursor(std::string_view text, std::string_view source) : read_(program_tokens(text)), source_(source) {}

  const ProgramToken& peek(std::size_t ahead = 0) const;
  bool at(ProgramToken::Kind kind) const { return peek().kind == kind; }
  // A symbol or a word.
  bool at(std::string_view text, std::size_t ahead = 0) const;
  bool accept(std::string_view text);
  ProgramToken next();
  bool accept_line_end();
  // `hint`: the way out.
  void expect(std::string_view text, std::string_view hint = "");
  ProgramToken expect_name(std::string_view what);

  // To read the same again in another way.
  std::size_t position() const { return position_; }
  void rewind(std::size_t position) { position_ = position; }

  // Comments in front of the next token that were not taken before.
  std::vector<std::string> take_comments();

  // "file:3:7: expected what, found `x`; hint", at the next token.
  [[noreturn]] void fail_expected(std::string_view what, std::string_view hint = "") const;
  [[noreturn]] void fail_at(const ProgramToken& token, std::string_view message) const;

  // While it lives, what is read is one level deeper.
  class Nested {
   public:
    explicit Nested(TokenCursor& cursor);
    ~Nested() { --cursor_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    TokenCursor& cursor_;
  };
  // Of parentheses and blocks in each other, and of operators in one expression. Everything that walks a program may
  // recurse as deep.
  static constexpr int kDeepest = 200;

 private:
  ProgramTokens read_;
  std::string source_;
  std::size_t position_ = 0;
  std::size_t comment_ = 0;
  int depth_ = 0;
};

}  // namespace reshard
