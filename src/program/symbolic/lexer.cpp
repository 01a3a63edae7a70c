#include "program/symbolic/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/symbolic/words.h"

namespace reshard {
namespace {

using TokenKind = ProgramToken::Kind;

// The longer before their beginnings.
constexpr std::string_view kSymbols[] = {"..", "<-", "<=", ">=", "==", "!=", "&&", "||", "+=", ":", ",", "[", "]", "(",
                                         ")",  "{",  "}",  "@",  "=",  "<",  ">",  "+",  "-",  "*", "/", "%", "!"};
constexpr std::uint64_t kGreatest = std::uint64_t{1} << 63;

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  ProgramTokens take() {
    while (step()) {
    }
    if (made_.tokens.empty() || made_.tokens.back().kind != TokenKind::bad) end_line();
    add(TokenKind::end, "", 0);
    return std::move(made_);
  }

 private:
  // False at the end, and at what is no token.
  bool step() {
    skip_blanks();
    if (rest_.empty()) return false;
    if (rest_[0] == '\n') return end_line(), advance(1), true;
    if (rest_[0] == '#') return comment(), true;
    if (rest_[0] == '"') return string();
    if (is_program_name(rest_.substr(0, 1))) return add(TokenKind::name, word(), word().size()), true;
    if (rest_[0] >= '0' && rest_[0] <= '9') return integer();
    return symbol();
  }

  void skip_blanks() {
    const auto end = rest_.find_first_not_of(" \t\r");
    advance(end == std::string_view::npos ? rest_.size() : end);
  }

  void advance(std::size_t bytes) {
    for (const char c : rest_.substr(0, bytes)) {
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {  // not the inside of a UTF-8 character
        ++column_;
      }
    }
    rest_.remove_prefix(bytes);
  }

  // Letters, digits and _ from here on.
  std::string_view word() const {
    const auto inside = [](char c) { return is_program_name(std::string_view(&c, 1)) || (c >= '0' && c <= '9'); };
    return {rest_.begin(), std::ranges::find_if_not(rest_, inside)};
  }

  void add(TokenKind kind, std::string_view text, std::size_t bytes, std::uint64_t magnitude = 0) {
    made_.tokens.push_back({kind, std::string(text), magnitude, line_, column_});
    advance(bytes);
  }

  bool bad(std::string_view what) { return add(TokenKind::bad, what, 0), false; }

  void end_line() {
    if (open_ == 0 && !made_.tokens.empty() && made_.tokens.back().kind != TokenKind::newline)
      add(TokenKind::newline, "", 0);
  }

  void comment() {
    std::string_view text = rest_.substr(0, rest_.find('\n'));
    const std::size_t bytes = text.size();
    text.remove_prefix(text.starts_with("# ") ? 2 : 1);
    while (!text.empty() && std::string_view(" \t\r").find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    made_.comments.push_back({std::string(text), made_.tokens.size()});
    advance(bytes);
  }

  bool integer() {
    std::uint64_t magnitude = 0;
    for (const char c : word()) {
      if (c < '0' || c > '9') return bad(fmt::format("`{}`, which is no decimal number", word()));
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (magnitude > (kGreatest - digit) / 10) return bad(fmt::format("`{}`, which is past 64 bits", word()));
      magnitude = magnitude * 10 + digit;
    }
    add(TokenKind::integer, word(), word().size(), magnitude);
    return true;
  }

  bool string() {
    std::string text;
    for (std::size_t i = 1; i < rest_.size() && rest_[i] != '\n'; ++i) {
      if (rest_[i] == '"') return add(TokenKind::string, text, i + 1), true;
      if (rest_[i] != '\\') {
        text += rest_[i];
        continue;
      }
      const char escaped = ++i < rest_.size() ? rest_[i] : '\n';
      if (escaped == '\n') break;
      if (std::string_view("nt\"\\").find(escaped) == std::string_view::npos)
        return bad("a string with an escape other than \\n, \\t, \\\" and \\\\");
      text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    return bad("a string without its closing quote");
  }

  bool symbol() {
    const auto* found = std::ranges::find_if(kSymbols, [&](std::string_view s) { return rest_.starts_with(s); });
    if (found == std::end(kSymbols)) return bad(stranger());
    if (*found == "(" || *found == "[") ++open_;
    if ((*found == ")" || *found == "]") && open_ > 0) --open_;
    add(TokenKind::symbol, *found, found->size());
    return true;
  }

  // The character that begins nothing.
  std::string stranger() const {
    const auto byte = static_cast<unsigned char>(rest_[0]);
    if (byte > ' ' && byte < 0x7Fu) return fmt::format("`{}`, which begins nothing", rest_[0]);
    return fmt::format("a character (byte {:#04x}) that belongs into comments and strings only", byte);
  }

  std::string_view rest_;
  ProgramTokens made_;
  int line_ = 1;
  int column_ = 1;
  int open_ = 0;  // parentheses and brackets, in which lines do not end
};

}  // namespace

ProgramTokens program_tokens(std::string_view text) { return Lexer(text).take(); }

}  // namespace reshard
