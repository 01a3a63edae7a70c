// Text that is drawn rather than written: characters placed on a grid of terminal cells, each with its style.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reshard::cli {

struct Style {
  int background = -1;  // xterm 256; -1 = none
  bool bold = false;
  bool faint = false;
  friend bool operator==(const Style&, const Style&) = default;
};

class Canvas {
 public:
  // Grows as needed.
  void put(int row, int column, std::string_view utf8, Style style = {});
  void paste(int row, int column, const Canvas& other);
  int width() const;
  int height() const { return static_cast<int>(rows_.size()); }
  // Lines without trailing blanks, each ended by a newline.
  std::string text(bool colour) const;

 private:
  struct Cell {
    std::string glyph = " ";
    Style style = {};
  };
  std::vector<std::vector<Cell>> rows_;
};

// `text` in `style` for a terminal, or plain.
std::string styled(std::string_view text, Style style, bool colour);

}  // namespace reshard::cli
