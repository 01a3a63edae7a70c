// The pictures of explain as boxes of text.
#pragma once

#include "explain/box.h"
#include "explain/explained.h"
#include "explain/frame.h"

namespace reshard::cli {

struct Picture {
  Canvas canvas;
  std::string left_out;  // "12 of 16 rows, 2 of 8 columns"; empty if all is drawn
};

// Each cell with the ranks that hold it.
Picture cutting_picture(const Cutting& cutting, const Frame& frame, const ShowOptions& options, bool coloured);
// Each cell of the common grid with its stamp; with the lines of the grid, or heavy ones where the target cuts.
enum class Lines { grid, target };
// Where it says what heavy lines are.
enum class Note { beside, below };
Picture stamp_picture(const Explained& explained, const Frame& frame, const ShowOptions& options, Lines lines,
                      Note note);

}  // namespace reshard::cli
