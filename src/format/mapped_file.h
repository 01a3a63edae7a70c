// Insides of MappedFile that the guard shares.
#pragma once

#include <sys/stat.h>

#include <atomic>

#include "reshard/mapped_file.h"

namespace reshard {

struct MappedFile::State {
  std::string path;
  int fd = -1;
  std::byte* begin = nullptr;  // nullptr for an empty file
  std::size_t bytes = 0;
  struct timespec modified = {};
  std::atomic<bool> faulted = false;  // set by the signal handler, from any thread

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

}  // namespace reshard
