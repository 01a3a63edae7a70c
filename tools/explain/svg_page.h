// An SVG page that grows with what is drawn on it. Positions in pixels, y downwards.
#pragma once

#include <string>
#include <string_view>

namespace reshard::cli {

struct SvgText {
  double size = 12;
  bool bold = false;
  bool mono = false;
  bool faint = false;
  bool middle = false;  // x is the middle of the text
  bool right = false;   // x is its right end
  bool halo = false;    // white around it, for text over lines
};

class SvgPage {
 public:
  void box(double x, double y, double width, double height, std::string_view fill, std::string_view stroke,
           double stroke_width);
  void line(double x1, double y1, double x2, double y2, std::string_view stroke, double width);
  void arrow(double x1, double y, double x2);
  void text(double x, double y, std::string_view text, const SvgText& style);
  // The page reaches at least this far.
  void grow(double right, double bottom);
  double bottom() const { return bottom_; }
  // The whole document, on a white ground.
  std::string finish() const;

 private:
  std::string body_;
  double right_ = 0;
  double bottom_ = 0;
};

}  // namespace reshard::cli
