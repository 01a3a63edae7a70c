// Name patterns of model files: literal text, {name} for a whole number, * within one dot component, ** across.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

struct Capture {
  std::string_view name;  // of the pattern, which must outlive it
  Index value = 0;
};
using Captures = std::vector<Capture>;

class Pattern {
 public:
  // Throws Error(invalid_argument) for an unclosed or empty {name} and for a name that appears twice.
  explicit Pattern(std::string text);

  const std::string& text() const { return text_; }
  bool has_wildcard() const { return wildcard_; }
  // In the order of the pattern.
  const std::vector<std::string>& capture_names() const { return names_; }
  // Of several ways to match, the one whose wildcards are shortest from the left.
  std::optional<Captures> match(std::string_view name) const;
  // The name with these captures. Precondition: no wildcard, and every capture has a value.
  std::string fill(const Captures& captures) const;

 private:
  enum class Kind { literal, capture, star, star_star };
  struct Token {
    Kind kind;
    std::string literal;
    std::size_t capture = 0;  // place in names_
  };
  struct Search;
  bool match_from(Search& search, std::size_t token, std::size_t at) const;

  std::string text_;
  std::vector<Token> tokens_;
  std::vector<std::string> names_;
  bool wildcard_ = false;
};

}  // namespace reshard
