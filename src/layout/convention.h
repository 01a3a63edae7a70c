// Whether a cut does the same as a plain chunk, so that a notation that only knows chunks may say it.
#pragma once

#include <string>

#include "reshard/layout.h"

namespace reshard {

// Throws Error(unsupported), naming the dimension and the notation, unless every cut of `dim` selects exactly what
// chunk selects: it is chunk, or the sizes divide so that all rules agree. Returns true if all cuts divide evenly.
bool require_chunks(const Layout& layout, int dim, std::string_view notation);

// Throws Error(unsupported) for views, storage orders and `at` axes.
void require_plain(const Layout& layout, std::string_view notation);

}  // namespace reshard
