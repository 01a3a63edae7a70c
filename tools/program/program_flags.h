// Which program, and with which sizes: what the commands of `reshard program` take alike.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard::cli {

// NAME.MODE.rp for NAME.rp or NAME. Without a mode the file as it is, or if there is none, the one written by hand.
std::string path_in_mode(const std::string& file, const std::string& mode);
// Throws Error(io), Error(invalid_argument). "-" is standard input.
SymbolicProgram load_program(const std::string& path);

struct FileFlags {
  std::string file, mode;
  void add_to(CLI::App& command, bool required = true);
  std::string path() const { return path_in_mode(file, mode); }
  SymbolicProgram load() const { return load_program(path()); }
};

struct SizeFlags {
  std::vector<std::string> settings;
  void add_to(CLI::App& command);
  // Throws Error(invalid_argument) for what is no NAME=NUMBER, and for a size that `program` has not.
  std::map<std::string, Index> of(const SymbolicProgram& program) const;
};

// Devices are names of ranks: rank r is devices[r].
struct DeviceFlags {
  std::string devices;
  Index ranks = 0;
  void add_to(CLI::App& command);
  // Throws Error(invalid_argument) for a list that is none, and where both are given and disagree.
  std::vector<Index> list() const;
};

}  // namespace reshard::cli
