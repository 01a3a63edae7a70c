// Boxes of a table drawn with lines of three weights, as in ┌────┰────┐.
#pragma once

#include <string>
#include <vector>

#include "output/canvas.h"

namespace reshard::cli {

enum class Line { none, light, heavy };

struct BoxCell {
  std::string text;
  Style style = {};
};

struct Boxes {
  std::vector<Line> row_lines = {};     // above each row, and below the last
  std::vector<Line> column_lines = {};  // before each column, and after the last
  std::vector<std::vector<BoxCell>> cells = {};
  int padding = 0;  // blanks on each side of a text
  // Beside each row and below each column; may be empty.
  std::vector<std::string> row_notes = {};
  std::vector<std::string> column_notes = {};
  // Beside the first heavy line inside.
  std::string heavy_note = {};
};

Canvas draw(const Boxes& boxes);

}  // namespace reshard::cli
