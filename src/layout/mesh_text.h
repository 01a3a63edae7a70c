// Reads a mesh inside a longer text.
#pragma once

#include "layout/scanner.h"
#include "reshard/mesh.h"

namespace reshard {

Mesh parse_mesh(Scanner& in);

}  // namespace reshard
