// Writes units of the output, in one process.
#pragma once

#include <map>
#include <vector>

#include "convert/partial_folder.h"
#include "convert/route.h"
#include "convert/source_pages.h"

namespace reshard::convert_detail {

// Bytes one process may use.
struct MemoryShare {
  Index staging = 0;
  Index resident = 0;
};
MemoryShare memory_share(Index memory, Index processes);

// Confined.
class Mover {
 public:
  Mover(const Job& job, const PartialFolder& folder, MemoryShare memory);

  // The unit's bytes are in the output file (not yet synced) when it returns.
  void move(const Unit& unit);

 private:
  bool write_rows(const Unit& unit);
  void write_staged(const Unit& unit);
  void write_box(const Unit& unit, const LocalBox& box, Index file_offset);
  const std::byte* source(int file);
  int output(int file);

  const Job& job_;
  const PartialFolder& folder_;
  Router router_;
  SourcePages pages_;
  std::vector<std::byte> staging_;
  std::map<int, OpenFile> outputs_;
};

}  // namespace reshard::convert_detail
