#include "format/pattern.h"

#include <algorithm>
#include <charconv>

#include "base/fail.h"

namespace reshard {

namespace {

constexpr std::size_t kMaxDigits = 18;
bool is_pattern_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || is_pattern_digit(c); });
}

}  // namespace

Pattern::Pattern(std::string text) : text_(std::move(text)) {
  std::size_t i = 0;
  while (i < text_.size()) {
    if (text_[i] == '*') {
      const bool across = i + 1 < text_.size() && text_[i + 1] == '*';
      tokens_.push_back({across ? Kind::star_star : Kind::star, ""});
      wildcard_ = true;
      i += across ? 2 : 1;
    } else if (text_[i] == '{') {
      const std::size_t close = text_.find('}', i);
      std::string name = close == std::string::npos ? "" : text_.substr(i + 1, close - i - 1);
      if (!is_name(name))
        fail(Code::invalid_argument, "pattern \"{}\": '{{' needs a name and '}}', as {{layer}}", text_);
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
        fail(Code::invalid_argument, "pattern \"{}\" captures '{}' twice", text_, name);
      }
      tokens_.push_back({Kind::capture, "", names_.size()});
      names_.push_back(std::move(name));
      i = close + 1;
    } else {
      const std::size_t end = std::min(text_.find_first_of("*{", i), text_.size());
      tokens_.push_back({Kind::literal, text_.substr(i, end - i)});
      i = end;
    }
  }
}

struct Pattern::Search {
  std::string_view name;
  std::vector<Index> values;
  std::vector<bool> failed;  // (token, position) pairs that lead nowhere
};

bool Pattern::match_from(Search& search, std::size_t token, std::size_t at) const {
  const std::string_view rest = search.name.substr(at);
  if (token == tokens_.size()) return rest.empty();
  const std::size_t key = token * (search.name.size() + 1) + at;
  if (search.failed[key]) return false;
  const Token& t = tokens_[token];
  if (t.kind == Kind::literal) {
    if (rest.starts_with(t.literal) && match_from(search, token + 1, at + t.literal.size())) return true;
  } else if (t.kind == Kind::capture) {
    // The whole run of digits, written without leading zeros: "1" of "12" is another number.
    std::size_t n = 0;
    while (n < rest.size() && is_pattern_digit(rest[n])) ++n;
    const bool number =
        n > 0 && n <= kMaxDigits && (n == 1 || rest[0] != '0') && (at == 0 || !is_pattern_digit(search.name[at - 1]));
    if (number) {
      std::from_chars(rest.data(), rest.data() + n, search.values[t.capture]);
      if (match_from(search, token + 1, at + n)) return true;
    }
  } else {
    for (std::size_t n = 0; n <= rest.size(); ++n) {
      if (match_from(search, token + 1, at + n)) return true;
      if (n < rest.size() && t.kind == Kind::star && rest[n] == '.') break;
    }
  }
  search.failed[key] = true;
  return false;
}

std::optional<Captures> Pattern::match(std::string_view name) const {
  // Most patterns fail here already.
  if (!tokens_.empty() && tokens_[0].kind == Kind::literal && !name.starts_with(tokens_[0].literal))
    return std::nullopt;
  if (!tokens_.empty() && tokens_.back().kind == Kind::literal && !name.ends_with(tokens_.back().literal)) {
    return std::nullopt;
  }
  Search search{name, std::vector<Index>(names_.size()), std::vector<bool>(tokens_.size() * (name.size() + 1))};
  if (!match_from(search, 0, 0)) return std::nullopt;
  Captures captures;
  for (std::size_t i = 0; i < names_.size(); ++i) captures.push_back({names_[i], search.values[i]});
  return captures;
}

std::string Pattern::fill(const Captures& captures) const {
  std::string out;
  for (const Token& token : tokens_) {
    if (token.kind == Kind::literal) out += token.literal;
    if (token.kind != Kind::capture) continue;
    for (const Capture& capture : captures) {
      if (capture.name == names_[token.capture]) out += std::to_string(capture.value);
    }
  }
  return out;
}

}  // namespace reshard
