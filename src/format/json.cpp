#include "format/json.h"

#include <charconv>
#include <unordered_set>

#include "base/fail.h"

namespace reshard {

namespace {

constexpr int kMaxJsonDepth = 64;

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool is_json_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

JsonReader::JsonReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
  if (!valid_utf8(text)) fail(Code::corrupt, "{}: not UTF-8 text", file_);
}

void JsonReader::fault(std::string_view what) const {
  fail(Code::corrupt, "{}: {}{}{} at byte {}", file_, context_, context_.empty() ? "" : ": ", what, at_);
}

void JsonReader::space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonReader::accept(char c) {
  space();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonReader::expect(char c) {
  if (!accept(c)) fault(fmt::format("expected '{}'", c));
}

void JsonReader::word(std::string_view expected) {
  if (text_.substr(at_, expected.size()) != expected) fault(fmt::format("expected {}", expected));
  at_ += expected.size();
}

void JsonReader::enter() {
  if (++depth_ > kMaxJsonDepth) fault(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
}

JsonReader::Kind JsonReader::peek() {
  space();
  if (at_ >= text_.size()) fault("text ends where a value is expected");
  switch (text_[at_]) {
    case '{': return Kind::object;
    case '[': return Kind::array;
    case '"': return Kind::string;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return Kind::null;
    default: break;
  }
  if (text_[at_] == '-' || is_json_digit(text_[at_])) return Kind::number;
  fault("expected a value");
}

void JsonReader::object(const std::function<void(const std::string& key)>& member) {
  expect('{');
  enter();
  std::unordered_set<std::string> seen;
  if (!accept('}')) {
    do {
      const std::string key = string();
      if (!seen.insert(key).second) fault(fmt::format("key {} appears twice", json_quote(key)));
      expect(':');
      member(key);
    } while (accept(','));
    expect('}');
  }
  --depth_;
}

void JsonReader::array(const std::function<void()>& element) {
  expect('[');
  enter();
  if (!accept(']')) {
    do element();
    while (accept(','));
    expect(']');
  }
  --depth_;
}

unsigned JsonReader::hex4() {
  unsigned value = 0;
  const char* first = text_.data() + at_;
  if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, value, 16).ptr != first + 4) {
    fault("expected four hexadecimal digits");
  }
  at_ += 4;
  return value;
}

void JsonReader::escape(std::string& out) {
  static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  if (at_ >= text_.size()) fault("string does not end");
  const char c = text_[at_++];
  if (const auto i = from.find(c); i != std::string_view::npos) {
    out += to[i];
    return;
  }
  if (c != 'u') fault(fmt::format("unknown escape '\\{}'", c));
  unsigned code = hex4();
  if (code >= 0xDC00 && code < 0xE000) fault("second half of a surrogate pair without the first");
  if (code >= 0xD800 && code < 0xDC00) {
    word("\\u");
    const unsigned low = hex4();
    if (low < 0xDC00 || low >= 0xE000) fault("first half of a surrogate pair without the second");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(out, code);
}

std::string JsonReader::string() {
  expect('"');
  std::string out;
  for (;;) {
    if (at_ >= text_.size()) fault("string does not end");
    const char c = text_[at_++];
    if (c == '"') return out;
    if (static_cast<unsigned char>(c) < 0x20) fault("control character in a string");
    if (c == '\\') {
      escape(out);
    } else {
      out += c;
    }
  }
}

std::string_view JsonReader::number_text() {
  space();
  const std::size_t begin = at_;
  std::size_t i = at_;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < text_.size() && is_json_digit(text_[i])) ++i;
    if (i == first) fault("expected a number");
    return i - first;
  };
  if (i < text_.size() && text_[i] == '-') ++i;
  const std::size_t lead = i;
  if (digits() > 1 && text_[lead] == '0') fault("number with a leading zero");
  if (i < text_.size() && text_[i] == '.') {
    ++i;
    digits();
  }
  if (i < text_.size() && (text_[i] == 'e' || text_[i] == 'E')) {
    ++i;
    if (i < text_.size() && (text_[i] == '+' || text_[i] == '-')) ++i;
    digits();
  }
  return text_.substr(begin, i - begin);
}

bool JsonReader::integer_next() {
  if (peek() != Kind::number) return false;
  const std::string_view number = number_text();
  Index value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() && end == number.data() + number.size();
}

Index JsonReader::integer() {
  const std::string_view number = number_text();
  Index value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range) fault(fmt::format("number {} does not fit 64 bits", number));
  if (end != number.data() + number.size()) fault(fmt::format("{} is not an integer", number));
  at_ += number.size();
  return value;
}

bool JsonReader::boolean() {
  if (peek() != Kind::boolean) fault("expected true or false");
  const bool value = text_[at_] == 't';
  word(value ? "true" : "false");
  return value;
}

void JsonReader::skip() {
  switch (peek()) {
    case Kind::object: return object([this](const std::string&) { skip(); });
    case Kind::array: return array([this] { skip(); });
    case Kind::string: static_cast<void>(string()); return;
    case Kind::number: at_ += number_text().size(); return;
    case Kind::boolean: static_cast<void>(boolean()); return;
    case Kind::null: return word("null");
  }
}

void JsonReader::end() {
  space();
  if (at_ != text_.size()) fault("text goes on after the value");
}

std::string json_quote(std::string_view text) {
  static constexpr std::string_view from = "\"\\\b\f\n\r\t", to = "\"\\bfnrt";
  std::string out = "\"";
  for (const char c : text) {
    if (const auto i = from.find(c); i != std::string_view::npos) {
      out += '\\';
      out += to[i];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return false;
    unsigned code = lead & (0x7F >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const unsigned next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    const bool overlong = code < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
    if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    i += length;
  }
  return true;
}

}  // namespace reshard
