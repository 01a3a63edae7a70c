// A trace as a picture: a column per rank, time downward.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "reshard/check.h"

namespace reshard {
namespace {

constexpr Index kRow = 30, kBox = 22, kHead = 46, kSide = 46, kGap = 34;
constexpr std::string_view kRed = "#c0272d", kBlue = "#46648c";
constexpr Index kLetter = 7;  // width of one, at 11 px and a fixed pitch

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

// A counter as steps name it: "ready@1[0]" or, of the own rank, "ready[0]".
struct Named {
  std::string cell;
  Index rank = 0;
  friend bool operator==(const Named&, const Named&) = default;
};

// What follows `word`: name, rank and indices; the rank is `own` where none is named.
std::optional<Named> named_by(const TraceStep& step, std::string_view word) {
  std::string_view text = step.text;
  if (!text.starts_with(word)) return {};
  text.remove_prefix(word.size());
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return {};
  text = text.substr(0, close + 1);
  const std::size_t at = text.find('@'), open = text.find('[');
  Named named{std::string(text.substr(0, std::min(at, open))) + std::string(text.substr(open)), step.rank.value()};
  if (at < open) std::from_chars(text.data() + at + 1, text.data() + open, named.rank);
  return named;
}

class Picture {
 public:
  explicit Picture(const CheckReport& report) : report_(report) {
    std::size_t longest = 12;
    for (const TraceStep& step : report.trace) longest = std::max(longest, label(step).size());
    column_ = static_cast<Index>(longest) * kLetter + 2 * kGap;
  }

  std::string svg() {
    const auto rows = static_cast<Index>(report_.trace.size());
    const Index width = kSide + report_.ranks * column_ + kGap, height = kHead + rows * kRow + kGap;
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" "
        "font-family=\"monospace\" font-size=\"11\">\n"
        "<title>{2}</title>\n"
        "<defs>{3}{4}</defs>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height, escaped(report_.message), tip("tip", kBlue), tip("wrong", kRed));
    draw_ranks(height);
    for (std::size_t i = 0; i < report_.trace.size(); ++i) draw_step(i);
    for (std::size_t i = 0; i < report_.trace.size(); ++i) draw_arrow(i);
    return text_ + "</svg>\n";
  }

 private:
  static std::string tip(std::string_view id, std::string_view color) {
    return fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
        "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"{}\"/></marker>",
        id, color);
  }
  static std::string label(const TraceStep& step) {
    return fmt::format("{}{}", step.arrival ? "arrives: " : "", step.text) + (step.blocked ? " (for ever)" : "");
  }
  // An arrival is drawn where the put arrives.
  Index column_of(const TraceStep& step) const {
    const std::optional<Named> target = step.arrival ? named_by(step, "put ") : std::nullopt;
    const Index rank = target ? target->rank : step.rank.value();
    return std::clamp<Index>(rank, 0, std::max<Index>(report_.ranks - 1, 0));
  }
  Index left(const TraceStep& step) const { return kSide + column_of(step) * column_; }
  static Index top(std::size_t row) { return kHead + static_cast<Index>(row) * kRow; }

  void draw_ranks(Index height) {
    for (Index r = 0; r < report_.ranks; ++r) {
      const Index middle = kSide + r * column_ + (column_ - kGap) / 2;
      text_ += fmt::format(
          "<text x=\"{}\" y=\"26\" text-anchor=\"middle\" font-weight=\"bold\">rank {}</text>\n"
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#d0d4da\"/>\n",
          middle, r, middle, kHead - 10, middle, height - kGap);
    }
  }

  void draw_step(std::size_t row) {
    const TraceStep& step = report_.trace[row];
    const std::string_view fill = step.culprit ? "#fbdcdc" : step.blocked ? "#f3e6c4" : "#eef2f7";
    const std::string_view edge = step.culprit ? "#c0272d" : step.blocked ? "#a67c00" : "#9aa7b8";
    text_ += fmt::format("<text x=\"6\" y=\"{}\" fill=\"#707a86\">{} c{}</text>\n", top(row) + 15, row + 1, step.call);
    text_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\" stroke=\"{}\"{}/>\n"
        "<text x=\"{}\" y=\"{}\"{}>{}</text>\n",
        left(step), top(row), column_ - kGap, kBox, fill, edge, step.arrival ? " stroke-dasharray=\"4 2\"" : "",
        left(step) + 8, top(row) + 15, step.culprit ? " fill=\"#8e1b20\"" : "", escaped(label(step)));
  }

  // From the step that this one follows from: a put to its arrival, a notification to the wait.
  void draw_arrow(std::size_t row) {
    const TraceStep& step = report_.trace[row];
    if (step.arrival) {
      for (std::size_t i = row; i-- > 0;) {
        const TraceStep& put = report_.trace[i];
        if (put.rank == step.rank && put.call == step.call && put.operation == step.operation && !put.arrival)
          return connect(i, row);
      }
    }
    const std::optional<Named> awaited = named_by(step, "wait ");
    if (!awaited || step.blocked) return;
    for (std::size_t i = row; i-- > 0;) {
      const TraceStep& before = report_.trace[i];
      if (named_by(before, "notify ") == awaited && before.rank != step.rank) connect(i, row);
      if (named_by(before, "wait ") == awaited) return;
    }
  }

  void connect(std::size_t from_row, std::size_t to_row) {
    const TraceStep &from = report_.trace[from_row], &to = report_.trace[to_row];
    const Index box = column_ - kGap;
    const bool rightward = left(to) > left(from), same = left(to) == left(from);
    const Index x1 = left(from) + (rightward ? box : 0), x2 = left(to) + (rightward || same ? 0 : box);
    text_ += fmt::format(
        "<path d=\"M{},{} C{},{} {},{} {},{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\" "
        "marker-end=\"url(#{})\"/>\n",
        x1, top(from_row) + kBox / 2, x1 + (rightward ? kGap : -kGap), top(from_row) + kBox / 2,
        x2 + (rightward || same ? -kGap : kGap), top(to_row) + kBox / 2, x2, top(to_row) + kBox / 2,
        to.culprit ? kRed : kBlue, to.culprit ? "wrong" : "tip");
  }

  const CheckReport& report_;
  Index column_ = 0;
  std::string text_;
};

}  // namespace

std::string svg_of(const CheckReport& report) { return Picture(report).svg(); }

}  // namespace reshard
