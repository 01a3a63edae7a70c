#include "layout/scanner.h"

#include <charconv>

#include "base/fail.h"

namespace reshard {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

// Long texts are cut to the neighbourhood of the fault.
constexpr std::size_t kContext = 60;

}  // namespace

void Scanner::skip_space() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
}

bool Scanner::at_end() { return peek() == '\0' && position_ == text_.size(); }

char Scanner::peek() {
  skip_space();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool Scanner::accept(char c) {
  if (at_end() || peek() != c) return false;
  ++position_;
  return true;
}

bool Scanner::accept(std::string_view word) {
  skip_space();
  if (!text_.substr(position_).starts_with(word)) return false;
  const std::size_t after = position_ + word.size();
  if (after < text_.size() && continues_name(text_[after])) return false;
  position_ = after;
  return true;
}

void Scanner::expect(char c) {
  if (!accept(c)) fail_here(fmt::format("expected '{}'", c));
}

void Scanner::expect_end() {
  if (!at_end()) fail_here("expected the end of the text");
}

bool Scanner::at_name() { return starts_name(peek()); }
bool Scanner::at_number() { return is_digit(peek()) || peek() == '-'; }

std::string_view Scanner::name(std::string_view expected) {
  if (!at_name()) fail_here(fmt::format("expected {}", expected));
  last_ = position_;
  while (position_ < text_.size() && continues_name(text_[position_])) ++position_;
  return text_.substr(last_, position_ - last_);
}

std::string_view Scanner::hyphenated(std::string_view expected) {
  name(expected);
  while (position_ + 1 < text_.size() && text_[position_] == '-' && starts_name(text_[position_ + 1])) {
    ++position_;
    while (position_ < text_.size() && continues_name(text_[position_])) ++position_;
  }
  return text_.substr(last_, position_ - last_);
}

Index Scanner::number(std::string_view expected) {
  if (!at_number()) fail_here(fmt::format("expected {}", expected));
  Index value = 0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) fail_here(fmt::format("{} does not fit in 64 bits", expected));
  if (error != std::errc()) fail_here(fmt::format("expected {}", expected));
  last_ = position_;
  position_ += static_cast<std::size_t>(end - begin);
  return value;
}

Index Scanner::non_negative(std::string_view expected) {
  const Index value = number(expected);
  if (value < 0) fail_last(fmt::format("{} must not be negative, got {}", expected, value));
  return value;
}

void Scanner::fail_last(std::string_view message) {
  position_ = last_;
  fail_here(message);
}

void Scanner::fail_here(std::string_view message) {
  skip_space();
  const std::size_t begin = position_ > kContext ? position_ - kContext : 0;
  const std::string_view shown = text_.substr(begin, 2 * kContext);
  std::string line(shown);
  for (char& c : line)
    if (is_space(c)) c = ' ';
  fail(Code::invalid_argument, "{}: {} at column {}\n  {}{}{}\n  {:>{}}", what_, message, position_ + 1,
       begin > 0 ? "..." : "", line, begin + shown.size() < text_.size() ? "..." : "", '^',
       position_ - begin + 1 + (begin > 0 ? 3 : 0));
}

}  // namespace reshard
