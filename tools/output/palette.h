// One colour per source rank, the same on a terminal and in a picture. Light, so that black text stays readable.
#pragma once

#include <cstddef>
#include <string_view>

#include "reshard/index.h"

namespace reshard::cli {

struct PaletteColour {
  int xterm;              // of 256
  std::string_view fill;  // of SVG
};

inline constexpr PaletteColour kPalette[] = {
    {153, "#a6cee3"}, {222, "#fdd18e"}, {157, "#b2df8a"}, {217, "#fbb4ae"}, {183, "#cab2d6"}, {159, "#a8e6e0"},
    {229, "#f7f3a1"}, {218, "#f7c6df"}, {152, "#b9c9d9"}, {180, "#d9bf9b"}, {194, "#d5efc4"}, {189, "#d3d3f5"},
};

// `place`: number of the rank in its mesh.
inline const PaletteColour& colour_of(Index place) {
  return kPalette[static_cast<std::size_t>(place) % std::size(kPalette)];
}

}  // namespace reshard::cli
