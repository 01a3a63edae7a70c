// Where the ranks of one contestant meet before each repetition: the same code for all, so that none is timed by a
// barrier of its own. It lies in a page that the driver made and all map.
//
// A rank looks a few hundred times, then yields: with more ranks than cores, spinning alone would cost time slices.
#pragma once

#include <cstddef>
#include <string>

namespace contest {

// `cell` is 64 bytes of shared memory, zeroed before first use, that no two contestants share. Returns when all have
// come. Gives up after two minutes (false): a rank is gone.
extern "C" bool contest_meet(void* cell, int ranks);

class StartLine {
 public:
  // Maps the cell at `offset` of the file; throws std::runtime_error.
  StartLine(const std::string& file, std::size_t offset, int ranks);
  ~StartLine();
  StartLine(const StartLine&) = delete;
  StartLine& operator=(const StartLine&) = delete;
  // Throws std::runtime_error when a rank does not come.
  void meet();

 private:
  void* page_;
  std::size_t offset_;
  int ranks_;
};

}  // namespace contest
