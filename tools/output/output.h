// Standard output, with its errors noticed.
#pragma once

#include <string>
#include <string_view>

namespace reshard::cli {

// Thrown when the reader of a pipe has left (`| head`): not an error, and not worth a word.
struct ReaderGone {};

// Throws Error(io), or ReaderGone.
void print(std::string_view text);
void flush();

// A whole file; throws Error(io).
void write_file(const std::string& path, std::string_view text);
// A whole file, or standard input for "-"; throws Error(io).
std::string read_file(const std::string& path);

enum class Colour { automatic, always, never };
// Takes --color's value; throws Error(invalid_argument) for another word.
Colour colour_named(std::string_view name);
// `automatic` is a terminal that can, unless NO_COLOR is set.
bool in_colour(Colour colour);
// Columns of the terminal, of $COLUMNS, or 100.
int terminal_width();

}  // namespace reshard::cli
