#include "output/canvas.h"

#include <fmt/format.h>

#include <algorithm>

namespace reshard::cli {
namespace {

std::size_t glyph_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::string escape_of(const Style& style) {
  std::string codes;
  if (style.bold) codes += ";1";
  if (style.faint) codes += ";2";
  if (style.background >= 0) codes += fmt::format(";38;5;16;48;5;{}", style.background);
  return codes.empty() ? codes : fmt::format("\x1b[{}m", codes.substr(1));
}

}  // namespace

void Canvas::put(int row, int column, std::string_view utf8, Style style) {
  if (rows_.size() <= static_cast<std::size_t>(row)) rows_.resize(static_cast<std::size_t>(row) + 1);
  auto& cells = rows_[static_cast<std::size_t>(row)];
  for (std::size_t at = static_cast<std::size_t>(column); !utf8.empty(); ++at) {
    const std::size_t bytes = std::min(glyph_bytes(utf8.front()), utf8.size());
    if (cells.size() <= at) cells.resize(at + 1);
    cells[at] = {std::string(utf8.substr(0, bytes)), style};
    utf8.remove_prefix(bytes);
  }
}

void Canvas::paste(int row, int column, const Canvas& other) {
  for (int r = 0; r < other.height(); ++r) {
    const auto& cells = other.rows_[static_cast<std::size_t>(r)];
    for (std::size_t c = 0; c < cells.size(); ++c)
      put(row + r, column + static_cast<int>(c), cells[c].glyph, cells[c].style);
  }
}

int Canvas::width() const {
  std::size_t width = 0;
  for (const auto& cells : rows_) width = std::max(width, cells.size());
  return static_cast<int>(width);
}

std::string Canvas::text(bool colour) const {
  std::string out;
  for (const auto& cells : rows_) {
    std::size_t end = cells.size();
    while (end > 0 && cells[end - 1].glyph == " " && (!colour || cells[end - 1].style.background < 0)) --end;
    for (std::size_t c = 0; c < end;) {
      std::string run;
      const Style style = cells[c].style;
      for (; c < end && cells[c].style == style; ++c) run += cells[c].glyph;
      out += styled(run, style, colour);
    }
    out += '\n';
  }
  return out;
}

std::string styled(std::string_view text, Style style, bool colour) {
  const std::string escape = colour ? escape_of(style) : "";
  return escape.empty() ? std::string(text) : fmt::format("{}{}\x1b[0m", escape, text);
}

}  // namespace reshard::cli
