// A strict JSON reader over text in memory: pulls one value after another, keeps integers exact, refuses repeated keys,
// bad UTF-8 and deep nesting. Every fault throws Error(corrupt) that names the file and the byte.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

class JsonReader {
 public:
  // `file` names the text in errors. Throws if the text is not UTF-8.
  JsonReader(std::string_view text, std::string_view file);

  enum class Kind { object, array, string, number, boolean, null };
  Kind peek();

  // The callback must consume the value of each key, and each element.
  void object(const std::function<void(const std::string& key)>& member);
  void array(const std::function<void()>& element);
  std::string string();
  // Digits with an optional minus sign; a fraction, an exponent or more than 64 bits is an error.
  Index integer();
  bool boolean();
  // Consumes any value.
  void skip();
  // True if the number that comes next has neither fraction nor exponent and fits 64 bits.
  bool integer_next();
  // Only white space may follow.
  void end();

  // Names what is being read, for errors: "tensor 'w'".
  void set_context(std::string context) { context_ = std::move(context); }
  const std::string& context() const { return context_; }
  [[noreturn]] void fault(std::string_view what) const;

 private:
  void space();
  void expect(char c);
  bool accept(char c);
  void word(std::string_view expected);
  std::string_view number_text();
  void escape(std::string& out);
  unsigned hex4();
  void enter();

  std::string_view text_;
  std::string file_;
  std::string context_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// `text` as a JSON string with its quotes; non-ASCII stays as it is.
std::string json_quote(std::string_view text);
bool valid_utf8(std::string_view text);

}  // namespace reshard
