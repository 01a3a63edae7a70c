#include "output/output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "reshard/error.h"

namespace reshard::cli {
namespace {

[[noreturn]] void fail_io(std::string_view what, std::string_view path) {
  throw Error(Code::io, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

void check_output(bool done) {
  if (done) return;
  if (errno == EPIPE) throw ReaderGone{};
  fail_io("write to", "standard output");
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string read_all(std::FILE* file, std::string_view name) {
  std::string text;
  char block[1 << 16];
  while (const std::size_t n = std::fread(block, 1, sizeof block, file)) text.append(block, n);
  if (std::ferror(file) != 0) fail_io("read", name);
  return text;
}

}  // namespace

void print(std::string_view text) { check_output(std::fwrite(text.data(), 1, text.size(), stdout) == text.size()); }

void flush() { check_output(std::fflush(stdout) == 0); }

void write_file(const std::string& path, std::string_view text) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) fail_io("write", path);
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) fail_io("write", path);
  if (std::fclose(file.release()) != 0) fail_io("write", path);
}

std::string read_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_io("read", path);
  return read_all(file.get(), path);
}

Colour colour_named(std::string_view name) {
  if (name == "auto") return Colour::automatic;
  if (name == "always") return Colour::always;
  if (name == "never") return Colour::never;
  throw Error(Code::invalid_argument, fmt::format("--color {}: give auto, always or never", name));
}

bool in_colour(Colour colour) {
  if (colour != Colour::automatic) return colour == Colour::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color) && terminal && std::strcmp(terminal, "dumb") != 0;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long given = columns ? std::strtol(columns, nullptr, 10) : 0;
  return given > 0 ? static_cast<int>(std::min(given, 10000L)) : 100;
}

}  // namespace reshard::cli
