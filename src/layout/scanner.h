// Reads text forms: names, 64-bit numbers and punctuation, with errors that point at the place.
#pragma once

#include <string>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

class Scanner {
 public:
  // `what` names the form in errors: "layout", "mesh", ...
  Scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  bool at_end();
  // Next character after white space, or '\0' at the end.
  char peek();
  bool accept(char c);
  bool accept(std::string_view word);  // a whole word, not a prefix of a longer one
  void expect(char c);
  void expect_end();
  // True if a name starts here; names are [A-Za-z_][A-Za-z0-9_]*.
  bool at_name();
  bool at_number();
  std::string_view name(std::string_view expected);
  // A name that may contain '-' between letters: rule names such as "balanced-last".
  std::string_view hyphenated(std::string_view expected);
  Index number(std::string_view expected);  // optional sign
  Index non_negative(std::string_view expected);

  // Throws Error(invalid_argument): message, the text, and a caret under what comes next.
  [[noreturn]] void fail_here(std::string_view message);
  // The same, under the name or number read last: it is well formed, but wrong.
  [[noreturn]] void fail_last(std::string_view message);

 private:
  void skip_space();

  std::string_view text_;
  std::string_view what_;
  std::size_t position_ = 0;
  std::size_t last_ = 0;  // where the name or number read last begins
};

}  // namespace reshard
