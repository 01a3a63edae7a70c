#include "explain/svg_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/numbers.h"

namespace reshard::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

}  // namespace

void SvgPage::box(double x, double y, double width, double height, std::string_view fill, std::string_view stroke,
                  double stroke_width) {
  body_ += fmt::format(
      R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="{}" stroke-width="{}"/>)"
      "\n",
      x, y, width, height, fill, stroke, stroke_width);
}

void SvgPage::line(double x1, double y1, double x2, double y2, std::string_view stroke, double width) {
  body_ += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)"
                       "\n",
                       x1, y1, x2, y2, stroke, width);
}

void SvgPage::arrow(double x1, double y, double x2) {
  line(x1, y, x2 - 8, y, "#555555", 2);
  body_ += fmt::format(R"(<path d="M{:.1f} {:.1f} l-11 -6 v12 z" fill="#555555"/>)"
                       "\n",
                       x2, y);
}

void SvgPage::text(double x, double y, std::string_view text, const SvgText& style) {
  body_ += fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" font-size="{}"{}{}{}{}{}>{}</text>)"
      "\n",
      x, y, style.size, style.bold ? R"( font-weight="bold")" : "",
      style.mono ? R"( font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" xml:space="preserve")" : "",
      style.faint ? R"( fill="#666666")" : "",
      style.middle  ? R"( text-anchor="middle")"
      : style.right ? R"( text-anchor="end")"
                    : "",
      style.halo ? R"( stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke")" : "",
      escaped(text));
  const double reach = style.middle || style.right ? 0 : style.size * 0.62 * width_of(text);
  grow(x + reach + 24, y);
}

void SvgPage::grow(double right, double bottom) {
  right_ = std::max(right_, right);
  bottom_ = std::max(bottom_, bottom);
}

std::string SvgPage::finish() const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" fill="#111111">
<rect width="{0:.0f}" height="{1:.0f}" fill="#ffffff"/>
{2}</svg>
)",
      right_, bottom_, body_);
}

}  // namespace reshard::cli
