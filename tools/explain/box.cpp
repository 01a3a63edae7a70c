#include "explain/box.h"

#include <algorithm>

#include "output/numbers.h"

namespace reshard::cli {
namespace {

// By weight (none, light, heavy) of the arms up, right, down, left; up counts most.
constexpr std::string_view kJunctions =
    " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋";

std::string junction(Line up, Line right, Line down, Line left) {
  const auto weight = [](Line line) { return static_cast<int>(line); };
  int place = ((weight(up) * 3 + weight(right)) * 3 + weight(down)) * 3 + weight(left);
  std::size_t at = 0;
  const auto next = [&] { return at + (kJunctions[at] == ' ' ? 1 : 3); };
  while (place-- > 0) at = next();
  return std::string(kJunctions.substr(at, next() - at));
}

std::string repeat(std::string_view glyph, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += glyph;
  return text;
}

std::string centred(const std::string& text, int width, int padding) {
  const int before = padding + (width - width_of(text)) / 2;
  return repeat(" ", before) + text + repeat(" ", width + 2 * padding - before - width_of(text));
}

class Drawing {
 public:
  explicit Drawing(const Boxes& boxes) : boxes_(boxes), columns_(boxes.column_lines.size() - 1) {
    widths_.assign(columns_, 1);
    for (const auto& row : boxes_.cells)
      for (std::size_t c = 0; c < columns_; ++c) widths_[c] = std::max(widths_[c], width_of(row[c].text));
    // All columns alike, so that equal parts look equal.
    widths_.assign(columns_, *std::ranges::max_element(widths_));
  }

  Canvas draw() {
    const std::size_t rows = boxes_.cells.size();
    for (std::size_t r = 0; r <= rows; ++r) {
      rule(r, rows);
      if (r < rows) texts(r);
    }
    notes_below();
    return std::move(canvas_);
  }

 private:
  int field(std::size_t c) const { return widths_[c] + 2 * boxes_.padding; }

  void rule(std::size_t r, std::size_t rows) {
    const Line line = boxes_.row_lines[r];
    if (line == Line::none) return;
    std::string text;
    for (std::size_t c = 0; c <= columns_; ++c) {
      const Line vertical = boxes_.column_lines[c];
      text += junction(r > 0 ? vertical : Line::none, c < columns_ ? line : Line::none,
                       r < rows ? vertical : Line::none, c > 0 ? line : Line::none);
      if (c < columns_) text += repeat(junction(Line::none, line, Line::none, line), field(c));
    }
    if (line == Line::heavy && !noted_ && !boxes_.heavy_note.empty()) {
      text += "  " + boxes_.heavy_note;
      noted_ = true;
    }
    canvas_.put(at_++, 0, text);
  }

  void texts(std::size_t r) {
    int column = 0;
    for (std::size_t c = 0; c <= columns_; ++c) {
      const Line vertical = boxes_.column_lines[c];
      canvas_.put(at_, column++, junction(vertical, Line::none, vertical, Line::none));
      if (c == columns_) break;
      const BoxCell& cell = boxes_.cells[r][c];
      canvas_.put(at_, column, centred(cell.text, widths_[c], boxes_.padding), cell.style);
      column += field(c);
    }
    if (r < boxes_.row_notes.size()) canvas_.put(at_, column + 1, boxes_.row_notes[r], {.faint = true});
    ++at_;
  }

  // Below each column, or as a list where they are wider than the columns.
  void notes_below() {
    const std::vector<std::string>& notes = boxes_.column_notes;
    if (notes.empty()) return;
    int column = 1;
    bool fits = true;
    for (std::size_t c = 0; c < columns_; ++c) fits = fits && width_of(notes[c]) <= field(c);
    if (!fits) {
      canvas_.put(at_++, 0, list_of(notes), {.faint = true});
      return;
    }
    for (std::size_t c = 0; c < columns_; ++c) {
      canvas_.put(at_, column, centred(notes[c], field(c), 0), {.faint = true});
      column += field(c) + 1;
    }
    ++at_;
  }

  static std::string list_of(const std::vector<std::string>& notes) {
    constexpr int kWidth = 48;
    std::string text = "columns";
    for (std::size_t c = 0; c < notes.size(); ++c) {
      if (width_of(text) + width_of(notes[c]) > kWidth) return text + " …";
      text += " " + notes[c];
    }
    return text;
  }

  const Boxes& boxes_;
  std::size_t columns_;
  std::vector<int> widths_;
  Canvas canvas_;
  int at_ = 0;
  bool noted_ = false;
};

}  // namespace

Canvas draw(const Boxes& boxes) { return Drawing(boxes).draw(); }

}  // namespace reshard::cli
