// What may be a name in symbolic programs.
#pragma once

#include <string_view>

namespace reshard {

// [A-Za-z_][A-Za-z0-9_]*
bool is_program_name(std::string_view text);
// A word of the grammar, or me, P, call, peers.
bool is_program_word(std::string_view name);
// i0, i1, ..: what rules call the indices of a buffer or signal. No declaration may have such a name.
bool is_index_name(std::string_view name);

// Throws Error(invalid_argument) unless `name` is one.
void require_name(std::string_view name);
// Throws Error(invalid_argument) unless `name` can be declared, whatever else is.
void require_declarable(std::string_view name);

}  // namespace reshard
