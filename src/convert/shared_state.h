// What the processes of a conversion share besides files: counters in memory mapped before they are forked.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "reshard/index.h"

namespace reshard::convert_detail {

// Counters start at zero. Lock-free, so a process that dies leaves them usable.
class SharedState {
 public:
  explicit SharedState(std::size_t files);
  ~SharedState();
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  std::atomic<Index>& bytes_done() { return counters_[0]; }
  std::atomic<Index>& files_done() { return counters_[1]; }
  // Not zero: a process found the output to differ.
  std::atomic<Index>& differs() { return counters_[2]; }
  // Of a file: units that a process has taken (or looked for in vain), units that are done, processes that write it.
  std::atomic<Index>& units_taken(int file) { return of_file(file, 0); }
  std::atomic<Index>& units_done(int file) { return of_file(file, 1); }
  std::atomic<Index>& writers(int file) { return of_file(file, 2); }

 private:
  std::atomic<Index>& of_file(int file, std::size_t counter) {
    return counters_[3 + 3 * static_cast<std::size_t>(file) + counter];
  }

  std::span<std::atomic<Index>> counters_;
};

}  // namespace reshard::convert_detail
