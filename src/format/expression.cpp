#include "format/expression.h"

#include <charconv>
#include <numeric>
#include <vector>

#include "base/fail.h"

namespace reshard {

namespace {

constexpr int kMaxDepth = 64;
constexpr Index kMaxDivided = 1 << 20;  // divisor() tries each number

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Evaluator {
 public:
  Evaluator(std::string_view text, const NameLookup& lookup) : text_(text), lookup_(lookup) {}

  Index whole() {
    const Index value = sum();
    if (peek() != '\0') fault(fmt::format("unexpected '{}'", text_.substr(at_)));
    return value;
  }

 private:
  [[noreturn]] void fault(std::string_view what) const {
    fail(Code::invalid_argument, "expression \"{}\": {}", text_, what);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fault(fmt::format("expected '{}' at position {}", c, at_));
  }

  void check(bool overflow) const {
    if (overflow) fault("the result does not fit 64 bits");
  }
  Index add(Index a, Index b) const {
    Index r = 0;
    check(__builtin_add_overflow(a, b, &r));
    return r;
  }
  Index subtract(Index a, Index b) const {
    Index r = 0;
    check(__builtin_sub_overflow(a, b, &r));
    return r;
  }
  Index multiply(Index a, Index b) const {
    Index r = 0;
    check(__builtin_mul_overflow(a, b, &r));
    return r;
  }
  Index divide(Index a, Index b) const {
    if (b == 0) fault("division by zero");
    if (b == -1) return subtract(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }

  Index sum() {
    Index value = product();
    for (;;) {
      if (accept('+')) {
        value = add(value, product());
      } else if (accept('-')) {
        value = subtract(value, product());
      } else {
        return value;
      }
    }
  }

  Index product() {
    Index value = factor();
    for (;;) {
      if (accept('*')) {
        value = multiply(value, factor());
      } else if (accept('/')) {
        value = divide(value, factor());
      } else {
        return value;
      }
    }
  }

  Index factor() {
    if (++depth_ > kMaxDepth) fault(fmt::format("nested deeper than {} levels", kMaxDepth));
    const Index value = atom();
    --depth_;
    return value;
  }

  Index atom() {
    if (accept('-')) return subtract(0, factor());
    if (accept('(')) {
      const Index value = sum();
      expect(')');
      return value;
    }
    const char c = peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && name_char(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fault(fmt::format("expected a number or a name at position {}", begin));
    if (is_digit(c)) return number(word);
    return peek() == '(' ? call(word) : named(word);
  }

  Index number(std::string_view digits) const {
    Index value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) fault(fmt::format("{} does not fit 64 bits", digits));
    if (end != digits.data() + digits.size()) fault(fmt::format("{} is not a whole number", digits));
    return value;
  }

  Index named(std::string_view name) const {
    const auto value = lookup_(name);
    if (!value) fault(fmt::format("'{}' has no value", name));
    return *value;
  }

  Index call(std::string_view function) {
    std::vector<Index> arguments;
    expect('(');
    do arguments.push_back(sum());
    while (accept(','));
    expect(')');
    return apply(function, arguments);
  }

  Index apply(std::string_view function, const std::vector<Index>& arguments) const {
    if (function != "min" && function != "max" && function != "gcd" && function != "divisor") {
      fault(fmt::format("unknown function '{}'; there are min, max, gcd and divisor", function));
    }
    if (function == "divisor" && arguments.size() != 2) fault("divisor takes two numbers");
    Index value = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) value = combine(function, value, arguments[i]);
    return value;
  }

  Index combine(std::string_view function, Index a, Index b) const {
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (a < 1 || b < 1) fault(fmt::format("{}({}, {}) takes numbers above 0", function, a, b));
    if (function == "gcd") return std::gcd(a, b);
    if (a > kMaxDivided) fault(fmt::format("divisor({}, {}) takes at most {}", a, b, kMaxDivided));
    Index d = std::min(a, b);
    while (a % d != 0) --d;
    return d;
  }

  std::string_view text_;
  const NameLookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Index evaluate(std::string_view expression, const NameLookup& lookup) { return Evaluator(expression, lookup).whole(); }

std::string expand(std::string_view text, const NameLookup& lookup) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find("${");
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) fail(Code::invalid_argument, "\"{}\": ${{ without its closing brace", text);
    out += std::to_string(evaluate(text.substr(open + 2, close - open - 2), lookup));
    text.remove_prefix(close + 1);
  }
}

}  // namespace reshard
