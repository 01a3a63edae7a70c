#include "program/symbolic/cursor.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard {
namespace {

using TokenKind = ProgramToken::Kind;

std::string described(const ProgramToken& token) {
  switch (token.kind) {
    case TokenKind::string: return "a string";
    case TokenKind::newline: return "the end of the line";
    case TokenKind::end: return "the end of the text";
    case TokenKind::bad: return token.text;
    default: return "`" + token.text + "`";
  }
}

}  // namespace

const ProgramToken& TokenCursor::peek(std::size_t ahead) const {
  return read_.tokens[std::min(position_ + ahead, read_.tokens.size() - 1)];
}

bool TokenCursor::at(std::string_view text, std::size_t ahead) const {
  const ProgramToken& token = peek(ahead);
  return (token.kind == TokenKind::symbol || token.kind == TokenKind::name) && token.text == text;
}

ProgramToken TokenCursor::next() {
  const ProgramToken& token = peek();
  if (token.kind != TokenKind::end) ++position_;
  return token;
}

bool TokenCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  ++position_;
  return true;
}

bool TokenCursor::accept_line_end() {
  if (!at(TokenKind::newline)) return false;
  ++position_;
  return true;
}

void TokenCursor::expect(std::string_view text, std::string_view hint) {
  if (!accept(text)) fail_expected(fmt::format("`{}`", text), hint);
}

ProgramToken TokenCursor::expect_name(std::string_view what) {
  if (!at(TokenKind::name)) fail_expected(what);
  return next();
}

std::vector<std::string> TokenCursor::take_comments() {
  std::vector<std::string> texts;
  for (; comment_ < read_.comments.size() && read_.comments[comment_].next_token <= position_; ++comment_)
    texts.push_back(read_.comments[comment_].text);
  return texts;
}

void TokenCursor::fail_expected(std::string_view what, std::string_view hint) const {
  fail_at(peek(), fmt::format("expected {}, found {}{}{}", what, described(peek()), hint.empty() ? "" : "; ", hint));
}

void TokenCursor::fail_at(const ProgramToken& token, std::string_view message) const {
  fail(Code::invalid_argument, "{}:{}:{}: {}", source_, token.line, token.column, message);
}

TokenCursor::Nested::Nested(TokenCursor& cursor) : cursor_(cursor) {
  if (cursor_.depth_ == kDeepest)
    cursor_.fail_at(cursor_.peek(), fmt::format("this is nested deeper than {}; name parts of it by `let`", kDeepest));
  ++cursor_.depth_;
}

}  // namespace reshard
